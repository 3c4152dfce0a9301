"""Train one stack of members from start to end: epochs, validation, best checkpoints, early leavers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from ..data.dataset import Split
from ..errors import TrainingError
from .evaluate import Evaluator
from .history import History
from .memory import MemberCost, evaluation_batch
from .plan import Moment, Stack, Training
from .progress import FitProgress
from .stack import put, take
from .step import StackStep

_LEAVE_BELOW = 0.8
"""Members that are done leave once the stack can shrink to this share: a smaller stack is traced anew."""


def train_in_parts(
    template: nn.Module,
    everything: Stack,
    training: Training,
    train: Split,
    val: Split | None,
    cost: MemberCost,
    history: History,
    bar: FitProgress,
    most: int,
) -> Iterator[Trainer]:
    """Train up to ``most`` members at once, fewer when memory is full; yield each part when it is done."""
    # Equal step sizes next to each other: each run of them is one fused optimiser call.
    order = sorted(range(len(everything.sizes)), key=lambda member: everything.sizes[member])
    waiting = list(torch.tensor(order).split(most))
    while waiting:
        members = waiting.pop(0)
        try:
            trainer = Trainer(template, everything.select(members), training, train, val, cost, history)
            trainer.run(bar)
        except torch.OutOfMemoryError as error:
            if len(members) == 1:
                raise TrainingError("not enough memory to train a single network of this size") from error
            waiting[:0] = members.split(-(-len(members) // 2))
        else:
            yield trainer


class Trainer:
    """Trains a stack; what is kept of each member is in `params`, `buffers` and `masks` afterwards."""

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
        self.members = stack.members
        everyone = torch.arange(len(stack.members))
        self._rows = everyone  # where in `params` each member of the stack is kept
        self.params, self.buffers = take(stack.params, everyone), take(stack.buffers, everyone)
        self.masks = take(stack.masks, everyone)
        self._steps = 0
        self._bind()

    def _bind(self) -> None:
        """Make the step and the evaluator for the stack as it is now."""
        stack, training = self._stack, self._training
        self._step = StackStep(self._template, stack, training, self._train, self._steps)
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
                self._step.steps_per_epoch * len(live),
                f"epoch {epoch + 1}, {self._training.monitor} {shown:.4g}",
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
            self._steps += self._step.steps_per_epoch
            return None

        def call() -> None:
            self._steps += 1
            stack = self._stack
            callback(
                Moment(self._steps, epoch, stack.members, stack.params, stack.masks, self._step.patterns)
            )

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
        groups = ((self.params, stack.params), (self.buffers, stack.buffers), (self.masks, stack.masks))
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
