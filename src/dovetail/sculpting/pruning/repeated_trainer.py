"""A trainer of a stack of perceptrons, again and again: the same data and settings, other weights and masks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ...data.split import Split
from ...population.optim import Adam, UpdateTensors, mask_patterns, step_sizes, update_rule
from ...population.order import epoch_orders
from ...population.random import Noise, hash64, keys_at, member_keys
from ...population.trace import Captured
from .perceptrons import Perceptrons

_AT_ONCE = 4 * 2**20
"""Numbers that are gathered, or drawn as orders and noise, at once: whole epochs of small data, batches of large."""

_MEASURE = 64 * 2**20
"""Numbers in the widest activations of a pass over the validation data."""


@dataclass(frozen=True)
class TrainingSettings:
    """How every training of a trainer goes.

    Attributes
    ----------
    epochs, batch_size : int
        Passes over the data, samples per step.
    optimizer : Adam
        Begins afresh in every training.
    noise : float
        Standard deviation of what is added to training inputs, drawn anew for every sample and epoch.
    """

    epochs: int
    batch_size: int
    optimizer: Adam
    noise: float = 0.0


class Best(NamedTuple):
    """What each member scored on the validation split in its best epoch.

    Attributes
    ----------
    wrong : Tensor
        Bits (or classes) it got wrong, ``[members]``.
    loss : Tensor
        Its mean loss.
    """

    wrong: Tensor
    loss: Tensor


class RepeatedTrainer:
    """Trains one stack in place, as often as it is called.

    Every training ends with the weights of the epoch with the fewest errors on ``val`` and, among those, the lowest
    loss; where a single batch holds all samples of ``val``, the last of them, as in the program of the paper. Members
    with equal seeds see their samples in the same order and with the same noise.

    Parameters
    ----------
    stack : Perceptrons
        Whose ``values`` and ``kept`` may be changed in place between trainings.
    seeds : sequence of int
        One per member.
    train, val : Split
        On the device of the stack; inputs ``[samples, inputs]``.
    how : TrainingSettings
        Settings.
    """

    def __init__(
        self, stack: Perceptrons, seeds: list[int], train: Split, val: Split, how: TrainingSettings
    ) -> None:
        self.stack, self._train, self._val, self._how = stack, train, val, how
        self._seeds = list(dict.fromkeys(seeds))
        self._seed_of = torch.tensor([self._seeds.index(s) for s in seeds], device=stack.values.device)
        values = stack.values
        self._gradient = torch.zeros_like(values)
        self._pattern = mask_patterns({"": stack.kept}, {"": values})[""]
        self._kept_values = values.clone()
        self._wrong = torch.zeros(len(stack), dtype=torch.int64, device=values.device)
        self._loss = values.new_zeros(len(stack))
        self._row = torch.zeros(1, dtype=torch.int64, device=values.device)  # of the epochs drawn ahead
        # Noise as large as a few epochs of small data is drawn ahead; that of large data, with each batch.
        drawn = how.noise > 0 and train.x.numel() <= _AT_ONCE
        numbers = len(self._seeds) * (train.x.numel() if drawn else len(train))
        self._ahead = min(how.epochs, max(1, _AT_ONCE // numbers))
        shape = (self._ahead, len(self._seeds), len(train))
        self._orders = torch.zeros(shape, dtype=torch.int64, device=values.device)
        self._keys = self._orders.new_zeros(shape[:2])
        self._noise = values.new_zeros(*shape, train.x.shape[1]) if drawn else None
        tensors = UpdateTensors(
            [values],
            [self._pattern],
            [[torch.zeros_like(values)] for _ in how.optimizer.state_names],
            torch.zeros(len(stack), dtype=torch.int64, device=values.device),
            step_sizes(how.optimizer, len(stack)),
        )
        self._update = update_rule(how.optimizer, tensors, skipping=False)
        self._run_epoch = Captured(self._one_epoch, values.device)

    @torch.no_grad()
    def train(self, stream: int) -> Best:
        """Train all members from their present weights and keep their best epochs."""
        stack = self.stack
        stack.clear()
        self._pattern.copy_(mask_patterns({"": stack.kept}, {"": stack.values})[""])
        self._update.restart()
        keys = member_keys(self._seeds, stream, stack.values.device)
        self._wrong.fill_(torch.iinfo(torch.int64).max)
        self._loss.fill_(torch.inf)
        self._kept_values.copy_(stack.values)
        for epoch in range(self._how.epochs):
            if epoch % self._ahead == 0:
                self._draw(keys, epoch)
            self._run_epoch()
        stack.values.copy_(self._kept_values)
        return Best(self._wrong.clone(), self._loss.clone())

    def close(self) -> None:
        """Give the captured graph and its memory back now; it holds this object, and this object holds it."""
        self.__dict__.pop("_run_epoch", None)

    def _draw(self, keys: Tensor, first: int) -> None:
        """Draw the orders and the noise of the next epochs."""
        self._row.zero_()
        x = self._train.x
        epochs = range(first, min(first + self._ahead, self._how.epochs))
        self._orders[: len(epochs)] = epoch_orders(keys, epochs, len(x)).transpose(0, 1)
        now = keys_at(keys.unsqueeze(1), torch.tensor(epochs, device=keys.device))
        self._keys[: len(epochs)] = now.transpose(0, 1)
        if self._noise is not None:
            noise = Noise(now).normal(x, x.shape)
            self._noise[: len(epochs)] = noise.mul_(self._how.noise).transpose(0, 1)

    def _noise_of_epoch(self, starts: range) -> Callable[[Tensor, int], Tensor]:
        """Return what adds this epoch's noise to the samples from the n-th start on."""
        if not self._how.noise:
            return lambda x, _: x
        if self._noise is not None:
            drawn = self._noise.index_select(0, self._row)[0].split(starts.step, 1)
            return lambda x, place: x + drawn[place]
        # The keys of all batches in one go: hashed one by one they would be a dozen small kernels for each.
        places = torch.arange(starts.start, starts.stop, starts.step, device=self._keys.device)
        keys = hash64(self._keys.index_select(0, self._row) + places.unsqueeze(1) + 1)
        return lambda x, place: torch.add(x, Noise(keys[place]).normal(x, x.shape[1:]), alpha=self._how.noise)

    def _one_epoch(self) -> None:
        how, stack = self._how, self.stack
        samples = len(self._train)
        order = self._orders.index_select(0, self._row)[0]
        small = len(stack) * samples * (stack.widths[0] + stack.widths[-1]) <= _AT_ONCE
        span = samples if small else how.batch_size
        starts = range(0, samples, span)
        add_noise = self._noise_of_epoch(starts)
        for place, start in enumerate(starts):
            rows = order[:, start : start + span]
            x, y = add_noise(self._train.x[rows], place), self._train.y[rows]
            if len(self._seeds) < len(stack):
                x, y = x[self._seed_of], y[self._seed_of]
            for first in range(0, x.shape[1], how.batch_size):
                batch = slice(first, first + how.batch_size)
                stack.gradients(x[:, batch], y[:, batch], self._gradient)
                self._update.step([self._gradient], None)
        self._keep_better()
        self._row.add_(1)

    def _keep_better(self) -> None:
        wrong, loss = measured(self.stack, self._val)
        better_loss = loss < self._loss if self._how.batch_size < len(self._val) else torch.isfinite(loss)
        better = (wrong < self._wrong) | ((wrong == self._wrong) & better_loss)
        for kept, present in ((self._wrong, wrong), (self._loss, loss)):
            kept.copy_(torch.where(better, present, kept))
        self._kept_values.copy_(torch.where(better.unsqueeze(1), self.stack.values, self._kept_values))


def measured(stack: Perceptrons, split: Split) -> tuple[Tensor, Tensor]:
    """Return errors and mean losses over a split, in as many passes as memory asks for."""
    samples = len(split)
    at_once = max(64, _MEASURE // (len(stack) * max(stack.widths)))
    if at_once >= samples:
        return stack.measure(split.x, split.y)
    wrong, loss = torch.zeros(len(stack), dtype=torch.int64, device=split.x.device), 0.0 * stack.values[:, 0]
    for start in range(0, samples, at_once):
        x, y = split.x[start : start + at_once], split.y[start : start + at_once]
        errors, mean = stack.measure(x, y)
        wrong, loss = wrong + errors, loss + mean * (len(x) / samples)
    return wrong, loss
