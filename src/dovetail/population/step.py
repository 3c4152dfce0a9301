"""A training step of a stack: batch, forward, backward, optimizer, masks, for all members at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..data.split import Split
from ..errors import TrainingError
from .checks import check_masks
from .clip import clip_gradients
from .feed import feed_of
from .forward import Forward, over_members
from .objectives import Objective, one_per_sample, per_member_names, with_per_member
from .optim import Optimizer, UpdateTensors, clear_masked_, mask_patterns, update_rule
from .order import Batches, Order
from .random import Noise, keys_at
from .schedules import Schedule, ScheduledSizes
from .stack import Tensors, rows_of, take
from .trace import Captured, traced

_AUGMENT_CLOCK = 1 << 62
"""Keeps augmentation's noise apart from dropout's: steps never count this far."""

Penalty = Callable[..., Tensor]
"""``(stacked parameters, **per_member) -> [members]``: added to the loss."""

Augment = Callable[[Tensor, Noise], Tensor]
"""``(inputs [members, batch, ...], noise) -> inputs``: changes training inputs; noise is drawn per member."""


@dataclass
class Stack:
    """Everything about a fit that each member has its own of.

    Attributes
    ----------
    members, keys, sizes
        Their places in the population, the keys of their noise, their step sizes.
    params, buffers, masks, state
        Their tensors, and those of the optimizer by its `state_names`.
    per_member, targets, val_targets, subsets
        What was given for each member, as in `Population.fit`.
    weights, val_weights : Tensor or None
        Weights of samples: ``[samples]`` for all members alike, or ``[members, samples]``.
    steps : Tensor
        How many steps each has taken.
    """

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
    weights: Tensor | None = None
    val_weights: Tensor | None = None
    state: dict[str, Tensors] = field(default_factory=dict)
    steps: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.steps = torch.zeros_like(self.keys)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def device(self) -> torch.device:
        """Where the stack trains."""
        return self.keys.device

    def select(self, rows: Tensor) -> Stack:
        """Return the stack of some of its members."""
        on_device = rows.to(self.device)
        chosen = Stack(
            members=self.members[rows],
            keys=self.keys[on_device],
            sizes=[self.sizes[row] for row in rows.tolist()],
            params=take(self.params, rows, self.device),
            buffers=take(self.buffers, rows, self.device),
            masks=take(self.masks, rows, self.device),
            per_member=take(self.per_member, rows),
            targets=None if self.targets is None else self.targets[on_device],
            val_targets=None if self.val_targets is None else self.val_targets[on_device],
            subsets=None if self.subsets is None else [self.subsets[row] for row in rows.tolist()],
            weights=_of_members(self.weights, on_device),
            val_weights=_of_members(self.val_weights, on_device),
            state={name: take(tensors, rows, self.device) for name, tensors in self.state.items()},
        )
        chosen.steps = self.steps[on_device]
        return chosen


def _of_members(weights: Tensor | None, rows: Tensor) -> Tensor | None:
    return weights if weights is None or weights.dim() == 1 else weights[rows]


@dataclass(frozen=True)
class StepContext:
    """What a callback after a step sees of the stack in training.

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


@dataclass
class _BatchSize:
    """The steps of one batch size: fixed places for their sample numbers, and the captured step."""

    index: Tensor
    weight: Tensor | None
    step: Captured


