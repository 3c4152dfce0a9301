"""The networks of a population as an object: building, looking at and choosing them, and their masks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Self

import torch
from torch import Tensor, nn

from ..data.dataset import Split
from ..errors import ShapeError, TrainingError, unknown_name
from ..prune import apply_masks_, rewind
from .checks import check_device, check_masks, check_seeds, check_split
from .memory import MemberCost, measure_cost, members_at_once, storage_for
from .stack import Tensors, build_seeded, stack, take, unstack


class Members:
    """Networks of one architecture as stacked tensors; `Population` is this with training and measuring."""

    def __init__(
        self,
        build: Callable[[], nn.Module],
        seeds: Sequence[int],
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.seeds = check_seeds(seeds)
        self.device = check_device(device)
        if not dtype.is_floating_point:
            raise TrainingError(f"weights need a floating-point type, not {dtype}")
        self.dtype = dtype
        self._build = build
        distinct = {seed: place for place, seed in enumerate(dict.fromkeys(self.seeds))}
        networks = [build_seeded(build, seed).to(dtype=dtype) for seed in distinct]
        self._template = copy.deepcopy(networks[0])  # the networks' code; its own tensors are not used
        params, buffers = stack(networks, [distinct[seed] for seed in self.seeds])
        if not params:
            raise TrainingError(
                "the networks of a population need parameters to train; the builder's have none"
            )
        self.storage_device = storage_for(
            sum(t.numel() * t.element_size() for t in params.values()), self.device
        )
        self.params = {name: tensor.to(self.storage_device) for name, tensor in params.items()}
        self.buffers = {name: tensor.to(self.storage_device) for name, tensor in buffers.items()}
        self.initial = {name: tensor.clone() for name, tensor in self.params.items()}
        self._initial_buffers = {name: tensor.clone() for name, tensor in self.buffers.items()}
        self.masks: Tensors = {}
        self._costs: dict[torch.Size, MemberCost] = {}

    def __len__(self) -> int:
        return len(self.seeds)

    def __repr__(self) -> str:
        weights = sum(tensor[0].numel() for tensor in self.params.values())
        networks = "1 network" if len(self) == 1 else f"{len(self)} networks"
        return f"Population({networks} of {weights:,} parameters on {self.device})"

    def member(self, place: int) -> nn.Module:
        """Return one member as an ordinary network of its own, in evaluation mode."""
        if not -len(self) <= place < len(self):
            raise ShapeError(f"no member {place}: the population has {len(self)}")
        return unstack(self._example(), self.params, self.buffers, place).to(self.device)

    def select(self, members: Sequence[int] | Tensor) -> Self:
        """Return a population of copies of some members: their places, in any order, or a mask over all."""
        index = torch.as_tensor(members).cpu()
        if index.dtype == torch.bool and index.shape == (len(self),):
            index = index.nonzero().flatten()
        whole = index.dim() == 1 and index.dtype != torch.bool and not index.is_floating_point()
        if not whole or not len(index) or int(index.min()) < 0 or int(index.max()) >= len(self):
            raise ShapeError(
                f"cannot select {members!r:.80} of {len(self)} members; name some of 0 to {len(self) - 1}"
            )
        chosen = copy.copy(self)
        chosen.seeds = tuple(self.seeds[i] for i in index.tolist())
        for name in ("params", "buffers", "initial", "_initial_buffers", "masks"):
            setattr(chosen, name, take(getattr(self, name), index))
        return chosen

    def start_from(self, tensors: Mapping[str, Tensor]) -> Self:
        """Give the members other weights to start from, in place of those their seeds gave.

        They are their weights now, and the θ0 that `rewind` returns to; masks stay in force. Tensors are given by
        name, parameters and buffers alike, for all members ``[members, ...]``; those not given stay.

        Examples
        --------
        >>> from dovetail.population import Population
        >>> pair = Population(lambda: nn.Linear(1, 1, bias=False), seeds=[0, 0], device="cpu")
        >>> pair.start_from({"weight": torch.tensor([[[2.0]], [[3.0]]])})(torch.ones(1, 1)).flatten()
        tensor([2., 3.])
        """
        known = {**self.params, **self.buffers}
        for name, tensor in tensors.items():
            if name not in known:
                raise unknown_name("tensor of the network", name, known)
            if tensor.shape != known[name].shape:
                raise ShapeError(
                    f"{name!r} of {len(self)} members is {tuple(known[name].shape)}, not {tuple(tensor.shape)}"
                )
        for first, present in ((self.initial, self.params), (self._initial_buffers, self.buffers)):
            for name in first.keys() & tensors.keys():
                first[name] = tensors[name].detach().to(present[name], copy=True).contiguous()
                present[name] = first[name].clone()
        apply_masks_(self.params, self.masks)
        return self

    def set_masks(self, masks: Mapping[str, Tensor]) -> Self:
        """Keep only the weights where a mask is 1: the others are 0 now and at every later step.

        Masks are given by parameter name, for all members ``[members, ...]`` or alike for each ``[...]``. A new
        mask takes the place of the parameter's old one; masks of other parameters stay. Weights that a wider mask
        lets in again stay 0 until they are trained or rewound.

        Examples
        --------
        >>> from dovetail.population import Population
        >>> pair = Population(lambda: nn.Linear(3, 2), seeds=[0, 1], device="cpu")
        >>> pair.set_masks({"weight": torch.tensor([[1, 0, 0], [0, 1, 1]])}).params["weight"].count_nonzero()
        tensor(6)
        """
        self.masks = {**self.masks, **check_masks(masks, self.params)}
        apply_masks_(self.params, self.masks)
        return self

    def rewind(self) -> Self:
        """Set the parameters back to θ0, masked weights to 0, and buffers to what they were at the start."""
        self.params = rewind(self.initial, self.masks)
        self.buffers = {name: tensor.clone() for name, tensor in self._initial_buffers.items()}
        return self

    def _parts(self, cost: MemberCost, batch_size: int) -> Iterator[tuple[Tensor, Tensors, Tensors]]:
        """Yield members with their tensors on the device: all at once, or as many as its memory holds."""
        everyone = torch.arange(len(self))
        if self.storage_device == self.device:
            yield everyone, self.params, self.buffers
            return
        for members in everyone.split(members_at_once(cost, batch_size, 0, self.device)):
            yield members, *(take(tensors, members, self.device) for tensors in (self.params, self.buffers))

    def _example(self) -> nn.Module:
        return build_seeded(self._build, self.seeds[0]).to(dtype=self.dtype)

    def _cost(self, x: Tensor) -> MemberCost:
        if x.shape[1:] not in self._costs:
            self._costs[x.shape[1:]] = measure_cost(self._example(), x[:1].cpu())
        return self._costs[x.shape[1:]]

    def _on_device(self, split: Split, what: str) -> Split:
        x, y = check_split(split, what).to(self.device, self.dtype)
        return Split(x, y if y.is_floating_point() else y.long())
