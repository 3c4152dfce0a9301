"""Many networks of one architecture, trained and measured together."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.func import vmap

from ..data.dataset import Dataset, Split, Task
from ..errors import ShapeError, TrainingError
from ..prune import apply_masks_, rewind
from .batch_norm import average_statistics, has_batch_norm
from .checks import (
    check_masks,
    check_member_values,
    check_split,
    check_subsets,
    check_targets,
    check_training,
)
from .evaluate import Evaluator, Scores, predict
from .forward import member_forward
from .history import History
from .masking import masks_of, patterns_of
from .memory import MemberCost, evaluation_batch, measure_cost, members_at_once
from .noise import member_keys
from .objectives import ACCURACIES, OBJECTIVES, Objective, task_of
from .optimisers import Adam, Optimiser, step_sizes
from .progress import FitProgress
from .stack import Tensors, build_seeded, put, stack, take, template_of, unstack
from .step import Augment, Penalty
from .trainer import Moment, Stack, Trainer, Training


class Population:
    """M networks of one architecture as stacked tensors ``[M, ...]``.

    Networks with the same seed start from the same weights θ0, see their data in the same order and draw the
    same noise. What a member learns depends on its own seed and settings, never on who trains beside it.

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
        if not len(seeds):
            raise TrainingError("a population needs at least one seed")
        self.seeds = tuple(int(seed) for seed in seeds)
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.dtype = dtype
        self._build = build
        distinct = list(dict.fromkeys(self.seeds))
        networks = [build_seeded(build, seed).to(dtype=dtype) for seed in distinct]
        self._template = template_of(networks[0])
        params, buffers = stack(networks, [distinct.index(seed) for seed in self.seeds])
        if not params:
            raise TrainingError("the networks of a population need parameters; the builder's have none")
        self.params = {name: tensor.to(self.device) for name, tensor in params.items()}
        self.buffers = {name: tensor.to(self.device) for name, tensor in buffers.items()}
        self.initial = {name: tensor.clone() for name, tensor in self.params.items()}
        self.masks: Tensors = {}
        self._costs: dict[torch.Size, MemberCost] = {}

    def __len__(self) -> int:
        return len(self.seeds)

    def __repr__(self) -> str:
        weights = sum(tensor[0].numel() for tensor in self.params.values())
        return f"Population({len(self)} networks of {weights:,} parameters on {self.device})"

    def __call__(self, x: Tensor) -> Tensor:
        """Return every member's outputs for the same inputs, ``[members, samples, outputs]``."""
        x = x.to(self.device, self.dtype)
        batch = evaluation_batch(self._cost(x), len(self), self.device)
        return predict(self._template, self.params, self.buffers, x, batch)

    def member(self, place: int) -> nn.Module:
        """Return one member as an ordinary network of its own, in evaluation mode."""
        if not -len(self) <= place < len(self):
            raise ShapeError(f"no member {place}: the population has {len(self)}")
        return unstack(self._example(), self.params, self.buffers, place)

    def select(self, members: Sequence[int] | Tensor) -> Population:
        """Return a population of copies of some members, in the given order."""
        index = torch.as_tensor(members).cpu()
        chosen = copy.copy(self)
        chosen.seeds = tuple(self.seeds[i] for i in index.tolist())
        for name in ("params", "buffers", "initial", "masks"):
            setattr(chosen, name, take(getattr(self, name), index))
        return chosen

    def set_masks(self, masks: Mapping[str, Tensor]) -> Population:
        """Keep only the weights where a mask is 1: the others are 0 now and at every later step.

        Masks are given by parameter name, for all members ``[members, ...]`` or alike for each ``[...]``;
        parameters without one are left whole.
        """
        self.masks = check_masks(masks, self.params)
        apply_masks_(self.params, self.masks)
        return self

    def rewind(self) -> Population:
        """Set the parameters back to θ0, masked weights to 0."""
        self.params = rewind(self.initial, self.masks)
        return self

    def evaluate(
        self,
        split: Split,
        *,
        objective: Objective | None = None,
        metrics: Mapping[str, Objective] | None = None,
        own: Mapping[str, Tensor] | None = None,
    ) -> Scores:
        """Measure every member on a split.

        Parameters
        ----------
        split : Split
            What to measure on.
        objective : callable, optional
            The loss; by default the one that fits the targets (see `fit`).
        metrics : mapping, optional
            More functions to average, by name; by default the accuracy where targets are classes or bits.
        own : mapping, optional
            The members' own parameters for these functions, ``{name: [members, ...]}``.

        Returns
        -------
        Scores
            ``"loss"`` and each metric, one value per member.
        """
        task = task_of(split.y)
        split = self._on_device(split, "given")
        functions = {"loss": objective or OBJECTIVES[task], **_metrics(task, metrics)}
        batch = evaluation_batch(self._cost(split.x), len(self), self.device)
        evaluator = Evaluator(self._template, functions, batch)
        values = evaluator(
            self.params, self.buffers, split, check_member_values(own or {}, len(self), self.device)
        )
        return Scores({name: value.cpu() for name, value in values.items()}, self.seeds)

    def recompute_batch_norm(self, x: Tensor, *, batch_size: int = 512) -> Population:
        """Recompute every member's batch-norm statistics from the same inputs (`recompute_batch_norm`)."""
        _recompute(self._template, self.params, self.buffers, x.to(self.device, self.dtype), batch_size)
        return self

    def fit(
        self,
        train: Dataset | Split,
        val: Split | None = None,
        *,
        epochs: int = 20,
        batch_size: int = 64,
        optimiser: Optimiser | None = None,
        objective: Objective | None = None,
        own: Mapping[str, Tensor] | None = None,
        targets: Tensor | None = None,
        val_targets: Tensor | None = None,
        subsets: Sequence[Tensor] | None = None,
        metrics: Mapping[str, Objective] | None = None,
        monitor: str = "loss",
        patience: int | None = None,
        goal: float | None = None,
        penalty: Penalty | None = None,
        augment: Augment | None = None,
        after_step: Callable[[Moment], None] | None = None,
        stream: int = 0,
        at_once: int | None = None,
        progress: bool = True,
    ) -> History:
        """Train all members from their present weights, with a fresh optimiser.

        Every member ends with the weights of its best epoch on ``val`` (its last epoch without ``val``).

        Parameters
        ----------
        train : Dataset or Split
            What to train on; a `Dataset` brings its validation split along.
        val : Split, optional
            What to choose the best epoch on.
        epochs, batch_size : int
            Passes over the data, samples per step. A last, smaller batch counts like in a plain loop.
        optimiser : Adam or SGD
            Its step size may differ between members. Default: ``Adam(lr=1e-3)``.
        objective : callable, optional
            ``objective(logits, target, **own) -> [batch]``, for one network; by default cross-entropy for class
            ids, bitwise cross-entropy for rows of 0/1, squared error for rows of other values.
        own : mapping, optional
            Each member's own parameters of the objective and the metrics, ``{name: [members, ...]}``.
        targets, val_targets : Tensor, optional
            Each member's own targets ``[members, samples, ...]`` instead of those of the split.
        subsets : sequence of Tensor, optional
            The indices of the training samples that each member may see. A member whose subset is smaller
            takes fewer steps in an epoch.
        metrics : mapping, optional
            More functions to record on ``val``, called like the objective; NaN marks samples not counted. By
            default the accuracy where targets are classes or bits.
        monitor : str
            What decides on the best epoch: ``"loss"`` (the lowest) or a metric (the highest).
        patience : int, optional
            Stop a member after so many epochs without a better score. Members that are done leave the stack.
        goal : float, optional
            Stop a member when its score is this good.
        penalty : callable, optional
            ``penalty(params) -> [members]``, a function of the stacked parameters, added to the loss.
        augment : callable, optional
            ``augment(x, noise) -> x``, applied to training inputs ``[members, batch, ...]``.
        after_step : callable, optional
            Called with a `Moment` after every step; may change the parameters and masks in place.
        stream : int
            Which random stream of the seeds to use; give each round of a procedure its own.
        at_once : int, optional
            How many members to train together; by default as many as the device does well with.
        progress : bool
            Show a progress bar (on terminals only).

        Returns
        -------
        History
            Losses and scores by epoch and member.
        """
        begun = time.perf_counter()
        task = train.task if isinstance(train, Dataset) else task_of(train.y)
        if isinstance(train, Dataset):
            train, val = train.train, train.val if val is None else val
        train = self._on_device(train, "training")
        val = None if val is None else self._on_device(val, "validation")
        training = Training(
            epochs, batch_size, objective or OBJECTIVES[task], optimiser or Adam(), _metrics(task, metrics),
            monitor, patience, goal, penalty, augment, after_step,
        )  # fmt: skip
        check_training(training, train, val, batch_norm=has_batch_norm(self._template), subsets=subsets)
        masks = self.masks if after_step is None else self._whole_masks()
        everything = Stack(
            torch.arange(len(self)),
            member_keys(self.seeds, stream, self.device),
            step_sizes(training.optimiser, len(self)),
            self.params,
            self.buffers,
            patterns_of(masks, self.params),
            check_member_values(own or {}, len(self), self.device),
            check_targets(targets, train, len(self), self.device),
            None if val is None else check_targets(val_targets, val, len(self), self.device),
            check_subsets(subsets, len(train), len(self), self.device),
        )
        names = ["train_loss"] + ([] if val is None else ["loss", *training.metrics])
        history = History.empty(self.seeds, epochs, names)
        steps = epochs * -(-len(train) // batch_size) * len(self)
        with (
            FitProgress(f"{len(self)} networks", steps, show=progress) as bar,
            self._own_random_state(stream),
        ):
            self._fit_in_parts(everything, training, train, val, history, bar, at_once)
        history.seconds = time.perf_counter() - begun
        return history

    def _fit_in_parts(
        self,
        everything: Stack,
        training: Training,
        train: Split,
        val: Split | None,
        history: History,
        bar: FitProgress,
        at_once: int | None,
    ) -> None:
        """Train as many members at once as the device does well with, and fewer when its memory is full."""
        cost = self._cost(train.x)
        slots = len(training.optimiser.slots)
        # Equal step sizes next to each other: each run of them is one fused optimiser call.
        order = sorted(range(len(self)), key=lambda member: everything.sizes[member])
        most = at_once or members_at_once(cost, training.batch_size, slots, self.device)
        waiting = list(torch.tensor(order).split(most))
        while waiting:
            members = waiting.pop(0)
            try:
                trainer = Trainer(
                    self._template, everything.select(members), training, train, val, cost, history
                )
                trainer.run(bar)
            except torch.OutOfMemoryError as error:
                if len(members) == 1:
                    raise TrainingError(
                        f"not enough memory on {self.device} to train a single network"
                    ) from error
                waiting[:0] = members.split(-(-len(members) // 2))
                continue
            if has_batch_norm(self._template):
                _recompute(self._template, trainer.params, trainer.buffers, train.x, batch_size=512)
            put(self.params, members, trainer.params)
            put(self.buffers, members, trainer.buffers)
            if training.after_step is not None:
                if not self.masks:
                    self.masks = self._whole_masks()
                put(self.masks, members, masks_of(trainer.patterns))

    def _whole_masks(self) -> Tensors:
        """Return a mask for every parameter: the present one, or one that keeps all."""
        whole = {name: torch.ones_like(param, dtype=torch.bool) for name, param in self.params.items()}
        return whole | self.masks

    def _example(self) -> nn.Module:
        return build_seeded(self._build, self.seeds[0]).to(dtype=self.dtype)

    def _cost(self, x: Tensor) -> MemberCost:
        if x.shape[1:] not in self._costs:
            self._costs[x.shape[1:]] = measure_cost(self._example(), x[:1].cpu())
        return self._costs[x.shape[1:]]

    def _on_device(self, split: Split, what: str) -> Split:
        return check_split(split, what).to(self.device, self.dtype)

    @contextmanager
    def _own_random_state(self, stream: int) -> Iterator[None]:
        """Seed the noise that networks draw by means of their own, and leave the global state as it was."""
        with torch.random.fork_rng([self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(int(member_keys(self.seeds[:1], stream)[0]))
            yield


def _metrics(task: Task, metrics: Mapping[str, Objective] | None) -> Mapping[str, Objective]:
    if metrics is not None:
        return metrics
    return {"accuracy": ACCURACIES[task]} if task in ACCURACIES else {}


def _recompute(template: nn.Module, params: Tensors, buffers: Tensors, x: Tensor, batch_size: int) -> None:
    def forward(batch: Tensor) -> Tensor:
        run = vmap(lambda p, b: member_forward(template, p, b, batch, None))
        result: Tensor = run(params, buffers)
        return result

    average_statistics(template, forward, x, batch_size)
