"""ResNet-18 for small images: a 3 x 3 first convolution and no max-pooling, four stages of two blocks.

Its size is the width of the first stage; each later stage has twice the channels of the one before. ``resnet-stage`` is
such a last stage alone, with pooling and output: what stands on the feature maps of a trunk.
"""

from __future__ import annotations

import torch
from torch import nn

from ..spec import FLAG, Option
from .architecture import Architecture
from .layers import Layers, image_shape, sequential

_WIDTH = 64
_STAGES = 4


class ResidualBlock(nn.Module):
    """Two convolutions, added to a shortcut from the block's input.

    The shortcut is the input itself, or a 1 x 1 convolution of it where the block changes its shape.
    """

    def __init__(self, channels_in: int, channels_out: int, *, stride: int, batch_norm: bool) -> None:
        super().__init__()
        self.body = sequential(
            [
                *_conv_norm("1", channels_in, channels_out, 3, stride, batch_norm),
                ("relu1", nn.ReLU()),
                *_conv_norm("2", channels_out, channels_out, 3, 1, batch_norm),
            ]
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels_in != channels_out:
            self.shortcut = sequential(_conv_norm("", channels_in, channels_out, 1, stride, batch_norm))
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the block's feature maps for the feature maps `x`."""
        out: torch.Tensor = self.relu(self.body(x) + self.shortcut(x))
        return out


def _conv_norm(
    number: str, channels_in: int, channels_out: int, kernel: int, stride: int, batch_norm: bool
) -> Layers:
    conv = nn.Conv2d(
        channels_in, channels_out, kernel, stride=stride, padding=kernel // 2, bias=not batch_norm
    )
    layers: Layers = [(f"conv{number}", conv)]
    if batch_norm:
        layers.append((f"norm{number}", nn.BatchNorm2d(channels_out)))
    return layers


def _build(
    sizes: tuple[int, ...], input_shape: tuple[int, ...], outputs: int, *, batch_norm: bool, output_bias: bool
) -> nn.Module:
    channels, _, _ = image_shape("resnet18", input_shape)
    (width,) = sizes
    stem = [*_conv_norm("", channels, width, 3, 1, batch_norm), ("relu", nn.ReLU())]
    layers: Layers = [("stem", sequential(stem))]
    for number in range(1, _STAGES + 1):
        # The first stage keeps what the stem gives; each later one halves the image and doubles the channels.
        filters, stride = (width, 1) if number == 1 else (2 * width, 2)
        layers.append(_stage(f"stage{number}", width, filters, stride, batch_norm))
        width = filters
    return sequential([*layers, *_end(width, outputs, output_bias)])


def _build_stage(
    sizes: tuple[int, ...], input_shape: tuple[int, ...], outputs: int, *, batch_norm: bool, output_bias: bool
) -> nn.Module:
    channels, _, _ = image_shape("resnet-stage", input_shape)
    (width,) = sizes
    return sequential([_stage("stage", channels, width, 2, batch_norm), *_end(width, outputs, output_bias)])


def _stage(
    name: str, channels_in: int, channels_out: int, stride: int, batch_norm: bool
) -> tuple[str, nn.Module]:
    blocks = [
        ("block1", ResidualBlock(channels_in, channels_out, stride=stride, batch_norm=batch_norm)),
        ("block2", ResidualBlock(channels_out, channels_out, stride=1, batch_norm=batch_norm)),
    ]
    return name, sequential(blocks)


def _end(channels: int, outputs: int, output_bias: bool) -> Layers:
    return [
        ("average", nn.AdaptiveAvgPool2d(1)),
        ("flatten", nn.Flatten()),
        ("output", nn.Linear(channels, outputs, bias=output_bias)),
    ]


_OPTIONS = (Option("batch_norm", True, FLAG), Option("output_bias", True, FLAG))

RESNET18 = Architecture(
    "resnet18",
    _build,
    _OPTIONS,
    sizes_mean="channels of the first stage; those of each later one are twice as many",
    default_sizes=(_WIDTH,),
    most_sizes=1,
)
RESNET_STAGE = Architecture(
    "resnet-stage",
    _build_stage,
    _OPTIONS,
    sizes_mean="channels of the stage",
    default_sizes=(_WIDTH * 2 ** (_STAGES - 1),),
    most_sizes=1,
    shapes_tell=False,  # its first shortcut reads the network's inputs, which may be as many as its own units
)
