"""Objectives and metrics: functions of one network's outputs, one value per sample.

An objective is called as ``objective(logits, target, **per_member)`` for one network, where ``per_member`` holds
those of that member's values that the function names, and returns one loss per sample. A metric is called in
the same way; it returns NaN for samples that it does not count.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping

import torch.nn.functional as F
from torch import Tensor

from ..data.split import Task
from ..errors import TrainingError

Objective = Callable[..., Tensor]
"""``(logits [batch, outputs], target, **per_member) -> [batch]``, for one network."""


def cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of class ids.

    Examples
    --------
    >>> import torch
    >>> cross_entropy(torch.zeros(1, 2), torch.tensor([1]))
    tensor([0.6931])
    """
    return -F.log_softmax(logits, 1).gather(1, target.unsqueeze(1)).squeeze(1)


def smoothed_cross_entropy(smoothing: float) -> Objective:
    """Return cross-entropy with a share of every target spread evenly over all classes.

    Examples
    --------
    >>> import torch
    >>> smoothed_cross_entropy(0.5)(torch.tensor([[0.0, 1.0]]), torch.tensor([1]))
    tensor([0.5633])
    """

    def objective(logits: Tensor, target: Tensor) -> Tensor:
        logs = F.log_softmax(logits, 1)
        return -(1 - smoothing) * logs.gather(1, target.unsqueeze(1)).squeeze(1) - smoothing * logs.mean(1)

    return objective


def bit_cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """Mean binary cross-entropy over a sample's output bits.

    Examples
    --------
    >>> import torch
    >>> bit_cross_entropy(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor([0.6931])
    """
    return F.binary_cross_entropy_with_logits(logits, target, reduction="none").mean(1)


def squared_error(logits: Tensor, target: Tensor) -> Tensor:
    """Mean squared error over a sample's outputs.

    Examples
    --------
    >>> import torch
    >>> squared_error(torch.zeros(1, 2), torch.tensor([[2.0, 0.0]]))
    tensor([2.])
    """
    return ((logits - target) ** 2).mean(1)


def class_accuracy(logits: Tensor, target: Tensor) -> Tensor:
    """Whether the largest output is the target class, 0 or 1.

    Examples
    --------
    >>> import torch
    >>> class_accuracy(torch.tensor([[0.1, 0.3]]), torch.tensor([1]))
    tensor([1.])
    """
    return (logits.argmax(1) == target).to(logits.dtype)


def bit_accuracy(logits: Tensor, target: Tensor) -> Tensor:
    """Share of a sample's output bits that are right.

    Examples
    --------
    >>> import torch
    >>> bit_accuracy(torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([0.5000])
    """
    return ((logits > 0) == (target > 0.5)).to(logits.dtype).mean(1)


def task_of(target: Tensor, known: Task | None = None) -> Task:
    """Return what targets are: what is known of them, where it can be, or else judged by their values.

    Whole numbers are class ids, and no others are. Of other targets their values tell nothing certain: what a
    regression is to give may happen to be 0 and 1 throughout.

    Examples
    --------
    >>> import torch
    >>> task_of(torch.tensor([3])), task_of(torch.tensor([[0.0, 1.0]])), task_of(torch.tensor([[0.5]]))
    ('classes', 'bits', 'values')
    >>> task_of(torch.tensor([[0.0, 1.0]]), known="values")
    'values'
    """
    if not target.is_floating_point():
        return "classes"
    if known is not None and known != "classes":
        return known
    return "bits" if bool(((target == 0) | (target == 1)).all()) else "values"


def one_per_sample(values: Tensor, batch: int, what: str) -> Tensor:
    """Return what an objective or metric gave for a batch, if it is one value per sample."""
    if values.shape != (batch,):
        raise TrainingError(
            f"{what} must give one value per sample, [{batch}], but gave {tuple(values.shape)}; a loss of torch's does "
            "so with reduction='none'"
        )
    return values


def per_member_names(function: Callable[..., Tensor], per_member: Iterable[str]) -> list[str]:
    """Return which of the members' own parameters a function takes."""
    parameters = inspect.signature(function).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return [name for name in per_member if takes_all or name in parameters]


def with_per_member(
    function: Objective, per_member: Iterable[str]
) -> Callable[[Tensor, Tensor, Mapping[str, Tensor]], Tensor]:
    """Return the function with a member's own parameters as one argument; it gets those that it names."""
    wanted = per_member_names(function, per_member)

    def call(logits: Tensor, target: Tensor, per_member: Mapping[str, Tensor]) -> Tensor:
        return function(logits, target, **{name: per_member[name] for name in wanted})

    return call


OBJECTIVES: dict[Task, Objective] = {
    "classes": cross_entropy,
    "bits": bit_cross_entropy,
    "values": squared_error,
}

ACCURACIES: dict[Task, Objective] = {"classes": class_accuracy, "bits": bit_accuracy}
