"""Which units depend on which, by gradients and by a graph's edges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dovetail.graph import NetworkGraph

from .networks import nodes


def by_gradients(function: Callable[[Tensor], Tensor], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return which outputs depend on which inputs, ``[outputs, inputs]``: units along the last dimension, at any place.

    A gradient that is 0 for several random inputs is taken for one that always is.
    """
    generator = torch.Generator().manual_seed(0)
    found = None
    for _ in range(4):
        x = torch.randn(1, *shape, generator=generator, dtype=torch.float64)
        gradient = torch.autograd.functional.jacobian(function, x)
        assert isinstance(gradient, Tensor)
        outputs = gradient.shape[: gradient.dim() - x.dim()]
        size = gradient.abs().reshape(-1, outputs[-1], x.numel() // shape[-1], shape[-1]).sum((0, 2))
        found = size if found is None else found + size
    assert found is not None
    return (found > 1e-12).numpy()


def by_edges(graph: NetworkGraph, first: str, last: str) -> NDArray[np.bool_]:
    """Return which nodes of the last group can be reached from which of the first, along the direction of blocks."""
    step = np.eye(len(graph), dtype=bool)
    for block in graph.blocks:
        step[np.ix_(block.outputs, block.inputs)] |= block.weights > 0
    reach = step
    for _ in range(len(graph)):
        reach = (reach.astype(int) @ step.astype(int)) > 0
    return reach[np.ix_(nodes(graph, last), nodes(graph, first))]
