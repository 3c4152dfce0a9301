"""Networks without the units that pruning took: the same function in smaller matrices.

Members of a stack lose different units. Each layer is cut to the width of the member that has most of them left;
the others keep some units without edges, which do nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Tensor

from .perceptrons import Perceptrons, count_edges


@dataclass(frozen=True)
class Compact:
    """A stack, and which units of the original networks its hidden units are.

    Attributes
    ----------
    stack : Perceptrons
        The members.
    places : tuple of Tensor
        For each hidden layer the original unit numbers, ``[members, units]``.
    widths : tuple of int
        The layers of the original networks.
    """

    stack: Perceptrons
    places: tuple[Tensor, ...]
    widths: tuple[int, ...]

    @classmethod
    def whole(cls, stack: Perceptrons) -> Compact:
        """Return a stack whose units are all there."""
        device = stack.values.device
        places = tuple(
            torch.arange(units, device=device).repeat(len(stack), 1) for units in stack.widths[1:-1]
        )
        return cls(stack, places, stack.widths)

    def __len__(self) -> int:
        return len(self.stack)

    @property
    def edges(self) -> int:
        """How many edges the original networks have."""
        return count_edges(self.widths)

    def select(self, members: Tensor) -> Compact:
        """Return copies of some members."""
        return replace(
            self, stack=self.stack.select(members), places=tuple(place[members] for place in self.places)
        )

    def has_edges(self) -> list[Tensor]:
        """Return for each hidden layer which units have an edge, in or out, ``[members, units]``."""
        kept = self.stack.weights(self.stack.kept)
        return [before.any(2) | after.any(1) for before, after in pairwise(kept)]

    def units_left(self) -> Tensor:
        """Return how many hidden units of each member have edges."""
        return torch.stack([there.sum(1) for there in self.has_edges()]).sum(0)

    def edges_left(self) -> Tensor:
        """Return how many edges each member has."""
        return self.stack.kept[:, : self.stack.edges].sum(1)

    def slack(self) -> float:
        """Return how much smaller the matrices would be after `tightened`, as a share of what they are."""
        widths = [max(1, int(there.sum(1).max())) for there in self.has_edges()]
        widths = [self.stack.widths[0], *widths, self.stack.widths[-1]]
        return count_edges(widths) / self.stack.edges

    def tightened(self) -> Compact:
        """Return the stack cut to the units that have edges."""
        stack = self.stack
        orders = [
            torch.argsort((~there).int(), dim=1, stable=True)[:, : max(1, int(there.sum(1).max()))]
            for there in self.has_edges()
        ]
        values, kept = (_gathered(stack, orders, rows) for rows in (stack.values, stack.kept))
        widths = (stack.widths[0], *(order.shape[1] for order in orders), stack.widths[-1])
        places = tuple(place.gather(1, order) for place, order in zip(self.places, orders, strict=True))
        return Compact(Perceptrons(widths, values, kept, stack.head), places, self.widths)

    def expanded(self) -> Perceptrons:
        """Return the networks at their original size; units that were cut have no edges."""
        stack = self.stack
        rows = Perceptrons(self.widths, stack.values[:, :0], stack.kept[:, :0], stack.head)
        size = self.edges + sum(self.widths[1:])
        full = replace(
            rows,
            values=stack.values.new_zeros(len(stack), size),
            kept=stack.kept.new_zeros(len(stack), size),
        )
        first = torch.arange(self.widths[0], device=stack.values.device).expand(len(stack), -1)
        last = torch.arange(self.widths[-1], device=stack.values.device).expand(len(stack), -1)
        ends = [first, *self.places, last]
        member = torch.arange(len(stack), device=stack.values.device)[:, None, None]
        for into, out_of in ((full.values, stack.values), (full.kept, stack.kept)):
            small, large = stack.weights(out_of), full.weights(into)
            for before, after, source, target in zip(ends, ends[1:], small, large, strict=False):
                target[member, after[:, :, None], before[:, None, :]] = source
            for after, source, target in zip(ends[1:], stack.biases(out_of), full.biases(into), strict=True):
                target.scatter_(1, after, source)
        return full


def _gathered(stack: Perceptrons, orders: list[Tensor], rows: Tensor) -> Tensor:
    """Return rows like a stack's `values` with some units of each hidden layer, in a given order."""
    weights, biases = stack.weights(rows), stack.biases(rows)
    for place, order in enumerate(orders):
        biases[place] = biases[place].gather(1, order)
        weights[place] = weights[place].gather(1, order[:, :, None].expand(-1, -1, weights[place].shape[2]))
        after = weights[place + 1]
        weights[place + 1] = after.gather(2, order[:, None, :].expand(-1, after.shape[1], -1))
    return torch.cat([tensor.flatten(1) for tensor in (*weights, *biases)], 1)
