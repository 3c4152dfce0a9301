"""A fit: train a stack from start to end, keep each member's best or last epoch, let those who are done leave.

`Fit.run` is the training loop. Everything about a fit that is the same for all members is in `FitPlan`, what each has
its own of is in `step.Stack`, and `EarlyStopping` knows who is done.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

import torch
from torch import Tensor, nn

from ..data.split import Split
from ..errors import TrainingError, memory_is_full
from .batch_norm import recompute_stacked
from .evaluate import Evaluator
from .history import History, Keep
from .memory import MemberCost, evaluation_batch
from .objectives import Objective
from .optim import Optimizer
from .progress import ProgressBar
from .schedules import Schedule
from .stack import Tensors, put, take
from .step import Augment, Penalty, Stack, StepContext, TrainingStep

Score = TypeVar("Score", float, Tensor)

_LEAVE_BELOW = 0.8
"""Members that are done leave once the stack can shrink to this share: a smaller stack is traced anew."""


@dataclass(frozen=True)
class Done:
    """Members that will not train any further, while others may.

    Attributes
    ----------
    members : Tensor
        Their places in the population.
    params, buffers, masks : dict of str to Tensor
        What is kept of them, ``[members, ...]``; masks where there are any.
    history : History
        The record of the fit so far, of all members.
    """

    members: Tensor
    params: Tensors
    buffers: Tensors
    masks: Tensors
    history: History


@dataclass(frozen=True)
class FitPlan:
    """Everything about a fit that is the same for all members; see `Population.fit`."""

    train: Split
    val: Split | None
    epochs: int
    batch_size: int
    objective: Objective
    optimizer: Optimizer
    metrics: Mapping[str, Objective]
    monitor: str
    keep: Keep
    patience: int | None
    goal: float | None
    penalty: Penalty | None
    augment: Augment | None
    after_step: Callable[[StepContext], None] | None
    when_done: Callable[[Done], None] | None
    streamed: bool
    training_objective: Objective
    schedule: Schedule | None
    autocast: torch.dtype | None
    clip_gradient: float | None

    def to_minimise(self, score: Score) -> Score:
        """Return a monitored score in the form in which lower is better."""
        return score if self.monitor == "loss" else -score


class EarlyStopping:
    """Who has found a better score, who has waited too long for one, who is done; scores are to be low.

    Parameters
    ----------
    members : int
        How many.
    patience : int or None
        A member is done after this many epochs without a better score.
    goal : float or None
        A member is done when its score is this low.

    Examples
    --------
    >>> stopping, both, finite = EarlyStopping(2, patience=1, goal=None), torch.tensor([0, 1]), torch.ones(2).bool()
    >>> stopping.update(both, torch.tensor([0.5, 0.5]), finite)
    (tensor([True, True]), tensor([False, False]))
    >>> stopping.update(both, torch.tensor([0.4, 0.6]), finite)
    (tensor([ True, False]), tensor([False, False]))
    >>> stopping.done
    tensor([False,  True])
    """

    def __init__(self, members: int, patience: int | None, goal: float | None) -> None:
        self._patience, self._goal = patience, goal
        self._best = torch.full((members,), torch.inf, dtype=torch.float64)
        self._waited = torch.zeros(members, dtype=torch.int64)
        self.done = torch.zeros(members, dtype=torch.bool)

    def update(self, members: Tensor, scores: Tensor, finite: Tensor) -> tuple[Tensor, Tensor]:
        """Take in an epoch's scores of some members; return who is better than ever, and who diverged.

        ``finite`` says whose training loss is a number; the others diverged and are done. A score that is no number
        is not better than any. Members that are done stay as they are.
        """
        live = ~self.done[members]
        diverged = live & ~finite
        better = live & finite & (scores < self._best[members])
        self._best[members] = torch.where(better, scores.double(), self._best[members])
        self._waited[members] = torch.where(better, 0, self._waited[members] + 1)
        self.done[members] |= diverged
        if self._patience is not None:
            self.done[members] |= self._waited[members] >= self._patience
        if self._goal is not None:
            self.done[members] |= self._best[members] <= self._goal
        return better, diverged


def fit_in_parts(
    network: nn.Module,
    everyone: Stack,
    plan: FitPlan,
    cost: MemberCost,
    history: History,
    bar: ProgressBar,
    at_once: int,
) -> Iterator[Fit]:
    """Train up to ``at_once`` members together, fewer when memory is full; yield each fit when it is done."""
    # Equal step sizes and numbers of steps next to each other: each run of them is one fused optimizer call.
    taken = everyone.steps.tolist()
    order = sorted(range(len(everyone)), key=lambda member: (everyone.sizes[member], taken[member]))
    waiting = list(torch.tensor(order).split(at_once))
    while waiting:
        members = waiting.pop(0)
        fit = None
        try:
            fit = Fit(network, everyone.select(members), plan, cost, history)
            fit.run(bar)
        except (RuntimeError, MemoryError) as error:
            if not memory_is_full(error):
                raise
            if len(members) == 1:
                raise TrainingError("not enough memory to train a single network of this size") from error
            waiting[:0] = members.split(-(-len(members) // 2))
        else:
            yield fit
        # The next part needs the room, also what an interrupted one still holds in reference cycles.
        del fit
        if everyone.device.type == "cuda":
            gc.collect()
            torch.cuda.empty_cache()


class Fit:
    """Trains a stack.

    What is kept of each member is in `params`, `buffers` and `masks` afterwards. Where the stack brought an optimizer's
    state along, `state` and `steps` are what it had become when the member stopped.
    """

    def __init__(
        self, network: nn.Module, stack: Stack, plan: FitPlan, cost: MemberCost, history: History
    ) -> None:
        self._network, self._plan, self._cost, self._history = network, plan, cost, history
        everyone = torch.arange(len(stack))
        self.state = {name: take(tensors, everyone) for name, tensors in stack.state.items()}
        self.steps = stack.steps.clone()
        if not stack.state:
            stack.state = {
                name: {k: torch.zeros_like(p) for k, p in stack.params.items()}
                for name in plan.optimizer.state_names
            }
        self.members = stack.members
        self.params, self.buffers = take(stack.params, everyone), take(stack.buffers, everyone)
        self.masks = take(stack.masks, everyone)
        self._steps = 0
        self._continue_with(stack, everyone)

    def _continue_with(self, stack: Stack, rows: Tensor) -> None:
        """Train this stack from now on; ``rows`` says where in `params` each of its members is kept."""
        plan = self._plan
        self._stack, self._rows = stack, rows
        self._step = TrainingStep(
            self._network, stack, plan.train, batch_size=plan.batch_size, objective=plan.training_objective,
            optimizer=plan.optimizer, penalty=plan.penalty, augment=plan.augment, clip_gradient=plan.clip_gradient,
            schedule=plan.schedule, epochs=plan.epochs, autocast=plan.autocast, streamed=plan.streamed,
        )  # fmt: skip
        batch = evaluation_batch(self._cost, len(stack), stack.device)
        self._evaluator = Evaluator(self._network, {"loss": plan.objective, **plan.metrics}, batch)

    def run(self, bar: ProgressBar) -> None:
        """Train to the end."""
        try:
            self._loop(bar)
        finally:
            self._step.close()

    def _loop(self, bar: ProgressBar) -> None:
        plan = self._plan
        goal = None if plan.goal is None else plan.to_minimise(plan.goal)
        stopping = EarlyStopping(len(self._stack), plan.patience, goal)
        for epoch in range(plan.epochs):
            live = ~stopping.done[self._rows]

            values = {"train_loss": self._step.epoch(epoch, self._after_step(epoch))}
            if plan.val is not None:
                stack = self._stack
                values |= self._evaluator(
                    stack.params,
                    stack.buffers,
                    plan.val,
                    stack.per_member,
                    stack.val_targets,
                    stack.val_weights,
                )
            values = {name: value.cpu() for name, value in values.items()}
            # Without validation the latest epoch is the best one.
            latest = torch.full_like(values["train_loss"], -epoch)
            score = latest if plan.val is None else plan.to_minimise(values[plan.monitor])

            better, diverged = stopping.update(self._rows, score, torch.isfinite(values["train_loss"]))
            done = stopping.done[self._rows]
            ending = live & (done | (epoch + 1 == plan.epochs))
            kept = better if plan.keep == "best" else ending & ~diverged
            self._keep(kept.nonzero().squeeze(1), epoch)
            self._keep_state(ending.nonzero().squeeze(1))
            self._history.add(epoch, self._stack.members, values, live, diverged)
            self._report(self._rows[ending])
            bar.advance(self._step.steps_per_epoch * int(live.sum()), self._message(epoch, values, live))

            staying = (~done).nonzero().squeeze(1)
            if not len(staying):
                break
            if len(staying) <= _LEAVE_BELOW * len(self._stack) and epoch + 1 < plan.epochs:
                self._step.close()
                self._continue_with(self._stack.select(staying), self._rows[staying])

    def _after_step(self, epoch: int) -> Callable[[], None] | None:
        callback = self._plan.after_step
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
        for kept, present in (
            (self.params, stack.params),
            (self.buffers, stack.buffers),
            (self.masks, stack.masks),
        ):
            if len(places) == len(self.members):
                for name, tensor in kept.items():
                    tensor.copy_(present[name])
            else:
                put(kept, rows, take(present, places))
        self._history.kept_epoch[stack.members[places]] = epoch

    def _keep_state(self, places: Tensor) -> None:
        """Keep what the optimizer has come to in these places of the stack, where anyone wants it."""
        if self.state and len(places):
            stack, rows = self._stack, self._rows[places]
            for name, tensors in self.state.items():
                put(tensors, rows, take(stack.state[name], places))
            self.steps[rows.to(self.steps.device)] = stack.steps[places.to(stack.device)]

    def _report(self, rows: Tensor) -> None:
        """Hand those who are done to whoever wants them."""
        if self._plan.when_done is None or not len(rows):
            return
        params, buffers, masks = (take(kept, rows) for kept in (self.params, self.buffers, self.masks))
        recompute_stacked(self._network, params, buffers, self._plan.train.x, batch_size=512)
        self._plan.when_done(Done(self.members[rows], params, buffers, masks, self._history))

    def _message(self, epoch: int, values: dict[str, Tensor], live: Tensor) -> str:
        """Return the epoch and what the members score in the mean: the metrics, or the loss if there are none."""
        names = [name for name in values if name in self._plan.metrics] or list(values)[-1:]
        scores = [f"{name.replace('_', ' ')} {values[name][live].nanmean():.3f}" for name in names]
        return ", ".join([f"epoch {epoch + 1}/{self._plan.epochs}", *scores])
