"""Ends of searches: which edges each search of a grid left, kept so that all of them can be looked into."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, eq=False)
class SearchEnd:
    """What one search ended with.

    Attributes
    ----------
    unit_step, edge_step : float or None
        Its first steps; None for a phase that was left out.
    loss : float
        Mean loss of its network on the validation split.
    positions : Tensor
        Which edges it left, of all weights of the dense network counted layer by layer, int32, ascending.

    Examples
    --------
    >>> end = SearchEnd(0.5, 0.01, 0.1, torch.tensor([1, 4], dtype=torch.int32))
    >>> end.edges, [layer.tolist() for layer in end.connections([2, 1, 3])]
    (2, [[[False, True]], [[False], [False], [True]]])
    """

    unit_step: float | None
    edge_step: float | None
    loss: float
    positions: Tensor

    @property
    def edges(self) -> int:
        """How many edges it left."""
        return len(self.positions)

    def connections(self, widths: Sequence[int]) -> list[NDArray[np.bool_]]:
        """Return its edges between one layer and the next, ``[units, units before]``."""
        shapes = [(after, before) for before, after in pairwise(widths)]
        bounds = list(accumulate((after * before for after, before in shapes), initial=0))
        flat = np.zeros(bounds[-1], dtype=bool)
        flat[self.positions.numpy()] = True
        return [flat[bounds[place] : bounds[place + 1]].reshape(shape) for place, shape in enumerate(shapes)]


def sparsest(ends: Sequence[SearchEnd]) -> int:
    """Return the place of the network with the fewest edges.

    Among those that tie the one with the lowest loss is chosen, then the first: a rule that knows nothing of modules.

    Examples
    --------
    >>> few, many = (torch.arange(edges, dtype=torch.int32) for edges in (2, 3))
    >>> sparsest([SearchEnd(0.1, 0.1, 0.0, many), SearchEnd(0.2, 0.1, 0.2, few), SearchEnd(0.3, 0.1, 0.1, few)])
    2
    """
    return min(range(len(ends)), key=lambda place: (ends[place].edges, ends[place].loss, place))


def packed(ends: Sequence[SearchEnd]) -> dict[str, Tensor]:
    """Return ends as tensors for a file; `unpacked` reads them."""
    steps = [[math.nan if step is None else step for step in (end.unit_step, end.edge_step)] for end in ends]
    return {
        "positions": torch.cat([end.positions for end in ends]),
        "edges": torch.tensor([end.edges for end in ends]),
        "steps": torch.tensor(steps, dtype=torch.float64),
        "loss": torch.tensor([end.loss for end in ends], dtype=torch.float64),
    }


def unpacked(tensors: dict[str, Tensor], weights: int) -> tuple[SearchEnd, ...]:
    """Return the ends that `packed` has put away, of networks with so many weights.

    Raises
    ------
    ValueError
        For tensors that no ends give.
    """
    if not tensors:
        return ()
    if set(tensors) != {"positions", "edges", "steps", "loss"}:
        raise ValueError(f"its searches are incomplete: {', '.join(sorted(tensors))[:80]}")
    edges, positions = tensors["edges"], tensors["positions"]
    fits = (
        edges.dim() == 1
        and tensors["steps"].shape == (len(edges), 2)
        and tensors["loss"].shape == edges.shape
    )
    if not fits or int(edges.min()) < 0 or int(edges.sum()) != len(positions):
        raise ValueError("its searches contradict each other")
    if len(positions) and not 0 <= int(positions.min()) <= int(positions.max()) < weights:
        raise ValueError("its searches have edges that the network has not")
    parts = positions.split(edges.tolist())
    if any(bool((part.diff() <= 0).any()) for part in parts):
        raise ValueError("its searches have edges twice")
    rows = zip(tensors["steps"].tolist(), tensors["loss"].tolist(), parts, strict=True)
    return tuple(
        SearchEnd(_step(unit_step), _step(edge_step), loss, part.int())
        for (unit_step, edge_step), loss, part in rows
    )


def _step(number: float) -> float | None:
    return None if math.isnan(number) else number
