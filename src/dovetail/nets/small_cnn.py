"""Small CNN, the Clusterability paper's convolutional network: three convolutions and one dense layer."""

from __future__ import annotations

from torch import nn

from ..spec import FLAG, Option, share
from .architecture import Architecture
from .layers import Layers, convolution, dense_end, image_shape, sequential

_CHANNELS = 64
_UNITS = 128


def _build(
    sizes: tuple[int, ...],
    input_shape: tuple[int, ...],
    outputs: int,
    *,
    dropout: float,
    output_bias: bool,
) -> nn.Module:
    channels, height, width = image_shape("small-cnn", input_shape, smallest=4)
    # The paper drops .25 after convolutions and .5 after the dense layer.
    after_conv = dropout / 2
    layers: Layers = convolution("conv1", channels, _CHANNELS, dropout=after_conv)
    layers += convolution("conv2", _CHANNELS, _CHANNELS, pool=True, dropout=after_conv)
    layers += convolution("conv3", _CHANNELS, _CHANNELS, pool=True, dropout=after_conv)
    layers.append(("flatten", nn.Flatten()))
    features = _CHANNELS * (height // 4) * (width // 4)
    layers += dense_end(features, [_UNITS], outputs, output_bias=output_bias, dropout=dropout)
    return sequential(layers)


SMALL_CNN = Architecture(
    "small-cnn",
    _build,
    (Option("dropout", 0.0, share(zero=True)), Option("output_bias", True, FLAG)),
    default_init="glorot-uniform",
)
