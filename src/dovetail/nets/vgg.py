"""VGG for small images: VGG-16 as Liu and Deng (2015) fitted it to CIFAR-10, and the plain VGG-11."""

from __future__ import annotations

from functools import partial

from torch import nn

from ..spec import FLAG, Option, share
from .architecture import Architecture
from .layers import Layers, convolution, dense_end, image_shape, sequential

# Channels of the convolutions, stage by stage; each ends in a pooling.
_STAGES_16 = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
_STAGES_11 = ((64,), (128,), (256, 256), (512, 512), (512, 512))


def _convolutions(
    net: str,
    stages: tuple[tuple[int, ...], ...],
    input_shape: tuple[int, ...],
    *,
    dropout: float,
    batch_norm: bool,
) -> tuple[Layers, int]:
    """Return the convolutional layers and the number of features it ends in."""
    shrink = 2 ** len(stages)
    channels, height, width = image_shape(net, input_shape, smallest=shrink)
    layers: Layers = []
    number = 0
    for stage in stages:
        for place, filters in enumerate(stage, start=1):
            number += 1
            last = place == len(stage)
            # Liu and Deng: .3 after the first convolution, .4 after the others, none in front of a pooling.
            share = 0.0 if last else dropout * (0.6 if number == 1 else 0.8)
            layers += convolution(
                f"conv{number}", channels, filters, pool=last, batch_norm=batch_norm, dropout=share
            )
            channels = filters
    return layers, channels * (height // shrink) * (width // shrink)


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
    layers, features = _convolutions(net, stages, input_shape, dropout=dropout, batch_norm=batch_norm)
    if dropout:
        layers.append(("features_dropout", nn.Dropout(dropout)))
    layers.append(("flatten", nn.Flatten()))
    layers += dense_end(
        features, hidden, outputs, output_bias=output_bias, batch_norm=batch_norm, dropout=dropout
    )
    return sequential(layers)


VGG16 = Architecture(
    "vgg16",
    partial(_build, "vgg16", _STAGES_16, (512,)),
    (
        Option("dropout", 0.0, share(zero=True)),
        Option("batch_norm", True, FLAG),
        Option("output_bias", True, FLAG),
    ),
)
VGG11 = Architecture(
    "vgg11",
    partial(_build, "vgg11", _STAGES_11, ()),
    (Option("batch_norm", True, FLAG), Option("output_bias", True, FLAG)),
)
