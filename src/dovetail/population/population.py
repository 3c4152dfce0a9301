"""Many networks of one architecture, trained and measured together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from ..data.dataset import Dataset, Split
from .batch_norm import average_stacked, has_batch_norm
from .checks import (
    check_count,
    check_fits_outputs,
    check_member_values,
    check_per_member,
    check_split,
    check_subsets,
    check_targets,
    check_training,
)
from .history import History
from .measuring import MeasuredMembers, metrics_for
from .memory import members_at_once
from .objectives import OBJECTIVES, Objective, task_of
from .optim import Adam, Optimizer, step_sizes
from .plan import Augment, Penalty, Stack, StepContext, Training
from .progress import FitProgress
from .random import member_keys
from .stack import Tensors, put
from .trainer import Trainer, train_in_parts


class Population(MeasuredMembers):
    """M networks of one architecture as stacked tensors ``[M, ...]``.

    Networks with the same seed start from the same weights θ0, see their data in the same order and draw the
    same noise. What a member learns depends on its own seed and settings, never on who trains beside it.

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

    def fit(
        self,
        train: Dataset | Split,
        val: Split | None = None,
        *,
        epochs: int = 20,
        batch_size: int = 64,
        optimizer: Optimizer | None = None,
        objective: Objective | None = None,
        per_member: Mapping[str, Tensor] | None = None,
        targets: Tensor | None = None,
        val_targets: Tensor | None = None,
        subsets: Sequence[Tensor] | None = None,
        metrics: Mapping[str, Objective] | None = None,
        monitor: str = "loss",
        patience: int | None = None,
        goal: float | None = None,
        penalty: Penalty | None = None,
        augment: Augment | None = None,
        after_step: Callable[[StepContext], None] | None = None,
        stream: int = 0,
        at_once: int | None = None,
        progress: bool | str = True,
    ) -> History:
        """Train all members from their present weights, with a fresh optimizer.

        Every member ends with the weights of its best epoch on ``val`` (its last epoch without ``val``). A fit
        that is interrupted or fails leaves the members in training as they were.

        Objective, metrics and penalty are traced once, on CUDA ``augment`` too: they may use tensors from
        outside, but Python values in them are fixed from then on.

        Parameters
        ----------
        train : Dataset or Split
            What to train on; a `Dataset` brings its validation split along.
        val : Split, optional
            What to choose the best epoch on.
        epochs, batch_size : int
            Passes over the data, samples per step. A last, smaller batch counts like in a plain loop.
        optimizer : Adam or SGD
            Its step size may differ between members. Default: ``Adam(lr=1e-3)``.
        objective : callable, optional
            ``objective(logits, target, **per_member) -> [batch]``, for one network: one loss per sample (torch's losses
            give that with ``reduction="none"``). By default cross-entropy for class ids, bitwise cross-entropy for
            rows of 0/1, squared error for rows of other values.
        per_member : mapping, optional
            Each member's own parameters of the objective, the metrics and the penalty, ``{name: [members, ...]}``.
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
            ``penalty(params, **per_member) -> [members]``, a function of the stacked parameters, added to the loss.
        augment : callable, optional
            ``augment(x, noise) -> x``, applied to training inputs ``[members, batch, ...]``; `Noise` has an
            example.
        after_step : callable, optional
            Called with a `StepContext` after every step; may change the parameters in place and set masks.
        stream : int
            Which random stream of the seeds to use; give each round of a procedure its own.
        at_once : int, optional
            How many members to train together; by default as many as the device does well with.
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
        if isinstance(train, Dataset):
            task, split, val = train.task, train.train, train.val if val is None else val
        else:
            split = check_split(train, "training")
            task = task_of(split.y if targets is None else targets)
        split = self._on_device(split, "training")
        val = None if val is None else self._on_device(val, "validation")
        training = Training(
            epochs, batch_size, objective or OBJECTIVES[task], optimizer or Adam(), metrics_for(task, metrics),
            monitor, patience, goal, penalty, augment, after_step,
        )  # fmt: skip
        check_training(training, split, val, batch_norm=has_batch_norm(self._template), subsets=subsets)
        check_per_member({"the objective": training.objective, **training.metrics}, per_member or {}, penalty)
        everything = Stack(
            torch.arange(len(self)),
            member_keys(self.seeds, stream, self.device),
            step_sizes(training.optimizer, len(self)),
            self.params,
            self.buffers,
            self.masks if after_step is None else self._whole_masks(),
            check_member_values(per_member or {}, len(self), self.device),
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
        most = at_once or members_at_once(cost, batch_size, len(training.optimizer.state_names), self.device)
        names = ["train_loss"] + ([] if val is None else ["loss", *training.metrics])
        history = History.empty(self.seeds, epochs, names)
        masked_before = set(self.masks)
        steps = epochs * -(-len(split) // batch_size) * len(self)
        title = progress if isinstance(progress, str) else f"{len(self)} networks"
        with FitProgress(title, steps, show=bool(progress)) as bar:
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
