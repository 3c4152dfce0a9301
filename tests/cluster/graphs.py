"""Small networks as graphs, for the tests of clustering."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import eigh
from torch import Tensor, nn

from dovetail.graph.graph import Block, Group, NetworkGraph


class Backwards(nn.Module):
    """A network whose layers are defined in another order than they are used in; their widths do not tell."""

    def __init__(self, inputs: int = 6, outputs: int = 6) -> None:
        super().__init__()
        self.last, self.second, self.first = nn.Linear(6, outputs), nn.Linear(6, 6), nn.Linear(inputs, 6)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.last(torch.relu(self.second(torch.relu(self.first(x.flatten(1))))))
        return found


def chain(matrices: Sequence[NDArray[np.floating]]) -> NetworkGraph:
    """Return the graph of layers ``[outputs, inputs]``, made by hand."""
    widths = [matrices[0].shape[1], *(len(matrix) for matrix in matrices)]
    begin = np.concatenate([[0], np.cumsum(widths)])
    nodes = [np.arange(begin[i], begin[i + 1]) for i in range(len(widths))]
    blocks = [
        Block(f"layer {i}", nodes[i + 1], nodes[i], np.abs(matrix).astype(np.float64))
        for i, matrix in enumerate(matrices)
    ]
    return NetworkGraph(tuple(Group(f"layer {i}", width) for i, width in enumerate(widths)), tuple(blocks))


def random_layers(widths: Sequence[int], density: float = 1.0, seed: int = 0) -> list[NDArray[np.float64]]:
    """Return random weight matrices ``[outputs, inputs]``, some of them 0."""
    rng = np.random.default_rng(seed)
    return [
        rng.normal(size=(after, before)) * (rng.random((after, before)) < density)
        for before, after in pairwise(widths)
    ]


def dense_spectrum(adjacency: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return all generalised eigenvalues and vectors of (L, D), of nodes with connections, by a dense solver."""
    kept = adjacency.sum(1) > 0
    inner = adjacency[kept][:, kept]
    degrees = np.diag(inner.sum(1))
    values, vectors = eigh(degrees - inner, degrees)
    return values, vectors


def dense_ncut(adjacency: NDArray[np.float64], labels: Sequence[int]) -> float:
    """Return the n-cut as the paper defines it, one cluster after another."""
    total = 0.0
    for cluster in sorted(set(labels)):
        inside = np.asarray(labels) == cluster
        total += adjacency[inside][:, ~inside].sum() / adjacency[inside].sum()
    return float(total)
