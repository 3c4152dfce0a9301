"""The training step of a stack: batch, forward, backward, optimiser, masks, for all members at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import vmap

from ..data.dataset import Split
from .forward import member_forward
from .graph import Captured, traced
from .noise import Noise, keys_at
from .objectives import Objective, with_own
from .order import Batches, Order
from .stack import Tensors
from .steppers import Stepper

Penalty = Callable[[Mapping[str, Tensor]], Tensor]
"""``(stacked parameters) -> [members]``: added to the loss."""

Augment = Callable[[Tensor, Noise], Tensor]
"""``(inputs [members, batch, ...], noise) -> inputs``: changes training inputs; noise draws are per member."""

_AUGMENT_CLOCK = 1 << 62
"""Keeps augmentation's noise apart from dropout's: steps never count this far."""


@dataclass
class Lane:
    """The steps of one batch size: fixed places for their indices, and the captured step."""

    index: Tensor
    weight: Tensor | None
    step: Captured


class StackStep:
    """Trains a stack in place, one epoch's batches at a time.

    Parameters
    ----------
    template : nn.Module
        The networks' code.
    params, buffers : dict of str to Tensor
        Stacked tensors, changed in place.
    own : dict of str to Tensor
        The members' own parameters of the objective.
    targets : Tensor or None
        The members' own targets ``[members, samples, ...]``, instead of the split's.
    keys : Tensor
        The members' keys.
    train : Split
        Training data, on the device.
    order : Order
        Which samples when.
    stepper : Stepper
        The optimiser, which also applies the masks.
    objective, penalty, augment
        What is minimised, and what is done to inputs.
    steps_before : int
        Steps taken in this fit so far.
    """

    def __init__(
        self,
        template: nn.Module,
        params: Tensors,
        buffers: Tensors,
        own: Tensors,
        targets: Tensor | None,
        keys: Tensor,
        train: Split,
        order: Order,
        stepper: Stepper,
        objective: Objective,
        penalty: Penalty | None,
        augment: Augment | None,
        steps_before: int,
    ) -> None:
        self._template, self._objective = template, with_own(objective, own)
        self._params, self._buffers, self._own = params, buffers, own
        self._targets, self._keys, self._train, self._order = targets, keys, train, order
        self._stepper, self._penalty, self._augment = stepper, penalty, augment
        self._gradients = traced(self._loss_and_gradients)
        self._lanes: dict[int, Lane] = {}
        self._device = keys.device
        # Where in the epoch's batches, and how many steps in all: one tensor, so that one kernel advances both.
        self._place = torch.tensor([0, steps_before], dtype=torch.int64, device=self._device)
        self._cursor, self._clock = self._place[:1], self._place[1]
        self._loss_sum = torch.zeros(len(keys), dtype=torch.float64, device=self._device)
        self._count = torch.zeros(len(keys), dtype=torch.float64, device=self._device)

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

    def _lane(self, batches: Batches) -> Lane:
        """Return the lane for this batch size, with the epoch's batches put in their places."""
        size = batches.index.shape[2]
        if size not in self._lanes:
            lane = Lane(
                batches.index, batches.weight, Captured(lambda: self._step(self._lanes[size]), self._device)
            )
            self._lanes[size] = lane
        else:
            lane = self._lanes[size]
            lane.index.copy_(batches.index)
            if lane.weight is not None and batches.weight is not None:
                lane.weight.copy_(batches.weight)
        return lane

    @torch.no_grad()
    def _step(self, lane: Lane) -> None:
        x, y, weight = self._batch(lane)
        noise = (self._keys, self._clock)
        loss, gradients = self._gradients(self._params, self._buffers, x, y, weight, noise, self._own)
        if weight is None:
            self._stepper.step(gradients, None)
            self._loss_sum.add_(loss, alpha=lane.index.shape[2])
        else:
            samples = weight.sum(1)
            self._stepper.step(gradients, samples > 0)
            self._loss_sum.add_(loss * samples)
            self._count.add_(samples)
        self._place.add_(1)

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
                x = x.expand(len(self._keys), *x.shape)
            x = self._augment(x, Noise(keys_at(self._keys, self._clock + _AUGMENT_CLOCK)))
        if self._targets is None:
            y = self._train.y[index]
        elif self._order.shared:
            y = self._targets[:, index]
        else:
            y = self._targets[torch.arange(len(self._keys), device=self._device).unsqueeze(1), index]
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
        own: Tensors,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        def one(
            params: Tensors,
            buffers: Tensors,
            x: Tensor,
            y: Tensor,
            weight: Tensor | None,
            key: Tensor,
            own: Tensors,
        ) -> Tensor:
            losses = self._objective(member_forward(self._template, params, buffers, x, key), y, own)
            return losses.mean() if weight is None else (losses * weight).sum() / weight.sum().clamp(min=1)

        shared_x = self._order.shared and self._augment is None
        shared_y = self._order.shared and self._targets is None
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
            loss: Tensor = vmap(one, in_dims, randomness="different")(
                leaves, buffers, x, y, weight, keys, own
            )
            total = loss.sum() if self._penalty is None else loss.sum() + self._penalty(leaves).sum()
            gradients = torch.autograd.grad(total, list(leaves.values()), materialize_grads=True)
        return loss.detach(), gradients
