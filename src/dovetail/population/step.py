"""The training step of a stack: batch, forward, backward, optimizer, masks, for all members at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..data.dataset import Split
from .forward import member_forward
from .mapping import over_members
from .objectives import one_per_sample, per_member_names, with_per_member
from .optim import UpdateTensors, mask_patterns, update_rule
from .order import Batches, Order
from .plan import Stack, Training
from .random import Noise, keys_at
from .stack import Tensors
from .trace import Captured, traced

_AUGMENT_CLOCK = 1 << 62
"""Keeps augmentation's noise apart from dropout's: steps never count this far."""


@dataclass
class Lane:
    """The steps of one batch size: fixed places for their indices, and the captured step."""

    index: Tensor
    weight: Tensor | None
    step: Captured


def _step_tensors(stack: Stack, patterns: Tensors) -> UpdateTensors:
    names = list(stack.params)
    return UpdateTensors(
        [stack.params[name] for name in names],
        [patterns.get(name) for name in names],
        [[moment[name] for name in names] for moment in stack.state.values()],
        stack.steps,
        stack.sizes,
    )


class StackStep:
    """Trains a stack in place, one epoch's batches at a time.

    Parameters
    ----------
    template : nn.Module
        The networks' code.
    stack : Stack
        The members; their parameters, buffers and optimizer's tensors are changed in place.
    training : Training
        What is done to them.
    train : Split
        Training data, on the device.

    Attributes
    ----------
    patterns : dict of str to Tensor
        The stack's masks as the step applies them (see `masking`); may be changed in place between steps.
    """

    def __init__(self, template: nn.Module, stack: Stack, training: Training, train: Split) -> None:
        self._template, self._stack, self._train = template, stack, train
        self._objective = with_per_member(training.objective, stack.per_member)
        self._penalty, self._augment = training.penalty, training.augment
        self._penalty_takes = (
            [] if self._penalty is None else per_member_names(self._penalty, stack.per_member)
        )
        self._order = Order(stack.keys, len(train), training.batch_size, stack.subsets)
        self.patterns = mask_patterns(stack.masks, stack.params)
        self._update = update_rule(
            training.optimizer, _step_tensors(stack, self.patterns), skipping=stack.subsets is not None
        )
        self._gradients = traced(self._loss_and_gradients)
        self._lanes: dict[int, Lane] = {}
        self._pool = torch.cuda.graph_pool_handle() if stack.keys.is_cuda else None
        self._device = stack.keys.device
        self._cursor = torch.zeros(1, dtype=torch.int64, device=self._device)
        self._loss_sum = torch.zeros(len(stack.keys), dtype=torch.float64, device=self._device)
        self._count = torch.zeros(len(stack.keys), dtype=torch.float64, device=self._device)

    @property
    def steps_per_epoch(self) -> int:
        """Steps in an epoch."""
        return self._order.steps

    def epoch(self, epoch: int, after_step: Callable[[], None] | None) -> Tensor:
        """Train one epoch; return each member's mean loss over it."""
        self._template.train()
        self._loss_sum.zero_()
        self._count.zero_()
        for batches in self._order.epoch(epoch):
            lane = self._lane(batches)
            self._cursor.zero_()
            for _ in range(batches.steps):
                lane.step()
                if after_step is not None:
                    after_step()
            if batches.weight is None:
                self._count.add_(batches.steps * batches.index.shape[2])
        return self._loss_sum / self._count

    def close(self) -> None:
        """Give captured graphs and their memory back now; they hold this object, and it holds them."""
        self._lanes.clear()
        self.__dict__.pop("_gradients", None)

    def _lane(self, batches: Batches) -> Lane:
        """Return the lane for this batch size, with the epoch's batches put in their places."""
        size = batches.index.shape[2]
        if size not in self._lanes:
            step = Captured(lambda: self._step(self._lanes[size]), self._device, self._pool)
            lane = self._lanes[size] = Lane(batches.index, batches.weight, step)
        else:
            lane = self._lanes[size]
            lane.index.copy_(batches.index)
            if lane.weight is not None and batches.weight is not None:
                lane.weight.copy_(batches.weight)
        return lane

    @torch.no_grad()
    def _step(self, lane: Lane) -> None:
        x, y, weight = self._batch(lane)
        stack = self._stack
        noise = (stack.keys, stack.steps)  # by each member's own steps: others may skip some or leave
        loss, gradients = self._gradients(stack.params, stack.buffers, x, y, weight, noise, stack.per_member)
        if weight is None:
            self._update.step(gradients, None)
            self._loss_sum.add_(loss, alpha=lane.index.shape[2])
        else:
            samples = weight.sum(1)
            self._update.step(gradients, samples > 0)
            self._loss_sum.add_(loss * samples)
            self._count.add_(samples)
        self._cursor.add_(1)

    def _batch(self, lane: Lane) -> tuple[Tensor, Tensor, Tensor | None]:
        """Gather this step's inputs and targets: per member, or one batch for all who share it."""
        index = lane.index.index_select(0, self._cursor).squeeze(0)
        if self._order.shared:
            index = index.squeeze(0)
        elif self._order.of_member is not None:
            index = index[self._order.of_member]
        x = self._train.x[index]
        if self._augment is not None:
            if self._order.shared:
                x = x.expand(len(self._stack.keys), *x.shape)
            x = self._augment(x, Noise(keys_at(self._stack.keys, self._stack.steps + _AUGMENT_CLOCK)))
        if self._stack.targets is None:
            y = self._train.y[index]
        elif self._order.shared:
            y = self._stack.targets[:, index]
        else:
            y = self._stack.targets[
                torch.arange(len(self._stack.keys), device=self._device).unsqueeze(1), index
            ]
        weight = None if lane.weight is None else lane.weight.index_select(0, self._cursor).squeeze(0)
        return x, y, weight

    def _loss_and_gradients(
        self,
        params: Tensors,
        buffers: Tensors,
        x: Tensor,
        y: Tensor,
        weight: Tensor | None,
        noise: tuple[Tensor, Tensor],
        per_member: Tensors,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        def one(
            params: Tensors,
            buffers: Tensors,
            x: Tensor,
            y: Tensor,
            weight: Tensor | None,
            key: Tensor,
            per_member: Tensors,
        ) -> Tensor:
            logits = member_forward(self._template, params, buffers, x, key)
            losses = one_per_sample(self._objective(logits, y, per_member), len(logits), "the objective")
            if weight is None:
                return losses.mean()
            return torch.where(weight > 0, losses, 0).sum() / weight.sum().clamp(min=1)

        shared_x = self._order.shared and self._augment is None
        shared_y = self._order.shared and self._stack.targets is None
        in_dims = (
            0,
            0,
            None if shared_x else 0,
            None if shared_y else 0,
            None if weight is None else 0,
            0,
            0,
        )
        keys = keys_at(*noise)  # in here, so that a network without noise does not pay for it
        with torch.enable_grad():
            leaves = {name: param.detach().requires_grad_() for name, param in params.items()}
            mapped = over_members(one, len(keys), in_dims)
            loss = mapped(leaves, buffers, x, y, weight, keys, per_member)
            total = loss.sum()
            if self._penalty is not None:
                taken = {name: per_member[name] for name in self._penalty_takes}
                total = total + self._penalty(leaves, **taken).sum()
            gradients = torch.autograd.grad(total, list(leaves.values()), materialize_grads=True)
        return loss.detach(), gradients
