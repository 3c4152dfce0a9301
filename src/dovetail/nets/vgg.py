"""VGG for small images: VGG-16 as Liu and Deng (2015) fitted it to CIFAR-10, and the plain VGG-11.

Their size is the width of the first stage, from which those of all later layers follow.
"""

from __future__ import annotations

import math
from functools import partial

from torch import nn

from ..spec import FLAG, Option, share
from .architecture import Architecture
from .layers import Layers, convolution, dense_end, image_shape, sequential

_WIDTH = 64
# Channels of the convolutions over those of the first, stage by stage; each stage ends in a pooling.
_STAGES_16 = ((1, 1), (2, 2), (4, 4, 4), (8, 8, 8), (8, 8, 8))
_STAGES_11 = ((1,), (2,), (4, 4), (8, 8), (8, 8))
_SIZES_MEAN = "channels of the first stage; later ones have twice, four and eight times as many"


def _convolutions(
    net: str,
    stages: tuple[tuple[int, ...], ...],
    width: int,
    input_shape: tuple[int, ...],
    *,
    dropout: float,
    batch_norm: bool,
) -> tuple[Layers, int]:
    """Return the convolutional layers and the number of features it ends in."""
    shrink = 2 ** len(stages)
    channels, *sides = image_shape(net, input_shape, smallest=shrink)
    layers: Layers = []
    number = 0
    for stage in stages:
        for place, times in enumerate(stage, start=1):
            number += 1
            filters = times * width
            last = place == len(stage)
            # Liu and Deng: .3 after the first convolution, .4 after the others, none in front of a pooling.
            share = 0.0 if last else dropout * (0.6 if number == 1 else 0.8)
            layers += convolution(
                f"conv{number}", channels, filters, pool=last, batch_norm=batch_norm, dropout=share
            )
            channels = filters
    return layers, channels * math.prod(side // shrink for side in sides)


def _build(
    net: str,
    stages: tuple[tuple[int, ...], ...],
    hidden: tuple[int, ...],
    sizes: tuple[int, ...],
    input_shape: tuple[int, ...],
    outputs: int,
    *,
    batch_norm: bool,
    output_bias: bool,
    dropout: float = 0.0,
) -> nn.Module:
    (width,) = sizes
    layers, features = _convolutions(net, stages, width, input_shape, dropout=dropout, batch_norm=batch_norm)
    if dropout:
        layers.append(("features_dropout", nn.Dropout(dropout)))
    layers.append(("flatten", nn.Flatten()))
    units = [times * width for times in hidden]
    layers += dense_end(
        features, units, outputs, output_bias=output_bias, batch_norm=batch_norm, dropout=dropout
    )
    return sequential(layers)


VGG16 = Architecture(
    "vgg16",
    partial(_build, "vgg16", _STAGES_16, (8,)),
    (
        Option("dropout", 0.0, share(zero=True)),
        Option("batch_norm", True, FLAG),
        Option("output_bias", True, FLAG),
    ),
    sizes_mean=_SIZES_MEAN,
    default_sizes=(_WIDTH,),
    most_sizes=1,
)
VGG11 = Architecture(
    "vgg11",
    partial(_build, "vgg11", _STAGES_11, ()),
    (Option("batch_norm", True, FLAG), Option("output_bias", True, FLAG)),
    sizes_mean=_SIZES_MEAN,
    default_sizes=(_WIDTH,),
    most_sizes=1,
)
