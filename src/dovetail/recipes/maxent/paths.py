"""Losses along many paths between networks at once; `dovetail.connectivity` is the same for one path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from ...data.split import Split
from ...population import Population
from ...specialists import Part
from ...specialists.class_sets import one_hot_sets
from ...specialists.objectives import max_entropy
from ...specialists.paths import path

_STACK_BYTES = {"cpu": 64 * 2**20, "cuda": 2 * 2**30}
"""How much the weights of networks that are measured together may take."""

Ends = tuple[Part, Part]


def relative_losses(ends: Sequence[Ends], split: Split, *, points: int, device: torch.device) -> Tensor:
    """Return by how many percent the loss exceeds the straight line between both ends, ``[paths, 2 points]``.

    Parameters
    ----------
    ends : sequence of pairs of Part
        Where each path begins and ends; it leads over the sum of the two. All of one architecture, without batch norm.
    split : Split
        Samples to take the loss on.
    points : int
        Points on each of the two segments of a path.
    device : torch.device
        Where to compute.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> a, b = dt.train_specialists(data, "mlp:40", [3, 8], slots=True, epochs=2, progress=False)
    >>> relative_losses([(a, b)], data.test, points=3, device=torch.device("cpu"))[0, [0, -1]]
    tensor([0., 0.], dtype=torch.float64)
    """
    t, ours, theirs = path(points)
    losses = []
    for some in _chunks(ends, 2 * points, device):
        states = [(first.state_dict(), second.state_dict()) for first, second in some]
        mixed = {
            name: torch.cat([_mixed(a[name], b[name], ours, theirs) for a, b in states])
            for name in states[0][0]
        }
        blueprint = some[0][0].specialists[0].blueprint
        population = Population(blueprint.builder, [0] * (2 * points * len(some)), device=device).start_from(
            mixed
        )
        known = [tuple({*first.rewarded, *second.rewarded}) for first, second in some]
        loss = population.evaluate(
            split,
            objective=partial(max_entropy, temperature=blueprint.temperature),
            metrics={},
            per_member={
                "rewarded": one_hot_sets(known, len(blueprint.classes)).repeat_interleave(2 * points, 0)
            },
        )["loss"]
        losses.append(loss.reshape(len(some), 2 * points))
    loss = torch.cat(losses)
    line = (1 - t) * loss[:, :1] + t * loss[:, -1:]
    return 100 * (loss - line) / line


def _mixed(first: Tensor, second: Tensor, ours: Tensor, theirs: Tensor) -> Tensor:
    """Return a tensor of both ends at all points of the path, ``[points, ...]``."""
    shape = (-1, *[1] * first.dim())
    return ours.to(first).view(shape) * first + theirs.to(second).view(shape) * second


def _chunks(ends: Sequence[Ends], networks: int, device: torch.device) -> Iterator[Sequence[Ends]]:
    """Yield paths in lists whose networks take no more than a bounded amount of memory."""
    if not ends:
        return
    weights = ends[0][0].specialists[0].weights.values()
    size = networks * sum(packed.shape.numel() * 4 for packed in weights)
    at_once = max(1, _STACK_BYTES.get(device.type, _STACK_BYTES["cpu"]) // size)
    for start in range(0, len(ends), at_once):
        yield ends[start : start + at_once]
