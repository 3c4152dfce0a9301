"""In which order each member sees its samples: one permutation per seed and epoch, cut into batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .random import hash64, keys_at


def epoch_order(keys: Tensor, epoch: int, samples: int) -> Tensor:
    """Return a permutation of the samples for every key: ``[keys, samples]``.

    It depends on the key and the epoch alone, so that it is the same in any company and on any device.

    Examples
    --------
    >>> from dovetail.population.random import member_keys
    >>> order = epoch_order(member_keys([0, 0, 1]), epoch=0, samples=100)
    >>> bool((order[0] == order[1]).all()), bool((order[0] == order[2]).all())
    (True, False)
    """
    return torch.argsort(_ranks(keys, torch.tensor(epoch, device=keys.device), samples), dim=1, stable=True)


def epoch_orders(keys: Tensor, epochs: range, samples: int) -> Tensor:
    """Return the orders of several epochs at once: ``[keys, epochs, samples]``.

    Examples
    --------
    >>> from dovetail.population.random import member_keys
    >>> keys = member_keys([3])
    >>> bool((epoch_orders(keys, range(2), 9)[:, 1] == epoch_order(keys, 1, 9)).all())
    True
    """
    clock = torch.tensor(epochs, device=keys.device)
    return torch.argsort(_ranks(keys.unsqueeze(1), clock, samples), dim=2, stable=True)


def _ranks(keys: Tensor, epoch: Tensor, samples: int) -> Tensor:
    moment = keys_at(keys, epoch)
    position = torch.arange(samples, dtype=torch.int64, device=keys.device)
    return hash64(hash64(position * 2 + 1) ^ moment.unsqueeze(-1))


@dataclass(frozen=True)
class Batches:
    """Batches of one size: which samples each order takes at each step.

    Attributes
    ----------
    index : Tensor
        ``[steps, orders, batch]``, sample numbers.
    weight : Tensor or None
        ``[steps, orders, batch]``, 0 where a short order was filled up; None when every sample counts.
    """

    index: Tensor
    weight: Tensor | None = None

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.index)


class Order:
    """The batches of every epoch for a stack of members.

    Parameters
    ----------
    keys : Tensor
        One key per member.
    samples : int
        How many samples there are.
    batch_size : int
        Samples per step.
    subsets : sequence of Tensor, optional
        The sample numbers that each member may see, one tensor per member.

    Attributes
    ----------
    of_member : Tensor or None
        Which order each member follows, or None when every member has its own.
    """

    def __init__(
        self, keys: Tensor, samples: int, batch_size: int, subsets: Sequence[Tensor] | None = None
    ) -> None:
        self.samples, self.batch_size = samples, batch_size
        self._subsets: Tensor | None = None
        if subsets is None:
            self._keys, of_member = torch.unique(keys, return_inverse=True)
            self.of_member: Tensor | None = of_member if len(self._keys) < len(keys) else None
            if self.of_member is None:
                self._keys = keys
        else:
            self._keys, self.of_member = keys, None
            self._sizes = torch.tensor([len(s) for s in subsets], device=keys.device)
            self.samples = int(self._sizes.max())
            # Filled up with samples of the member's own: it must not even look at others.
            fills = [subset.repeat(-(-self.samples // len(subset))) for subset in subsets]
            self._subsets = torch.stack([fill[: self.samples] for fill in fills])

    @property
    def steps(self) -> int:
        """Steps per epoch."""
        return -(-self.samples // self.batch_size)

    @property
    def own_steps(self) -> list[int]:
        """Each member's steps per epoch: fewer where its subset is smaller."""
        if self._subsets is None:
            return [self.steps] * (len(self._keys) if self.of_member is None else len(self.of_member))
        return [-(-size // self.batch_size) for size in self._sizes.tolist()]

    @property
    def shared(self) -> bool:
        """Whether all members see the same batches."""
        return len(self._keys) == 1 and self._subsets is None

    def for_members(self, of_orders: Tensor) -> Tensor:
        """Return what orders have, ``[orders, ...]``, by member; ``[...]`` if all members share one order."""
        if self.shared:
            return of_orders.squeeze(0)
        return of_orders if self.of_member is None else of_orders[self.of_member]

    def epoch(self, epoch: int) -> list[Batches]:
        """Return the epoch's batches: the full ones, then the smaller last one if there is one."""
        if self._subsets is not None:
            return [self._subset_batches(epoch)]
        order = epoch_order(self._keys, epoch, self.samples)
        full = self.samples // self.batch_size * self.batch_size
        parts = [order[:, :full].unflatten(1, (-1, self.batch_size))] if full else []
        if full < self.samples:
            parts.append(order[:, full:].unsqueeze(1))
        return [Batches(part.transpose(0, 1).contiguous()) for part in parts]

    def _subset_batches(self, epoch: int) -> Batches:
        """Fill short orders up to the longest; the fill has no weight, and a step of fill alone is skipped."""
        assert self._subsets is not None
        ranks = _ranks(self._keys, torch.tensor(epoch, device=self._keys.device), self.samples)
        place = torch.arange(self.samples, device=ranks.device)
        ranks = ranks.masked_fill(place >= self._sizes.unsqueeze(1), torch.iinfo(torch.int64).max)
        order = self._subsets.gather(1, torch.argsort(ranks, dim=1, stable=True))
        fill = self.steps * self.batch_size - self.samples
        index = torch.cat([order, order[:, :1].expand(-1, fill)], 1)
        place = torch.arange(self.steps * self.batch_size, device=ranks.device)
        weight = (place < self._sizes.unsqueeze(1)).float()
        shape = (-1, self.batch_size)
        return Batches(
            index.unflatten(1, shape).transpose(0, 1).contiguous(),
            weight.unflatten(1, shape).transpose(0, 1).contiguous(),
        )
