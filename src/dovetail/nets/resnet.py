"""ResNet-18 for small images: a 3 x 3 first convolution and no max-pooling, four stages of two blocks."""

from __future__ import annotations

import torch
from torch import nn

from ..spec import FLAG, Option
from .architecture import Architecture
from .layers import Layers, image_shape, sequential

_STAGE_CHANNELS = (64, 128, 256, 512)


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
    width = _STAGE_CHANNELS[0]
    stem = [*_conv_norm("", channels, width, 3, 1, batch_norm), ("relu", nn.ReLU())]
    layers: Layers = [("stem", sequential(stem))]
    for number, filters in enumerate(_STAGE_CHANNELS, start=1):
        stride = 1 if number == 1 else 2
        stage = [
            ("block1", ResidualBlock(width, filters, stride=stride, batch_norm=batch_norm)),
            ("block2", ResidualBlock(filters, filters, stride=1, batch_norm=batch_norm)),
        ]
        layers.append((f"stage{number}", sequential(stage)))
        width = filters
    layers += [("average", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten())]
    layers.append(("output", nn.Linear(width, outputs, bias=output_bias)))
    return sequential(layers)


RESNET18 = Architecture(
    "resnet18", _build, (Option("batch_norm", True, FLAG), Option("output_bias", True, FLAG))
)
