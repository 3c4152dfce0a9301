"""Proposals of what to prune next: units that the loss does not hang on, or edges of small magnitude."""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor

from ...data.split import Split
from ...prune.percentile import above_percentile
from .compact import Compact
from .perceptrons import count_edges

_AT_ONCE = 64 * 2**20
"""Numbers in the activations of one pass."""


class UnitProposal:
    """Keep the hidden units that score above a percentile of all of them, by loss sensitivity.

    Units that went earlier score 0 and stay in the percentile.

    Parameters
    ----------
    split : Split
        Clean samples on which units are scored.
    """

    def __init__(self, split: Split) -> None:
        self._split = split

    def smallest(self, widths: tuple[int, ...]) -> float:
        """Return one unit as a share of all hidden ones."""
        return 1 / sum(widths[1:-1])

    def gone(self, members: Compact) -> Tensor:
        """Return the share of hidden units that have no edges already."""
        return 1 - members.units_left().double() / sum(members.widths[1:-1])

    def __call__(self, members: Compact, shares: Tensor) -> Tensor:
        """Return what is kept: no weight into or out of a pruned unit, and not its bias."""
        scores = sensitivity(members, self._split)
        stays = above_percentile(torch.cat(scores, 1), shares, sum(members.widths[1:-1]))
        kept = members.stack.kept.clone()
        weights, biases = members.stack.weights(kept), members.stack.biases(kept)
        for place, units in enumerate(stays.split([score.shape[1] for score in scores], 1)):
            weights[place] &= units[:, :, None]
            weights[place + 1] &= units[:, None, :]
            biases[place] &= units
        return kept


class EdgeProposal:
    """Keep the edges whose magnitude lies above a percentile of all of them, pruned ones included."""

    def smallest(self, widths: tuple[int, ...]) -> float:
        """Return one edge as a share of all there are."""
        return 1 / count_edges(widths)

    def gone(self, members: Compact) -> Tensor:
        """Return the share of edges that are gone already."""
        return 1 - members.edges_left().double() / members.edges

    def __call__(self, members: Compact, shares: Tensor) -> Tensor:
        """Return what is kept: of hidden biases, those of units that still have an edge coming in."""
        edges = members.stack.edges
        kept = members.stack.kept.clone()
        magnitudes = members.stack.values[:, :edges].abs()
        kept[:, :edges] &= above_percentile(magnitudes, shares, members.edges)
        weights, biases = members.stack.weights(kept), members.stack.biases(kept)
        for into, bias in zip(weights[:-1], biases[:-1], strict=True):  # an output may be constant
            bias &= into.any(2)
        return kept


Proposal: TypeAlias = UnitProposal | EdgeProposal
"""A way to choose what to prune: called with shares that are to be gone, it says what each member may keep."""


def sensitivity(members: Compact, split: Split) -> list[Tensor]:
    """Return the mean over a split of ``abs(∂L/∂a · a)`` for every hidden unit, layer by layer."""
    stack = members.stack
    at_once = max(64, _AT_ONCE // (len(stack) * max(stack.widths)))
    total: list[Tensor] = []
    for start in range(0, len(split), at_once):
        x, y = split.x[start : start + at_once], split.y[start : start + at_once]
        # Scores of some samples are a mean of derivatives of a mean: they count by the square of their share.
        share = (len(x) / len(split)) ** 2
        scores = [score * share for score in stack.sensitivity(x, y)]
        total = [a + b for a, b in zip(total, scores, strict=True)] if total else scores
    return total
