"""Train one stack of members from start to end: epochs, validation, best checkpoints, early leavers."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from types import MappingProxyType

import torch
from torch import Tensor, nn

from ..data.dataset import Split
from ..errors import TrainingError, memory_is_full
from .evaluate import Evaluator
from .history import History
from .memory import MemberCost, evaluation_batch
from .plan import Stack, StepContext, Training
from .progress import FitProgress
from .stack import put, take
from .standing import Standing
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
    # Equal step sizes next to each other: each run of them is one fused optimizer call.
    order = sorted(range(len(everything.sizes)), key=lambda member: everything.sizes[member])
    waiting = list(torch.tensor(order).split(most))
    while waiting:
        members = waiting.pop(0)
        trainer = None
        try:
            trainer = Trainer(template, everything.select(members), training, train, val, cost, history)
            trainer.run(bar)
        except (RuntimeError, MemoryError) as error:
            if not memory_is_full(error):
                raise
            if len(members) == 1:
                raise TrainingError("not enough memory to train a single network of this size") from error
            waiting[:0] = members.split(-(-len(members) // 2))
        else:
            yield trainer
        # The next part needs the room, also what an interrupted one still holds in reference cycles.
        del trainer
        _free_memory(everything.keys.device)


def _free_memory(device: torch.device) -> None:
    if device.type == "cuda":
        gc.collect()
        torch.cuda.empty_cache()


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
        slots = training.optimizer.state_names
        stack.state = {slot: {k: torch.zeros_like(p) for k, p in stack.params.items()} for slot in slots}
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
        self._step = StackStep(self._template, stack, training, self._train)
        batch = evaluation_batch(self._cost, len(stack.members), stack.keys.device)
        self._evaluator = Evaluator(self._template, {"loss": training.objective, **training.metrics}, batch)

    def run(self, progress: FitProgress) -> None:
        """Train to the end."""
        try:
            self._run(progress)
        finally:
            self._step.close()

    def _run(self, progress: FitProgress) -> None:
        training = self._training
        goal = None if training.goal is None else training.to_minimise(training.goal)
        standing = Standing(len(self._rows), training.patience, goal)
        for epoch in range(training.epochs):
            live = ~standing.done[self._rows]
            values = self._epoch(epoch)
            self._record(epoch, values, live)
            sound = torch.isfinite(values["train_loss"])
            better, diverged = standing.update(self._rows, self._score(epoch, values), sound)
            self._keep(better.nonzero().squeeze(1), epoch)
            self._history.diverged[self._stack.members[diverged]] = True
            progress.advance(self._step.steps_per_epoch * int(live.sum()), self._news(epoch, values, live))
            staying = (~standing.done[self._rows]).nonzero().squeeze(1)
            if not len(staying):
                break
            if len(staying) <= _LEAVE_BELOW * len(self._rows) and epoch + 1 < training.epochs:
                self._shrink(staying)

    def _epoch(self, epoch: int) -> dict[str, Tensor]:
        """Train and validate one epoch; return what was measured of every member of the stack."""
        stack = self._stack
        values = {"train_loss": self._step.epoch(epoch, self._after_step(epoch))}
        if self._val is not None:
            values |= self._evaluator(
                stack.params, stack.buffers, self._val, stack.per_member, stack.val_targets
            )
        return {name: value.cpu() for name, value in values.items()}

    def _news(self, epoch: int, values: dict[str, Tensor], live: Tensor) -> str:
        """Return the epoch and what the members score in the mean: the metrics, or the loss if there are none."""
        names = [name for name in values if name in self._training.metrics] or list(values)[-1:]
        scores = [f"{name.replace('_', ' ')} {values[name][live].nanmean():.3f}" for name in names]
        return ", ".join([f"epoch {epoch + 1}/{self._training.epochs}", *scores])

    def _record(self, epoch: int, values: dict[str, Tensor], live: Tensor) -> None:
        members = self._stack.members[live]
        for name, value in values.items():
            self._history.values[name][epoch, members] = value[live]
        self._history.epochs[members] = epoch + 1

    def _score(self, epoch: int, values: dict[str, Tensor]) -> Tensor:
        """Return what is to be as low as possible; without validation the latest epoch is the best one."""
        if self._val is None:
            return torch.full_like(values["train_loss"], -epoch)
        return self._training.to_minimise(values[self._training.monitor])

    def _after_step(self, epoch: int) -> Callable[[], None] | None:
        callback = self._training.after_step
        if callback is None:
            return None

        def call() -> None:
            self._steps += 1
            stack = self._stack
            params = MappingProxyType(stack.params)
            callback(StepContext(self._steps, epoch, stack.members, params, stack.masks, self._step.patterns))

        return call

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

    def _shrink(self, places: Tensor) -> None:
        """Let all others leave the stack."""
        self._step.close()
        self._stack = self._stack.select(places)
        self._rows = self._rows[places]
        self._bind()