class TrainingStep:
    """Trains a stack in place, one epoch's batches at a time.

    Parameters
    ----------
    network : nn.Module
        The networks' code.
    stack : Stack
        The members; their parameters, buffers and optimizer's tensors are changed in place.
    train : Split
        Training data: targets on the device, inputs there too unless they are streamed.
    batch_size, objective, optimizer, penalty, augment, clip_gradient
        As in `Population.fit`.
    schedule : Schedule or None
        How step sizes change over the epochs.
    epochs : int
        How many epochs that is over.
    autocast : torch.dtype or None
        In which type layers compute, if not in that of the weights.
    streamed : bool
        Whether inputs are brought to the device step by step.

    Attributes
    ----------
    patterns : dict of str to Tensor
        The stack's masks as the step applies them (see `optim`); may be changed in place between steps.
    """

    def __init__(
        self,
        network: nn.Module,
        stack: Stack,
        train: Split,
        *,
        batch_size: int,
        objective: Objective,
        optimizer: Optimizer,
        penalty: Penalty | None = None,
        augment: Augment | None = None,
        clip_gradient: float | None = None,
        schedule: Schedule | None = None,
        epochs: int = 1,
        autocast: torch.dtype | None = None,
        streamed: bool = False,
    ) -> None:
        self._forward = Forward(network, "train", autocast=autocast)
        self._stack, self._train = stack, train
        self._dtype = next(iter(stack.params.values())).dtype
        self._objective = with_per_member(objective, stack.per_member)
        self._penalty, self._augment, self._clip = penalty, augment, clip_gradient
        self._penalty_takes = [] if penalty is None else per_member_names(penalty, stack.per_member)
        self._order = Order(stack.keys, len(train), batch_size, stack.subsets)
        self._feed = feed_of(train.x, self._order, stack.device, streamed=streamed)
        self._weighted = stack.subsets is not None or stack.weights is not None
        self._skips = stack.subsets is not None or (
            stack.weights is not None and not bool(stack.weights.all())
        )
        self.patterns = mask_patterns(stack.masks, stack.params)
        names = list(stack.params)
        self._sizes_now = None
        if schedule is not None:
            own_steps = self._order.own_steps
            self._sizes_now = ScheduledSizes(schedule, stack.sizes, own_steps, epochs, stack.device)
        tensors = UpdateTensors(
            [stack.params[name] for name in names],
            [self.patterns.get(name) for name in names],
            [[each[name] for name in names] for each in stack.state.values()],
            stack.steps,
            stack.sizes,
            None if self._sizes_now is None else self._sizes_now.now,
        )
        self._update = update_rule(optimizer, tensors, skipping=self._skips)
        self._gradients = traced(self._loss_and_gradients)
        self._sizes: dict[int, _BatchSize] = {}
        self._pool = torch.cuda.graph_pool_handle() if stack.device.type == "cuda" else None
        self._cursor = torch.zeros(1, dtype=torch.int64, device=stack.device)
        self._loss_sum = torch.zeros(len(stack), dtype=torch.float64, device=stack.device)
        self._count = torch.zeros(len(stack), dtype=torch.float64, device=stack.device)

    @property
    def steps_per_epoch(self) -> int:
        """Steps in an epoch."""
        return self._order.steps

    def epoch(self, epoch: int, after_step: Callable[[], None] | None) -> Tensor:
        """Train one epoch; return each member's mean loss over it."""
        self._loss_sum.zero_()
        self._count.zero_()
        if self._sizes_now is not None:
            self._sizes_now.begin(epoch)
        for batches in self._order.epoch(epoch):
            size = self._batch_size(batches)
            self._cursor.zero_()
            for _ in self._feed.steps(batches):
                size.step()
                if after_step is not None:
                    after_step()
            if not self._weighted:
                self._count.add_(batches.steps * batches.index.shape[2])
        return self._loss_sum / self._count

    def close(self) -> None:
        """Give captured graphs and their memory back now; they hold this object, and it holds them."""
        self._feed.close()
        self._sizes.clear()
        self.__dict__.pop("_gradients", None)

    def _batch_size(self, batches: Batches) -> _BatchSize:
        """Return the steps of this batch size, with the epoch's batches put in their places."""
        samples = batches.index.shape[2]
        if samples not in self._sizes:
            step = Captured(lambda: self._step(self._sizes[samples]), self._stack.device, self._pool)
            size = self._sizes[samples] = _BatchSize(batches.index, batches.weight, step)
        else:
            size = self._sizes[samples]
            size.index.copy_(batches.index)
            if size.weight is not None and batches.weight is not None:
                size.weight.copy_(batches.weight)
        return size

    @torch.no_grad()
    def _step(self, size: _BatchSize) -> None:
        x, y, weight = self._batch(size)
        stack = self._stack
        noise = (stack.keys, stack.steps)  # by each member's own steps: others may skip some or leave
        patterns = {} if self._clip is None else self.patterns
        loss, gradients = self._gradients(
            stack.params, stack.buffers, x, y, weight, noise, stack.per_member, patterns
        )
        if self._sizes_now is not None:
            self._sizes_now.advance()
        if weight is None:
            self._update.step(gradients, None)
            self._loss_sum.add_(loss, alpha=size.index.shape[2])
        else:
            total = weight.sum(1)
            self._update.step(gradients, total > 0 if self._skips else None)
            self._loss_sum.add_(loss * total)
            self._count.add_(total)
        self._cursor.add_(1)

    def _batch(self, size: _BatchSize) -> tuple[Tensor, Tensor, Tensor | None]:
        """Gather this step's inputs and targets: per member, or one batch for all who share it."""
        stack = self._stack
        index = self._order.for_members(size.index.index_select(0, self._cursor).squeeze(0))
        x = self._feed.inputs(index, self._cursor).to(self._dtype)
        if self._augment is not None:
            if self._order.shared:
                x = x.expand(len(stack), *x.shape)
            given = x.shape[:2]
            x = self._augment(x, Noise(keys_at(stack.keys, stack.steps + _AUGMENT_CLOCK)))
            if tuple(getattr(x, "shape", ()))[:2] != tuple(given):
                raise TrainingError(
                    f"augment changes the inputs of {given[0]} networks, {given[1]} samples each, [networks, samples, "
                    f"...], and gives as many; it gave {list(getattr(x, 'shape', [])) or type(x).__name__}"
                )
        y = self._train.y[index] if stack.targets is None else self._own(stack.targets, index)
        return x, y, self._weight(size, index) if self._weighted else None

    def _own(self, of_members: Tensor, index: Tensor) -> Tensor:
        """Gather what each member has of its own, ``[members, samples, ...]``, for the samples of this step."""
        if self._order.shared:
            return of_members[:, index]
        member = torch.arange(len(of_members), device=index.device).unsqueeze(1)
        # What all share is one, expanded: its rows would be copied for each every time.
        if not of_members.is_contiguous():
            return of_members[member, index]
        return rows_of(of_members.flatten(0, 1), index + member * of_members.shape[1])

    def _weight(self, size: _BatchSize, index: Tensor) -> Tensor:
        """Return how much each sample of this step counts, ``[members, batch]``: a fill nothing."""
        counts, weights = size.weight, self._stack.weights
        filled = None if counts is None else counts.index_select(0, self._cursor).squeeze(0)
        if weights is None:
            assert filled is not None
            return filled
        own = weights[index] if weights.dim() == 1 else self._own(weights, index)
        own = own.expand(len(self._stack), -1)
        return own if filled is None else own * filled

    def _loss_and_gradients(
        self,
        params: Tensors,
        buffers: Tensors,
        x: Tensor,
        y: Tensor,
        weight: Tensor | None,
        noise: tuple[Tensor, Tensor],
        per_member: Tensors,
        patterns: Tensors,
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
            logits = self._forward(params, buffers, x, key)
            losses = one_per_sample(self._objective(logits, y, per_member), len(logits), "the objective")
            if weight is None:
                return losses.mean()
            # Chosen, not only multiplied: a loss that does not count may be NaN. Nothing by nothing is nothing.
            total = weight.sum()
            counted = torch.where(weight > 0, losses, 0) * weight
            return counted.sum() / torch.where(total > 0, total, 1)

        own_x = 0 if self._augment is not None or not self._order.shared else None
        own_y = 0 if self._stack.targets is not None or not self._order.shared else None
        in_dims = (0, 0, own_x, own_y, None if weight is None else 0, 0, 0)
        keys = keys_at(*noise)  # in here, so that a network without noise does not pay for it
        with torch.enable_grad():
            leaves = {name: param.detach().requires_grad_() for name, param in params.items()}
            mapped = over_members(one, len(keys), in_dims, device=keys.device)
            loss = mapped(leaves, buffers, x, y, weight, keys, per_member)
            total = loss.sum()
            if self._penalty is not None:
                values = {name: per_member[name] for name in self._penalty_takes}
                total = total + self._penalty(leaves, **values).sum()
            gradients = torch.autograd.grad(total, list(leaves.values()), materialize_grads=True)
        if self._clip is not None:
            named = dict(zip(leaves, gradients, strict=True))
            gradients = tuple(clip_gradients(named, self._clip, patterns).values())
        return loss.detach(), gradients
