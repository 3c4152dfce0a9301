"""Many networks of one architecture, trained and measured together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from ..data.dataset import Dataset, Split, Task
from .batch_norm import average_stacked, has_batch_norm
from .checks import (
    check_count,
    check_fits_outputs,
    check_member_values,
    check_own,
    check_split,
    check_subsets,
    check_targets,
    check_training,
)
from .evaluate import Evaluator, Scores, predict
from .history import History
from .members import Members
from .memory import evaluation_batch, members_at_once
from .noise import member_keys
from .objectives import ACCURACIES, OBJECTIVES, Objective, task_of
from .optimisers import Adam, Optimiser, step_sizes
from .plan import Augment, Moment, Penalty, Stack, Training
from .progress import FitProgress
from .sensitivity import activation_shapes, averaged_sensitivity, default_layers
from .stack import Tensors, put, take
from .trainer import Trainer, train_in_parts


class Population(Members):
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
    home : torch.device
        Where these tensors are kept: ``device``, or main memory when they would fill the device's.

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

    def __call__(self, x: Tensor) -> Tensor:
        """Return every member's outputs for the same inputs, ``[members, samples, outputs]``."""
        x = x.to(self.device, self.dtype)
        cost = self._cost(x)
        batch = evaluation_batch(cost, len(self), self.device)
        parts = self._parts(cost, batch)
        return torch.cat([predict(self._template, params, buffers, x, batch) for _, params, buffers in parts])

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
        split = self._on_device(split, "given")
        task = task_of(split.y)
        functions = {"loss": objective or OBJECTIVES[task], **_metrics(task, metrics)}
        check_own(functions, own or {})
        cost = self._cost(split.x)
        if objective is None:
            check_fits_outputs(split.y, cost.outputs)
        evaluator = Evaluator(self._template, functions, evaluation_batch(cost, len(self), self.device))
        own = check_member_values(own or {}, len(self), self.device)
        parts = [
            evaluator(params, buffers, split, take(own, members))
            for members, params, buffers in self._parts(cost, evaluator.batch_size)
        ]
        values = {name: torch.cat([part[name] for part in parts]) for name in functions}
        return Scores({name: value.cpu() for name, value in values.items()}, self.seeds)

    def unit_sensitivity(
        self,
        split: Split,
        *,
        layers: Sequence[str] | None = None,
        objective: Objective | None = None,
        own: Mapping[str, Tensor] | None = None,
    ) -> Tensors:
        """Return how much the loss hangs on each hidden unit: mean of ``abs(∂L/∂a · a)`` over samples.

        Parameters
        ----------
        split : Split
            Clean samples to average over.
        layers : sequence of str, optional
            Names of the modules whose outputs are the activations; by default all ReLUs.
        objective, own
            As in `evaluate`.

        Returns
        -------
        dict of str to Tensor
            ``{layer: [members, units]}``, as `dovetail.prune.prune_units` takes it.
        """
        split = self._on_device(split, "given")
        task = task_of(split.y)
        own = check_member_values(own or {}, len(self), self.device)
        example = self._example()
        names = default_layers(example) if layers is None else list(layers)
        shapes = activation_shapes(example, names, split.x.cpu())
        cost = self._cost(split.x)
        batch = evaluation_batch(cost, len(self), self.device)
        loss = objective or OBJECTIVES[task]
        parts = [
            averaged_sensitivity(
                self._template, params, buffers, split, loss, take(own, members), shapes, batch
            )
            for members, params, buffers in self._parts(cost, batch)
        ]
        return {name: torch.cat([part[name] for part in parts]) for name in names}

    def recompute_batch_norm(self, x: Tensor, *, batch_size: int = 512) -> Population:
        """Recompute every member's batch-norm statistics from the same inputs (`recompute_batch_norm`)."""
        x = x.to(self.device, self.dtype)
        for members, params, buffers in self._parts(self._cost(x), batch_size):
            average_stacked(self._template, params, buffers, x, batch_size)
            if buffers is not self.buffers:
                put(self.buffers, members, buffers)
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
        if isinstance(train, Dataset):
            task, split, val = train.task, train.train, train.val if val is None else val
        else:
            split = check_split(train, "training")
            task = task_of(split.y if targets is None else targets)
        split = self._on_device(split, "training")
        val = None if val is None else self._on_device(val, "validation")
        training = Training(
            epochs, batch_size, objective or OBJECTIVES[task], optimiser or Adam(), _metrics(task, metrics),
            monitor, patience, goal, penalty, augment, after_step,
        )  # fmt: skip
        check_training(training, split, val, batch_norm=has_batch_norm(self._template), subsets=subsets)
        check_own({"the objective": training.objective, **training.metrics}, own or {})
        everything = Stack(
            torch.arange(len(self)),
            member_keys(self.seeds, stream, self.device),
            step_sizes(training.optimiser, len(self)),
            self.params,
            self.buffers,
            self.masks if after_step is None else self._whole_masks(),
            check_member_values(own or {}, len(self), self.device),
            check_targets(targets, split, len(self), self.device),
            check_targets(val_targets, val, len(self), self.device),
            check_subsets(subsets, len(split), len(self), self.device),
        )
        cost = self._cost(split.x)
        if val is not None:
            self._cost(val.x)  # proves that the network takes these inputs
        for used, own_targets in ((split, everything.targets), (val, everything.val_targets)):
            if objective is None and used is not None:
                check_fits_outputs(used.y if own_targets is None else own_targets.flatten(0, 1), cost.outputs)
        if at_once is not None:
            check_count("at_once", at_once)
        most = at_once or members_at_once(cost, batch_size, len(training.optimiser.slots), self.device)
        names = ["train_loss"] + ([] if val is None else ["loss", *training.metrics])
        history = History.empty(self.seeds, epochs, names)
        masked_before = set(self.masks)
        steps = epochs * -(-len(split) // batch_size) * len(self)
        with FitProgress(f"{len(self)} networks", steps, show=progress) as bar:
            for part in train_in_parts(
                self._template, everything, training, split, val, cost, history, bar, most
            ):
                self._take_back(part, split.x, masks_changed=after_step is not None)
                del part  # the next part needs the room
        self.masks = {
            name: mask for name, mask in self.masks.items() if name in masked_before or not mask.all()
        }
        history.seconds = time.perf_counter() - begun
        return history

    def _take_back(self, trainer: Trainer, x: Tensor, *, masks_changed: bool) -> None:
        """Take trained members back in, with batch-norm statistics from the whole training data."""
        average_stacked(self._template, trainer.params, trainer.buffers, x, batch_size=512)
        put(self.params, trainer.members, trainer.params)
        put(self.buffers, trainer.members, trainer.buffers)
        if masks_changed:
            self.masks = self._whole_masks()
            put(self.masks, trainer.members, trainer.masks)

    def _whole_masks(self) -> Tensors:
        """Return a mask for every parameter: the present one, or one that keeps all."""
        whole = {name: torch.ones_like(param, dtype=torch.bool) for name, param in self.params.items()}
        return whole | self.masks


def _metrics(task: Task, metrics: Mapping[str, Objective] | None) -> Mapping[str, Objective]:
    if metrics is not None:
        return metrics
    return {"accuracy": ACCURACIES[task]} if task in ACCURACIES else {}
