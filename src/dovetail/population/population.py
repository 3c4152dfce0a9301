"""A population: many networks of one architecture, trained and measured together."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Self

import torch
from torch import Tensor, nn

from ..data.dataset import Dataset
from ..data.split import Split, Task
from ..errors import ShapeError, TrainingError, unknown_name
from ..prune import apply_masks_, rewind
from .batch_norm import has_batch_norm, recompute_stacked
from .checks import (
    check_autocast,
    check_clip_gradient,
    check_count,
    check_device,
    check_feed,
    check_fit,
    check_fits_outputs,
    check_label_smoothing,
    check_masks,
    check_member_values,
    check_metrics,
    check_per_member,
    check_schedule,
    check_seeds,
    check_split,
    check_subsets,
    check_targets,
    check_task,
    check_weights,
)
from .evaluate import Evaluator, Scores, predict
from .feed import FeedName
from .fit import Done, Fit, FitPlan, fit_in_parts
from .history import History, Keep
from .memory import (
    MemberCost,
    can_hold,
    evaluated_at_once,
    evaluation_batch,
    measure_cost,
    members_at_once,
    storage_for,
)
from .objectives import ACCURACIES, OBJECTIVES, Objective, smoothed_cross_entropy, task_of
from .optim import Adam, Optimizer, step_sizes
from .optimizer_state import OptimizerState
from .progress import ProgressBar
from .random import member_keys
from .schedules import ScheduleName
from .stack import Tensors, build_seeded, put, stack, take, unstack
from .step import Augment, Penalty, Stack, StepContext


class Population:
    """M networks of one architecture as stacked tensors ``[M, ...]``.

    Networks with the same seed start from the same weights θ0, see their data in the same order and draw the
    same noise. What a member learns depends on its own seed and settings, on who trains beside it only by rounding.

    Networks may be any modules that `torch.func.vmap` can follow: no decisions that depend on values, no
    recurrent layers of torch's, and no random numbers but dropout, `torch.rand_like` and `torch.randn_like`
    in training. Parameters that do not require gradients stay as they are; they are kept with the buffers.

    Parameters
    ----------
    build : callable
        Returns a new network (any `nn.Module` that `torch.func` can call) when called without arguments.
    seeds : sequence of int
        One seed per member.
    device : str or torch.device, optional
        Where the population lives; the first GPU if there is one.
    dtype : torch.dtype
        Type of the weights.

    Attributes
    ----------
    params, buffers : dict of str to Tensor
        The members' tensors, stacked.
    initial : dict of str to Tensor
        The parameters at the start, θ0, stacked.
    masks : dict of str to Tensor
        0/1 tensors, stacked, for the parameters that are masked; see `set_masks`.
    storage_device : torch.device
        Where these tensors are kept: ``device``, or main memory when they would fill the device's.
    task : {"classes", "bits", "values"} or None
        What the targets of the last fit were; `evaluate` takes those of a split for the same.

    Examples
    --------
    >>> import dovetail as dt
    >>> from dovetail.nets import net_builder
    >>> data = dt.load("digits")
    >>> population = dt.Population(net_builder("mlp:32", data.input_shape, data.outputs), seeds=[0, 1, 2])
    >>> history = population.fit(data, epochs=10, progress=False)
    >>> bool(population.evaluate(data.test)["accuracy"].min() > 0.8)
    True
    """

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
        self._network = copy.deepcopy(
            networks[0]
        )  # the networks' code, which each `Forward` copies; never run
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
        self.task: Task | None = None
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

    def fit(
        self,
        train: Dataset | Split,
        val: Split | None = None,
        *,
        task: Task | None = None,
        epochs: int = 20,
        batch_size: int = 64,
        optimizer: Optimizer | None = None,
        optimizer_state: OptimizerState | None = None,
        objective: Objective | None = None,
        training_objective: Objective | None = None,
        per_member: Mapping[str, Tensor] | None = None,
        targets: Tensor | None = None,
        val_targets: Tensor | None = None,
        subsets: Sequence[Tensor] | None = None,
        weights: Tensor | None = None,
        val_weights: Tensor | None = None,
        metrics: Mapping[str, Objective] | None = None,
        monitor: str = "loss",
        keep: Keep = "best",
        patience: int | None = None,
        goal: float | None = None,
        penalty: Penalty | None = None,
        augment: Augment | None = None,
        schedule: ScheduleName | None = None,
        warmup: float | int | None = None,
        label_smoothing: float = 0.0,
        clip_gradient: float | None = None,
        autocast: torch.dtype | str | None = None,
        after_step: Callable[[StepContext], None] | None = None,
        when_done: Callable[[Done], None] | None = None,
        stream: int = 0,
        at_once: int | None = None,
        feed: FeedName | None = None,
        progress: bool | str = True,
    ) -> History:
        """Train all members from their present weights, with a fresh optimizer unless told otherwise.

        Every member ends with the weights of its best epoch on ``val`` (of its last epoch if so asked, or without
        ``val``). A fit that is interrupted or fails leaves the members in training as they were.

        Objective, metrics and penalty are traced once, on CUDA ``augment`` too: they may use tensors from
        outside, but Python values in them are fixed from then on.

        Parameters
        ----------
        train : Dataset or Split
            What to train on; a `Dataset` brings its validation split along.
        val : Split, optional
            What to choose the best epoch on.
        task : {"classes", "bits", "values"}, optional
            What targets are, which decides on the default objective and metrics. By default that of the `Dataset`.
            For a split, and for targets of the members' own, it is judged: whole numbers are classes; rows of
            nothing but 0 and 1 are bits; others are values.
        epochs, batch_size : int
            Passes over the data, samples per step. A last, smaller batch counts like in a plain loop.
        optimizer : Adam, AdamW or SGD
            Its step size may differ between members. Default: ``Adam(lr=1e-3)``.
        optimizer_state : OptimizerState, optional
            Go on with what the optimizer had come to in the last fit that was given this, and leave there what it
            comes to.
        objective : callable, optional
            ``objective(logits, target, **per_member) -> [batch]``, for one network: one loss per sample (torch's losses
            give that with ``reduction="none"``). By default cross-entropy for classes, bitwise cross-entropy for bits,
            squared error for values.
        training_objective : callable, optional
            What steps minimise instead, where that is not what is measured: then ``objective`` is for ``val`` alone.
        per_member : mapping, optional
            Each member's values for the objective, the metrics and the penalty, ``{name: [members, ...]}``.
        targets, val_targets : Tensor, optional
            Each member's own targets ``[members, samples, ...]`` instead of those of the split.
        subsets : sequence of Tensor, optional
            The indices of the training samples that each member may see. A member whose subset is smaller
            takes fewer steps in an epoch.
        weights, val_weights : Tensor, optional
            How much each sample counts in the loss of training and of validation: ``[samples]``, or ``[members,
            samples]``. A sample of weight 2 counts as if it were twice in its batch, whose loss is Σ w·loss / Σ w; a
            member skips a batch of nothing but weights 0. Metrics, and the statistics of batch norm, count every
            sample once.
        metrics : mapping, optional
            More functions to record on ``val``, called like the objective; NaN marks samples not counted. By
            default the accuracy where targets are classes or bits.
        monitor : str
            What decides on the best epoch: ``"loss"`` (the lowest) or a metric (the highest).
        keep : {"best", "last"}
            Which epoch's weights a member ends with. ``monitor`` decides on patience and goal all the same.
        patience : int, optional
            Stop a member after this many epochs without a better score. Members that are done leave the stack.
        goal : float, optional
            Stop a member when its score is this good.
        penalty : callable, optional
            ``penalty(params, **per_member) -> [members]``, a function of the stacked parameters, added to the loss.
        augment : callable, optional
            ``augment(x, noise) -> x``, applied to training inputs ``[members, batch, ...]``; `Noise` has an
            example.
        schedule : {"cosine", "linear", "one-cycle"}, optional
            How step sizes change from step to step over all ``epochs``; they are multiples of each member's own.
            ``"cosine"`` and ``"linear"`` fall to 0 as torch's `CosineAnnealingLR` and `LinearLR` do, after a warm-up if
            there is one; ``"one-cycle"`` rises from 1/25 and falls to 1/250,000 as its `OneCycleLR` does (momentum
            stays as it is). By default they stay the same. Every fit goes through it once, with a carried
            ``optimizer_state`` too; a member that stops early does not get to the end of it.
        warmup : float or int, optional
            During which share of all steps (a float, 0.1 say) or how many of them (an int) step sizes rise, evenly and
            from above 0. Default: none; 0.3 for ``"one-cycle"``.
        label_smoothing : float
            Which share of a target is spread over all classes in training, with the default objective for classes,
            as in `torch.nn.CrossEntropyLoss`. The loss on ``val`` is measured without.
        clip_gradient : float, optional
            Shorten a member's gradient to this length if it is longer, over all its parameters and with the penalty's,
            as `torch.nn.utils.clip_grad_norm_` does for one network. Masked weights do not count.
        autocast : {"bfloat16"}, optional
            Compute the layers of a training step in this type where `torch.autocast` does (products and convolutions
            above all), on tensor cores faster and with half the memory. Weights, their gradients, optimizer, losses and
            all that is measured stay in float32. Activations have three digits, so what a member learns is the same
            only to about 1 %, in other company too; where that decides, leave it out.
        after_step : callable, optional
            Called with a `StepContext` after every step; may change the parameters in place and set masks.
        when_done : callable, optional
            Called with `Done` whenever members have trained for the last time, with what is kept of them: the others
            may take hours yet. Where memory turns out to be too small, members train again, and are handed over again.
        stream : int
            Which random stream of the seeds to use; give each round of a procedure its own.
        at_once : int, optional
            How many members to train together; by default as many as the device does well with.
        feed : {"held", "streamed"}, optional
            Hold all training inputs on the device, or let a thread bring them there, some steps ahead, from main memory
            or a file mapped into it. The result is the same. By default held if they fit (`memory` has the rule).
            Inputs keep the type in which they are stored (float16 or bytes, say); each batch is turned into the
            type of the weights.
        progress : bool or str
            Show a progress bar (on terminals only); a text is its title.

        Returns
        -------
        History
            Losses and scores by epoch and member.

        Examples
        --------
        Two networks that differ only in how soft their targets are:

        >>> import dovetail as dt
        >>> import torch.nn.functional as F
        >>> def smoothed(logits, target, softness):
        ...     hard = F.cross_entropy(logits, target, reduction="none")
        ...     return (1 - softness) * hard - softness * F.log_softmax(logits, 1).mean(1)
        >>> data = dt.load("digits")
        >>> pair = dt.Population(dt.net_builder("mlp:32", data.input_shape, data.outputs), seeds=[0, 0])
        >>> softness = torch.tensor([0.0, 0.2])
        >>> pair.fit(data, epochs=3, objective=smoothed, per_member={"softness": softness}, progress=False)
        History(2 members, 3 epochs, train_loss, loss, accuracy, ...)
        """
        begun = time.perf_counter()
        known = None
        if isinstance(train, Dataset):
            train.check_trainable()
            known = train.task if targets is None else None
            val = train.val if val is None else val
            train = train.train
        check_split(train, "training")
        held = can_hold(train.x, self.device) if feed is None else check_feed(feed) == "held"
        train = self._placed(train, held=held)
        val = None if val is None else self._placed(check_split(val, "validation"))
        task = check_task(task, train.y if targets is None else targets) or task_of(
            train.y if targets is None else targets, known
        )
        smoothing = check_label_smoothing(label_smoothing, task, training_objective or objective)
        measured = objective or OBJECTIVES[task]
        minimised = training_objective or (smoothed_cross_entropy(smoothing) if smoothing else measured)
        plan = FitPlan(
            train, val, epochs, batch_size, measured, optimizer or Adam(),
            _metrics_for(task, metrics), monitor, keep, patience, goal, penalty, augment, after_step, when_done,
            not held, minimised, check_schedule(schedule, warmup), check_autocast(autocast, self.dtype),
            check_clip_gradient(clip_gradient),
        )  # fmt: skip
        check_fit(plan, batch_norm=has_batch_norm(self._network), subsets=subsets)
        functions = {"the objective": plan.objective, "the training objective": plan.training_objective}
        check_per_member({**functions, **plan.metrics}, per_member or {}, penalty)
        own_subsets = check_subsets(subsets, len(train), len(self), self.device)
        everyone = Stack(
            torch.arange(len(self)),
            member_keys(self.seeds, stream, self.device),
            step_sizes(plan.optimizer, len(self)),
            self.params,
            self.buffers,
            self.masks if after_step is None else self._whole_masks(),
            check_member_values(per_member or {}, len(self), self.device),
            check_targets(targets, train, len(self), self.device),
            check_targets(val_targets, val, len(self), self.device),
            own_subsets,
            check_weights(weights, train, len(self), self.dtype, own_subsets),
            check_weights(val_weights, val, len(self), self.dtype),
        )
        if optimizer_state is not None:
            optimizer_state.begin(plan.optimizer, self.params)
            everyone.state = optimizer_state.tensors
            everyone.steps = optimizer_state.steps.to(self.device)
        cost = self._cost(train.x)
        if val is not None:
            self._cost(val.x)  # proves that the network takes these inputs
        for used, own_targets in ((train, everyone.targets), (val, everyone.val_targets)):
            if objective is None and used is not None:
                check_fits_outputs(used.y if own_targets is None else own_targets.flatten(0, 1), cost.outputs)
        if at_once is not None:
            check_count("at_once", at_once)
        at_once = at_once or self.trained_at_once(train.x, batch_size=batch_size, optimizer=plan.optimizer)
        names = ["train_loss"] + ([] if val is None else ["loss", *plan.metrics])
        history = History.empty(self.seeds, epochs, names)
        masked_before = set(self.masks)
        self.task = task
        steps = epochs * -(-len(train) // batch_size) * len(self)
        title = progress if isinstance(progress, str) else f"{len(self)} networks"
        with ProgressBar(title, steps, show=bool(progress)) as bar:
            for part in fit_in_parts(self._network, everyone, plan, cost, history, bar, at_once):
                self._take_back(part, train.x, masks_changed=after_step is not None)
                if optimizer_state is not None:
                    optimizer_state.take_back(part.members, part.state, part.steps)
                del part  # the next part needs the room
        self.masks = {
            name: mask for name, mask in self.masks.items() if name in masked_before or not mask.all()
        }
        history.seconds = time.perf_counter() - begun
        return history

    def trained_at_once(self, x: Tensor, *, batch_size: int = 64, optimizer: Optimizer | None = None) -> int:
        """Return how many members `fit` trains together by default: as many as the device does well with."""
        tensors = len((optimizer or Adam()).state_names)
        return members_at_once(self._cost(x), batch_size, tensors, self.device)

    def __call__(self, x: Tensor) -> Tensor:
        """Return every member's outputs for the same inputs, ``[members, samples, outputs]``."""
        cost = self._cost(x)
        batch = evaluation_batch(cost, len(self), self.device)
        parts = self._parts(cost, batch)
        return torch.cat([predict(self._network, params, buffers, x, batch) for _, params, buffers in parts])

    def evaluate(
        self,
        split: Split,
        *,
        task: Task | None = None,
        objective: Objective | None = None,
        metrics: Mapping[str, Objective] | None = None,
        per_member: Mapping[str, Tensor] | None = None,
    ) -> Scores:
        """Measure every member on a split.

        Parameters
        ----------
        split : Split
            What to measure on.
        task : {"classes", "bits", "values"}, optional
            What targets are. By default what they were in the last fit; before any fit they are judged as in `fit`.
        objective : callable, optional
            The loss; by default the one that fits the task (see `fit`).
        metrics : mapping, optional
            More functions to average, by name; by default the accuracy where targets are classes or bits.
        per_member : mapping, optional
            The members' values for these functions, ``{name: [members, ...]}``.

        Returns
        -------
        Scores
            ``"loss"`` and each metric, one value per member.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> population = dt.Population(dt.net_builder("mlp:8", data.input_shape, data.outputs), seeds=[0, 1])
        >>> list(population.evaluate(data.test).values)
        ['loss', 'accuracy']
        """
        split = self._placed(check_split(split, "given"))
        task = check_task(task, split.y) or task_of(split.y, self.task)
        functions = {"loss": objective or OBJECTIVES[task], **_metrics_for(task, metrics)}
        check_per_member(functions, per_member or {})
        cost = self._cost(split.x)
        if objective is None:
            check_fits_outputs(split.y, cost.outputs)
        evaluator = Evaluator(self._network, functions, evaluation_batch(cost, len(self), self.device))
        per_member = check_member_values(per_member or {}, len(self), self.device)
        parts = [
            evaluator(params, buffers, split, take(per_member, members))
            for members, params, buffers in self._parts(cost, evaluator.batch_size)
        ]
        values = {name: torch.cat([part[name] for part in parts]) for name in functions}
        return Scores({name: value.cpu() for name, value in values.items()}, self.seeds)

    def recompute_batch_norm(self, x: Tensor, *, batch_size: int = 512) -> Self:
        """Recompute every member's batch-norm statistics from the same inputs (`recompute_batch_norm`)."""
        for members, params, buffers in self._parts(self._cost(x), batch_size):
            recompute_stacked(self._network, params, buffers, x, batch_size)
            if self.storage_device != self.device:
                put(self.buffers, members, buffers)
        return self

    def _take_back(self, fit: Fit, x: Tensor, *, masks_changed: bool) -> None:
        """Take trained members back in, with batch-norm statistics from the whole training data."""
        recompute_stacked(self._network, fit.params, fit.buffers, x, batch_size=512)
        put(self.params, fit.members, fit.params)
        put(self.buffers, fit.members, fit.buffers)
        if masks_changed:
            self.masks = self._whole_masks()
            put(self.masks, fit.members, fit.masks)

    def _whole_masks(self) -> Tensors:
        """Return a mask for every parameter: the present one, or one that keeps all."""
        whole = {name: torch.ones_like(param, dtype=torch.bool) for name, param in self.params.items()}
        return whole | self.masks

    def _parts(self, cost: MemberCost, batch_size: int) -> Iterator[tuple[Tensor, Tensors, Tensors]]:
        """Yield members with their tensors on the device: all at once, or as many as its memory holds."""
        everyone = torch.arange(len(self))
        if self.device.type == "cpu":
            for members in everyone.split(evaluated_at_once(cost, self.device)):
                part = slice(int(members[0]), int(members[-1]) + 1)
                yield (
                    members,
                    *({k: t[part] for k, t in tensors.items()} for tensors in (self.params, self.buffers)),
                )
        elif self.storage_device == self.device:
            yield everyone, self.params, self.buffers
        else:
            for members in everyone.split(members_at_once(cost, batch_size, 0, self.device)):
                yield (
                    members,
                    *(take(tensors, members, self.device) for tensors in (self.params, self.buffers)),
                )

    def _example(self) -> nn.Module:
        return build_seeded(self._build, self.seeds[0]).to(dtype=self.dtype)

    def _cost(self, x: Tensor) -> MemberCost:
        if x.shape[1:] not in self._costs:
            self._costs[x.shape[1:]] = measure_cost(self._example(), x[:1].to("cpu", self.dtype))
        return self._costs[x.shape[1:]]

    def _placed(self, split: Split, *, held: bool | None = None) -> Split:
        """Return a split with its targets on the device, its inputs too if they are held, in the type they have."""
        held = can_hold(split.x, self.device) if held is None else held
        y = split.y.to(self.device, self.dtype if split.y.is_floating_point() else torch.int64)
        return Split(split.x.to(self.device) if held else split.x.cpu(), y)


def _metrics_for(task: Task, metrics: Mapping[str, Objective] | None) -> Mapping[str, Objective]:
    """Return the metrics to use: the given ones, or those that fit the task."""
    if metrics is not None:
        return check_metrics(metrics)
    return {"accuracy": ACCURACIES[task]} if task in ACCURACIES else {}
