"""Train one stack of members from start to end: epochs, validation, best checkpoints, early leavers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..data.dataset import Split
from .evaluate import Evaluator
from .history import History
from .masking import clear_, patterns_of
from .memory import MemberCost, evaluation_batch
from .objectives import Objective
from .optimisers import Optimiser
from .order import Order
from .progress import FitProgress
from .stack import Tensors, put, take
from .steppers import StepTensors, make_stepper
from .step import Augment, Penalty, StackStep

_LEAVE_BELOW = 0.8
"""Members that are done leave the stack once it can shrink to this share: a smaller stack must be traced anew."""


@dataclass
class Moment:
    """What a step callback sees: the stack in training, open to change in place.

    Attributes
    ----------
    step : int
        Steps taken in this fit.
    epoch : int
        The epoch that the step belongs to, from 0.
    members : Tensor
        Which members of the population are in the stack.
    params : dict of str to Tensor
        Their parameters ``[members, ...]``.
    """

    step: int
    epoch: int
    members: Tensor
    params: Tensors
    _patterns: Tensors = field(repr=False)

    def set_masks(self, masks: Mapping[str, Tensor]) -> None:
        """Keep only these weights from now on: 0/1 tensors ``[members, ...]`` by name."""
        for name, pattern in patterns_of(masks, self.params).items():
            self._patterns[name].copy_(pattern)
            clear_(self.params[name], pattern)


@dataclass(frozen=True)
class Training:
    """Everything about a fit that is the same for all members."""

    epochs: int
    batch_size: int
    objective: Objective
    optimiser: Optimiser
    metrics: Mapping[str, Objective]
    monitor: str
    patience: int | None
    goal: float | None
    penalty: Penalty | None
    augment: Augment | None
    after_step: Callable[[Moment], None] | None

    @property
    def rising(self) -> bool:
        """Whether a higher monitored score is better."""
        return self.monitor != "loss"


@dataclass
class Stack:
    """Everything about a fit that each member has its own of."""

    members: Tensor
    keys: Tensor
    sizes: list[float]
    params: Tensors
    buffers: Tensors
    patterns: Tensors
    own: Tensors
    targets: Tensor | None = None
    val_targets: Tensor | None = None
    subsets: list[Tensor] | None = None
    moments: dict[str, Tensors] = field(default_factory=dict)
    taken: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.taken = torch.zeros_like(self.keys)

    def select(self, rows: Tensor) -> Stack:
        """Return the stack of some of its members."""
        on_device = rows.to(self.keys.device)
        groups = (take(group, rows) for group in (self.params, self.buffers, self.patterns, self.own))
        targets = (None if t is None else t[on_device] for t in (self.targets, self.val_targets))
        chosen = Stack(
            self.members[rows],
            self.keys[on_device],
            [self.sizes[row] for row in rows.tolist()],
            *groups,
            *targets,
            None if self.subsets is None else [self.subsets[row] for row in rows.tolist()],
            {slot: take(group, rows) for slot, group in self.moments.items()},
        )
        chosen.taken = self.taken[on_device]
        return chosen


class Trainer:
    """Trains a stack; what is kept of each member is in `params`, `buffers` and `patterns` afterwards."""

    def __init__(
        self,
        template: nn.Module,
        stack: Stack,
        training: Training,
        train: Split,
        val: Split | None,
        cost: MemberCost,
        history: History,
    ) -> None:
        self._template, self._training, self._train, self._val = template, training, train, val
        self._cost, self._history = cost, history
        slots = training.optimiser.slots
        stack.moments = {slot: {k: torch.zeros_like(p) for k, p in stack.params.items()} for slot in slots}
        self._stack = stack
        everyone = torch.arange(len(stack.members))
        self._rows = everyone  # where in `params` each member of the stack is kept
        self.params, self.buffers = take(stack.params, everyone), take(stack.buffers, everyone)
        self.patterns = take(stack.patterns, everyone)
        self._steps = 0
        self._bind()

    def _bind(self) -> None:
        """Make the step and the evaluator for the stack as it is now."""
        stack, training = self._stack, self._training
        names = list(stack.params)
        order = Order(stack.keys, len(self._train), training.batch_size, stack.subsets)
        tensors = StepTensors(
            [stack.params[name] for name in names],
            [stack.patterns.get(name) for name in names],
            [[group[name] for name in names] for group in stack.moments.values()],
            stack.taken,
            stack.sizes,
        )
        stepper = make_stepper(training.optimiser, tensors, skipping=stack.subsets is not None)
        self.steps_per_epoch = order.steps
        self._step = StackStep(
            self._template, stack.params, stack.buffers, stack.own, stack.targets, stack.keys,
            self._train, order, stepper, training.objective, training.penalty, training.augment, self._steps,
        )  # fmt: skip
        batch = evaluation_batch(self._cost, len(stack.members), stack.keys.device)
        self._evaluator = Evaluator(self._template, {"loss": training.objective, **training.metrics}, batch)

    def run(self, progress: FitProgress) -> None:
        """Train to the end."""
        best = torch.full((len(self._rows),), torch.inf, dtype=torch.float64)
        waited = torch.zeros(len(self._rows), dtype=torch.int64)
        done = torch.zeros(len(self._rows), dtype=torch.bool)
        for epoch in range(self._training.epochs):
            live = self._rows[~done[self._rows]]
            score = self._epoch(epoch, live)
            diverged = ~torch.isfinite(score)
            rows = self._rows
            better = (score < best[rows]) & ~diverged & ~done[rows]
            best[rows] = torch.where(better, score, best[rows])
            waited[rows] = torch.where(better, 0, waited[rows] + 1)
            self._keep(better.nonzero().squeeze(1), epoch)
            self._note_end(diverged & ~done[rows])
            done[rows] |= diverged | self._finished(best[rows], waited[rows])
            shown = score[~diverged].abs().mean().item()
            progress.advance(
                self.steps_per_epoch * len(live), f"epoch {epoch + 1}, {self._training.monitor} {shown:.4g}"
            )
            staying = (~done[rows]).nonzero().squeeze(1)
            if not len(staying):
                break
            if len(staying) <= _LEAVE_BELOW * len(rows) and epoch + 1 < self._training.epochs:
                self._shrink(staying)

    def _epoch(self, epoch: int, live: Tensor) -> Tensor:
        """Train and validate one epoch; return what is to be minimised, for every member of the stack."""
        stack, training = self._stack, self._training
        values = {"train_loss": self._step.epoch(epoch, self._after_step(epoch))}
        if self._val is not None:
            values |= self._evaluator(stack.params, stack.buffers, self._val, stack.own, stack.val_targets)
        on_cpu = {name: value.cpu() for name, value in values.items()}
        of_live = torch.isin(self._rows, live)
        members = stack.members[of_live]
        for name, value in on_cpu.items():
            self._history.values[name][epoch, members] = value[of_live]
        self._history.epochs[members] = epoch + 1
        if self._val is None:
            # Without validation the last epoch is the best one, as long as the loss is a number.
            return torch.where(torch.isfinite(on_cpu["train_loss"]), -float(epoch), torch.nan)
        score = on_cpu[training.monitor]
        finite = torch.isfinite(on_cpu["train_loss"])
        return torch.where(finite, -score if training.rising else score, torch.nan)

    def _after_step(self, epoch: int) -> Callable[[], None] | None:
        callback = self._training.after_step
        if callback is None:
            self._steps += self.steps_per_epoch
            return None

        def call() -> None:
            self._steps += 1
            stack = self._stack
            callback(Moment(self._steps, epoch, stack.members, stack.params, stack.patterns))

        return call

    def _finished(self, best: Tensor, waited: Tensor) -> Tensor:
        training = self._training
        finished = torch.zeros_like(waited, dtype=torch.bool)
        if training.patience is not None:
            finished |= waited >= training.patience
        if training.goal is not None:
            finished |= best <= (-training.goal if training.rising else training.goal)
        return finished

    def _keep(self, places: Tensor, epoch: int) -> None:
        """Keep the present tensors of these places of the stack."""
        if not len(places):
            return
        stack, rows = self._stack, self._rows[places]
        groups = ((self.params, stack.params), (self.buffers, stack.buffers), (self.patterns, stack.patterns))
        for kept, present in groups:
            if len(places) == len(self.params[next(iter(self.params))]):
                for name, tensor in kept.items():
                    tensor.copy_(present[name])
            else:
                put(kept, rows, take(present, places))
        self._history.best_epoch[stack.members[places]] = epoch

    def _note_end(self, diverged: Tensor) -> None:
        self._history.diverged[self._stack.members[diverged]] = True

    def _shrink(self, places: Tensor) -> None:
        """Let all others leave the stack."""
        self._stack = self._stack.select(places)
        self._rows = self._rows[places]
        self._bind()
