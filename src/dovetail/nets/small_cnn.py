"""The Clusterability paper's small convolutional network: three convolutions and one dense layer."""

from __future__ import annotations

from torch import nn

from .architecture import Architecture
from .options import flag, rate
from .parts import Parts, convolution, dense_end, image_shape, sequential

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
    parts: Parts = convolution("conv1", channels, _CHANNELS, dropout=after_conv)
    parts += convolution("conv2", _CHANNELS, _CHANNELS, pool=True, dropout=after_conv)
    parts += convolution("conv3", _CHANNELS, _CHANNELS, pool=True, dropout=after_conv)
    parts.append(("flatten", nn.Flatten()))
    features = _CHANNELS * (height // 4) * (width // 4)
    parts += dense_end(features, [_UNITS], outputs, output_bias=output_bias, dropout=dropout)
    return sequential(parts)


SMALL_CNN = Architecture(
    "small-cnn",
    _build,
    (rate("dropout", 0.0), flag("output_bias", True)),
    default_init="glorot-uniform",
)
