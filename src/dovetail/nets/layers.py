"""Layers that the architectures share: a convolution or a dense layer with all that follows it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from ..errors import ShapeError

Layers = list[tuple[str, nn.Module]]


def sequential(layers: Iterable[tuple[str, nn.Module]]) -> nn.Sequential:
    """Return named layers as one network."""
    return nn.Sequential(OrderedDict(layers))


class InputScaling(nn.Module):
    """Inputs as a network computes with them: ``(x - shift) / scale``.

    Examples
    --------
    >>> import torch
    >>> InputScaling(0.5, 0.5)(torch.tensor([0.0, 0.5, 1.0]))
    tensor([-1.,  0.,  1.])
    """

    def __init__(self, shift: float, scale: float) -> None:
        super().__init__()
        self.shift, self.scale = shift, scale

    def forward(self, x: Tensor) -> Tensor:
        """Return the scaled inputs."""
        return (x - self.shift) / self.scale

    def extra_repr(self) -> str:
        """Return both numbers, for printing."""
        return f"shift={self.shift:g}, scale={self.scale:g}"


class Positions(nn.Module):
    """Tokens with something learned added that says where each is."""

    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(tokens, width))
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw small normal numbers, as is usual for them."""
        nn.init.normal_(self.table, std=0.02, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        """Return tokens ``[samples, tokens, width]`` with their places added."""
        return x + self.table


def convolution(
    name: str,
    channels_in: int,
    channels_out: int,
    *,
    kernel: int = 3,
    padding: int = 1,
    pool: bool = False,
    batch_norm: bool = False,
    dropout: float = 0.0,
) -> Layers:
    """Return a convolution, then batch norm, 2 x 2 max-pooling, ReLU and dropout where asked for."""
    # A bias in front of a batch norm would be subtracted again with the mean.
    conv = nn.Conv2d(channels_in, channels_out, kernel, padding=padding, bias=not batch_norm)
    layers: Layers = [(name, conv)]
    if batch_norm:
        layers.append((f"{name}_norm", nn.BatchNorm2d(channels_out)))
    if pool:
        # Pooling before the ReLU: maximum and ReLU commute, so the function is the same, and the ReLU
        # sees a quarter of the values.
        layers.append((f"{name}_pool", nn.MaxPool2d(2)))
    layers.append((f"{name}_relu", nn.ReLU()))
    if dropout:
        layers.append((f"{name}_dropout", nn.Dropout(dropout)))
    return layers


def dense(name: str, inputs: int, units: int, *, batch_norm: bool = False, dropout: float = 0.0) -> Layers:
    """Return a dense hidden layer: linear, batch norm where asked for, ReLU, dropout where asked for."""
    layers: Layers = [(name, nn.Linear(inputs, units, bias=not batch_norm))]
    if batch_norm:
        layers.append((f"{name}_norm", nn.BatchNorm1d(units)))
    layers.append((f"{name}_relu", nn.ReLU()))
    if dropout:
        layers.append((f"{name}_dropout", nn.Dropout(dropout)))
    return layers


def dense_end(
    inputs: int,
    hidden: Iterable[int],
    outputs: int,
    *,
    output_bias: bool,
    batch_norm: bool = False,
    dropout: float = 0.0,
) -> Layers:
    """Return what a network ends in: dense hidden layers ``dense1``, ``dense2``, ... and the layer ``output``."""
    layers: Layers = []
    for number, units in enumerate(hidden, start=1):
        layers += dense(f"dense{number}", inputs, units, batch_norm=batch_norm, dropout=dropout)
        inputs = units
    return [*layers, ("output", nn.Linear(inputs, outputs, bias=output_bias))]


def image_shape(net: str, input_shape: tuple[int, ...], smallest: int = 1) -> tuple[int, int, int]:
    """Return channels, height and width, or raise `ShapeError` when these are not images large enough."""
    if len(input_shape) != 3:
        raise ShapeError(f"{net} takes images (channels, height, width); got input shape {input_shape}")
    channels, height, width = input_shape
    if min(height, width) < smallest:
        raise ShapeError(
            f"{net} shrinks its images step by step and needs at least {smallest} x {smallest} pixels; "
            f"got {height} x {width}"
        )
    return channels, height, width
