"""LeNet, the MaxEnt paper's convolutional network: one 5 x 5 convolution, pooling, dense layers, no output bias."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..spec import FLAG, Option, share
from .architecture import Architecture
from .layers import Layers, convolution, dense_end, image_shape, sequential


def _build(
    sizes: tuple[int, ...], input_shape: tuple[int, ...], outputs: int, *, batch_norm: bool, **options: Any
) -> nn.Module:
    channels, height, width = image_shape("lenet", input_shape, smallest=4)
    filters, *hidden = sizes
    layers: Layers = convolution(
        "conv1", channels, filters, kernel=5, padding=1, pool=True, batch_norm=batch_norm
    )
    layers.append(("flatten", nn.Flatten()))
    # 5 x 5 with padding 1 takes two pixels off each side length, the pooling halves what is left.
    features = filters * ((height - 2) // 2) * ((width - 2) // 2)
    layers += dense_end(features, hidden, outputs, batch_norm=batch_norm, **options)
    return sequential(layers)


LENET = Architecture(
    "lenet",
    _build,
    (
        Option("dropout", 0.0, share(zero=True)),
        Option("batch_norm", False, FLAG),
        Option("output_bias", False, FLAG),
    ),
    sizes_mean="channels of the convolution, then units of each dense layer",
    default_sizes=(64, 120, 64),
)
