"""Networks with branches for the tests of `network_graph`, and adjacencies made by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dovetail.graph import NetworkGraph

Matrix = NDArray[np.float64]


class Inception(nn.Module):
    """Three branches of a stem, put side by side, and a convolution that reads all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(2, 6, 3, padding=1)
        self.one = nn.Conv2d(6, 4, 1)
        self.three = nn.Sequential(nn.Conv2d(6, 3, 1), nn.GELU(), nn.Conv2d(3, 5, 3, padding=1))
        self.pool = nn.MaxPool2d(3, stride=1, padding=1)
        self.pooled = nn.Conv2d(6, 2, 1)
        self.head = nn.Conv2d(11, 3, 3)
        self.output = nn.Linear(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.tanh(self.stem(x))
        x = torch.cat([self.one(x), self.three(x), self.pooled(self.pool(x))], dim=1)
        x = self.head(torch.tanh(x))
        out: Tensor = self.output(x.mean(dim=(2, 3)))
        return out


class Separable(nn.Module):
    """A depthwise and a pointwise convolution, then one in groups whose channels are shuffled."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3)
        self.depthwise = nn.Conv2d(4, 8, 3, groups=4)
        self.pointwise = nn.Conv2d(8, 6, 1)
        self.shuffle = nn.ChannelShuffle(2)
        self.grouped = nn.Conv2d(6, 4, 3, groups=2)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.sigmoid(self.pointwise(torch.tanh(self.depthwise(self.stem(x)))))
        out: Tensor = self.grouped(self.shuffle(x))
        return out


class ResidualMLP(nn.Module):
    """A dense layer, and two blocks that are added to it in different ways."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Linear(5, 4)
        self.inner1, self.outer1 = nn.Linear(4, 3), nn.Linear(3, 4)
        self.inner2, self.outer2 = nn.Linear(4, 2), nn.Linear(2, 4)
        self.output = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = torch.add(x, self.outer1(self.inner1(x).relu()))
        x += self.outer2(self.inner2(x).relu())
        out: Tensor = self.output(x)
        return out


class TwiceInGroups(nn.Module):
    """A convolution in two groups, each of which reads all channels of the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3)
        self.grouped = nn.Conv2d(12, 8, 3, groups=2)
        self.last = nn.Conv2d(8, 6, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        out: Tensor = self.last(self.grouped(torch.cat([x, x], dim=1)))
        return out


class RepeatedDepthwise(nn.Module):
    """Channels that are repeated before a depthwise convolution reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3)
        self.depthwise = nn.Conv2d(12, 12, 3, groups=12)
        self.last = nn.Conv2d(12, 5, 1)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.last(self.depthwise(self.first(x).repeat(1, 2, 1, 1)))
        return out


class GatedGroups(nn.Module):
    """A convolution in groups whose outputs gate each other, so that outputs are one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3)
        self.grouped = nn.Conv2d(6, 8, 3, groups=2)
        self.last = nn.Conv2d(4, 5, 1)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.last(nn.functional.glu(self.grouped(self.first(x)), dim=1))
        return out


def kernel_sums(layer: nn.Module) -> Matrix:
    """Return the sums of absolute kernel entries, ``[outputs, inputs of a group]``."""
    weights = absolute(layer)
    sums: Matrix = weights.reshape(*weights.shape[:2], -1).sum(axis=2)
    return sums


def absolute(layer: nn.Module) -> Matrix:
    """Return the absolute weights of a layer, as pruned or parametrised."""
    weight = layer.weight
    assert isinstance(weight, Tensor)
    matrix: Matrix = weight.detach().double().abs().numpy()
    return matrix


def adjacency(total: int, blocks: Iterable[tuple[Sequence[int], Sequence[int], Matrix]]) -> Matrix:
    """Return a dense adjacency from nodes at outputs, nodes at inputs and the weights between them."""
    matrix = np.zeros((total, total))
    for outputs, inputs, weights in blocks:
        for row, output in enumerate(outputs):
            for column, source in enumerate(inputs):
                matrix[output, source] += weights[row, column]
                matrix[source, output] += weights[row, column]
    return matrix


def sizes(graph: NetworkGraph) -> dict[str, int]:
    """Return the size of each group by its name."""
    return {group.name: group.size for group in graph.groups}


def nodes(graph: NetworkGraph, name: str) -> list[int]:
    """Return the nodes of a group."""
    number = [group.name for group in graph.groups].index(name)
    return [int(node) for node in np.flatnonzero(graph.group_of == number)]


def randomise(network: nn.Module, seed: int, *, density: float = 1.0) -> nn.Module:
    """Fill a network with random weights, statistics of batch norm included; some kernels are 0."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in [*network.named_parameters(), *network.named_buffers()]:
            if not tensor.is_floating_point():
                continue
            tensor.copy_(torch.randn(tensor.shape, generator=generator))
            if name.endswith("running_var"):
                tensor.abs_().add_(0.1)
            elif tensor.dim() > 1:
                kept = torch.rand(tensor.shape[:2], generator=generator) < density
                tensor.mul_(kept.reshape(*kept.shape, *[1] * (tensor.dim() - 2)))
    return network
