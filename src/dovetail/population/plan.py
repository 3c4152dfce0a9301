"""What a fit is made of: what is the same for all members, what each has its own of, and what callbacks see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import torch
from torch import Tensor

from .checks import check_masks
from .objectives import Objective
from .optim import Optimizer, clear_masked_, mask_patterns
from .random import Noise
from .stack import Tensors, take

Score = TypeVar("Score", float, Tensor)

Penalty = Callable[..., Tensor]
"""``(stacked parameters, **per_member) -> [members]``: added to the loss."""

Augment = Callable[[Tensor, Noise], Tensor]
"""``(inputs [members, batch, ...], noise) -> inputs``: changes training inputs; noise draws are per member."""


@dataclass(frozen=True)
class StepContext:
    """What a step callback sees of the stack in training.

    Attributes
    ----------
    step : int
        Steps taken in this fit.
    epoch : int
        The epoch that the step belongs to, from 0.
    members : Tensor
        Which members of the population are in the stack.
    params : mapping of str to Tensor
        Their parameters ``[members, ...]``; the tensors may be changed in place.
    """

    step: int
    epoch: int
    members: Tensor
    params: Mapping[str, Tensor]
    _masks: Tensors = field(repr=False)
    _patterns: Tensors = field(repr=False)

    @property
    def masks(self) -> Tensors:
        """Copies of their masks; `set_masks` changes them."""
        return {name: mask.clone() for name, mask in self._masks.items()}

    def set_masks(self, masks: Mapping[str, Tensor]) -> None:
        """Keep only these weights from now on: 0/1 tensors ``[members, ...]`` by name."""
        checked = check_masks(masks, self.params)
        for name, pattern in mask_patterns(checked, self.params).items():
            self._masks[name].copy_(checked[name])
            self._patterns[name].copy_(pattern)
            clear_masked_(self.params[name], pattern)


@dataclass(frozen=True)
class Training:
    """Everything about a fit that is the same for all members."""

    epochs: int
    batch_size: int
    objective: Objective
    optimizer: Optimizer
    metrics: Mapping[str, Objective]
    monitor: str
    patience: int | None
    goal: float | None
    penalty: Penalty | None
    augment: Augment | None
    after_step: Callable[[StepContext], None] | None

    def to_minimise(self, score: Score) -> Score:
        """Return a monitored score in the form in which lower is better."""
        return score if self.monitor == "loss" else -score


@dataclass
class Stack:
    """Everything about a fit that each member has its own of."""

    members: Tensor
    keys: Tensor
    sizes: list[float]
    params: Tensors
    buffers: Tensors
    masks: Tensors
    per_member: Tensors
    targets: Tensor | None = None
    val_targets: Tensor | None = None
    subsets: list[Tensor] | None = None
    state: dict[str, Tensors] = field(default_factory=dict)
    steps: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.steps = torch.zeros_like(self.keys)

    def select(self, rows: Tensor) -> Stack:
        """Return the stack of some of its members."""
        on_device = rows.to(self.keys.device)
        chosen = Stack(
            members=self.members[rows],
            keys=self.keys[on_device],
            sizes=[self.sizes[row] for row in rows.tolist()],
            params=take(self.params, rows, on_device.device),
            buffers=take(self.buffers, rows, on_device.device),
            masks=take(self.masks, rows, on_device.device),
            per_member=take(self.per_member, rows),
            targets=None if self.targets is None else self.targets[on_device],
            val_targets=None if self.val_targets is None else self.val_targets[on_device],
            subsets=None if self.subsets is None else [self.subsets[row] for row in rows.tolist()],
            state={slot: take(group, rows) for slot, group in self.state.items()},
        )
        chosen.steps = self.steps[on_device]
        return chosen
