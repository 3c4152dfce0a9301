"""VGG for small images: VGG-16 as Liu and Deng (2015) fitted it to CIFAR-10, and the plain VGG-11."""

from __future__ import annotations

from torch import nn

from .architecture import Architecture
from .options import flag, rate
from .parts import Parts, convolution, dense_end, image_shape, sequential

# Channels of the convolutions, block by block; each block ends in a pooling.
_BLOCKS_16 = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
_BLOCKS_11 = ((64,), (128,), (256, 256), (512, 512), (512, 512))


def _convolutions(
    net: str,
    blocks: tuple[tuple[int, ...], ...],
    input_shape: tuple[int, ...],
    *,
    dropout: float,
    batch_norm: bool,
) -> tuple[Parts, int]:
    """Return the convolutional part and the number of features it ends in."""
    shrink = 2 ** len(blocks)
    channels, height, width = image_shape(net, input_shape, smallest=shrink)
    parts: Parts = []
    number = 0
    for block in blocks:
        for place, filters in enumerate(block, start=1):
            number += 1
            last = place == len(block)
            # Liu and Deng: .3 after the first convolution, .4 after the others, none in front of a pooling.
            share = 0.0 if last else dropout * (0.6 if number == 1 else 0.8)
            parts += convolution(
                f"conv{number}", channels, filters, pool=last, batch_norm=batch_norm, dropout=share
            )
            channels = filters
    return parts, channels * (height // shrink) * (width // shrink)


def _build_16(
    sizes: tuple[int, ...],
    input_shape: tuple[int, ...],
    outputs: int,
    *,
    dropout: float,
    batch_norm: bool,
    output_bias: bool,
) -> nn.Module:
    parts, features = _convolutions("vgg16", _BLOCKS_16, input_shape, dropout=dropout, batch_norm=batch_norm)
    if dropout:
        parts.append(("features_dropout", nn.Dropout(dropout)))
    parts.append(("flatten", nn.Flatten()))
    parts += dense_end(
        features, [512], outputs, output_bias=output_bias, batch_norm=batch_norm, dropout=dropout
    )
    return sequential(parts)


def _build_11(
    sizes: tuple[int, ...], input_shape: tuple[int, ...], outputs: int, *, batch_norm: bool, output_bias: bool
) -> nn.Module:
    parts, features = _convolutions("vgg11", _BLOCKS_11, input_shape, dropout=0.0, batch_norm=batch_norm)
    parts.append(("flatten", nn.Flatten()))
    parts += dense_end(features, [], outputs, output_bias=output_bias)
    return sequential(parts)


VGG16 = Architecture(
    "vgg16", _build_16, (rate("dropout", 0.0), flag("batch_norm", True), flag("output_bias", True))
)
VGG11 = Architecture("vgg11", _build_11, (flag("batch_norm", True), flag("output_bias", True)))
