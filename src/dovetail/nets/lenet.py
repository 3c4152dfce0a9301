"""The MaxEnt paper's convolutional network: one 5 x 5 convolution, pooling, dense layers, no output bias."""

from __future__ import annotations

from torch import nn

from .architecture import Architecture
from .options import flag, rate
from .parts import Parts, convolution, dense_end, image_shape, sequential


def _build(
    sizes: tuple[int, ...],
    input_shape: tuple[int, ...],
    outputs: int,
    *,
    dropout: float,
    batch_norm: bool,
    output_bias: bool,
) -> nn.Module:
    channels, height, width = image_shape("lenet", input_shape, smallest=4)
    filters, *hidden = sizes
    parts: Parts = convolution(
        "conv1", channels, filters, kernel=5, padding=1, pool=True, batch_norm=batch_norm
    )
    parts.append(("flatten", nn.Flatten()))
    # 5 x 5 with padding 1 takes two pixels off each side length, the pooling halves what is left.
    features = filters * ((height - 2) // 2) * ((width - 2) // 2)
    parts += dense_end(
        features, hidden, outputs, output_bias=output_bias, batch_norm=batch_norm, dropout=dropout
    )
    return sequential(parts)


LENET = Architecture(
    "lenet",
    _build,
    (rate("dropout", 0.0), flag("batch_norm", False), flag("output_bias", False)),
    sizes_mean="channels of the convolution, then units of each dense layer",
    default_sizes=(64, 120, 64),
)
