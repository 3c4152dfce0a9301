"""What the members of a population score: outputs, losses and metrics, statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from ..data.dataset import Split, Task
from ..errors import TrainingError
from .batch_norm import average_stacked
from .checks import check_fits_outputs, check_member_values, check_per_member
from .evaluate import Evaluator, Scores, predict
from .members import Members
from .memory import evaluation_batch
from .objectives import ACCURACIES, OBJECTIVES, Objective, task_of
from .stack import put, take


class MeasuredMembers(Members):
    """Networks that can be measured; `Population` is this with training."""

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
        per_member: Mapping[str, Tensor] | None = None,
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
        per_member : mapping, optional
            The members' own parameters for these functions, ``{name: [members, ...]}``.

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
        split = self._on_device(split, "given")
        task = task_of(split.y)
        functions = {"loss": objective or OBJECTIVES[task], **metrics_for(task, metrics)}
        check_per_member(functions, per_member or {})
        cost = self._cost(split.x)
        if objective is None:
            check_fits_outputs(split.y, cost.outputs)
        evaluator = Evaluator(self._template, functions, evaluation_batch(cost, len(self), self.device))
        per_member = check_member_values(per_member or {}, len(self), self.device)
        parts = [
            evaluator(params, buffers, split, take(per_member, members))
            for members, params, buffers in self._parts(cost, evaluator.batch_size)
        ]
        values = {name: torch.cat([part[name] for part in parts]) for name in functions}
        return Scores({name: value.cpu() for name, value in values.items()}, self.seeds)

    def recompute_batch_norm(self, x: Tensor, *, batch_size: int = 512) -> Self:
        """Recompute every member's batch-norm statistics from the same inputs (`recompute_batch_norm`)."""
        x = x.to(self.device, self.dtype)
        for members, params, buffers in self._parts(self._cost(x), batch_size):
            average_stacked(self._template, params, buffers, x, batch_size)
            if buffers is not self.buffers:
                put(self.buffers, members, buffers)
        return self


def metrics_for(task: Task, metrics: Mapping[str, Objective] | None) -> Mapping[str, Objective]:
    """Return the metrics to use: the given ones, or those that fit the task."""
    for name in {"loss", "train_loss"} & set(metrics or ()):
        raise TrainingError(f"a metric cannot be called {name!r}, which is what the objective gives")
    if metrics is not None:
        return metrics
    return {"accuracy": ACCURACIES[task]} if task in ACCURACIES else {}
