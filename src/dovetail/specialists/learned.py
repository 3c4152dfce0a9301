"""What a training has learned: nothing, where no answer that is always the same would be worse."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from ..data.dataset import Dataset
from ..errors import TrainingWarning
from .class_sets import ClassSet, named, one_hot_sets
from .layouts import Member
from .objectives import Loss
from .optimizing import optimizer_settings
from .settings import TrainingSettings

_NOTHING = 1e-6
"""A loss that even a constant answer has, because there is only one answer."""

_BETTER = 0.98
"""Of the loss of the best constant answer: what learned something is below this share of it."""

_FEW_STEPS = 500
"""A training of fewer steps than these may just have been too short."""


def constant_loss(
    loss: str | Loss, target: Tensor, rewarded: ClassSet, classes: int, weights: Tensor | None = None
) -> float:
    """Return the lowest loss that an answer which is always the same can have on some samples.

    A network that has learned something about its inputs is below. Of a loss of one's own it is that of equal outputs
    for all classes.

    Parameters
    ----------
    loss : str or callable
        ``"me"``, ``"qme"``, ``"xe"``, or a function.
    target : Tensor
        Classes of the samples.
    rewarded : tuple of int
        The rewarded classes.
    classes : int
        How many classes there are.
    weights : Tensor, optional
        How much each sample counts.

    Examples
    --------
    With one sample in four of class 0, the best answer is always 7/16 for class 0 and 3/16 for each other:

    >>> round(constant_loss("me", torch.tensor([0, 1, 2, 3]), (0,), 4), 3)
    0.264
    """
    weights = torch.ones(len(target)) if weights is None else weights
    weights = weights.double().cpu() / weights.double().sum().cpu()
    mask = torch.zeros(classes, dtype=torch.bool)
    mask[list(rewarded)] = True
    if not isinstance(loss, str):
        each = loss(torch.zeros(len(target), classes), target.cpu(), mask)
        return float((each.double() * weights).sum())
    shares = torch.zeros(classes, dtype=torch.float64).index_add_(0, target.cpu(), weights)
    known = shares * mask
    spread = torch.ones_like(mask) if loss == "me" else ~mask
    others = 0.0 if loss == "xe" else float(1 - known.sum())
    if loss == "xe":
        known = known / known.sum()
    # The loss is linear in the logarithms of the answer's probabilities, so the best answer is their weights.
    count = int(spread.sum())
    wanted = known + (others / count) * spread if count else known
    entropy = -float(torch.xlogy(wanted, wanted).sum())
    return entropy - others * float(torch.tensor(max(count, 1)).double().log())


def warn_of_what_was_not_learned(
    losses: Mapping[Member, float],
    data: Dataset,
    loss: str | Loss,
    val_weights: Callable[[Tensor, str], Tensor | None],
    settings: TrainingSettings,
) -> None:
    """Say which specialists learned nothing, and what in their training may be why.

    Parameters
    ----------
    losses : dict
        What each scored on the validation split; NaN where it had no score.
    data : Dataset
        What they were trained on.
    loss : str or callable
        The loss.
    val_weights : callable
        How much validation samples count for rows of rewarded classes, given the loss's name.
    settings : TrainingSettings
        How they were trained.
    """
    name = loss if isinstance(loss, str) else ""
    idle = []
    for (_, ids), reached in losses.items():
        weights = val_weights(one_hot_sets([ids], data.outputs), name)
        constant = constant_loss(loss, data.val.y, ids, data.outputs, None if weights is None else weights[0])
        if constant > _NOTHING and not reached < _BETTER * constant:
            idle.append(ids)
    if idle:
        shown = "; ".join(named(ids, data.classes) for ids in idle[:5]) + ("; …" if len(idle) > 5 else "")
        warnings.warn(
            f"{len(idle)} of {len(losses)} specialists learned nothing ({shown}): on validation samples they are no "
            f"better than an answer that is always the same; {_what_to_try(settings, len(data.train))}, or look at the "
            "data (dovetail data check)",
            TrainingWarning,
            stacklevel=4,  # of whoever called what is `in_float32`
        )


def _what_to_try(settings: TrainingSettings, samples: int) -> str:
    """Return what to change in a training that came to nothing: how short it was goes first.

    Examples
    --------
    >>> _what_to_try(TrainingSettings(epochs=20, sparsity=0.9), 100)
    '20 epochs of 2 steps are few, try epochs=250 or smaller batches; less sparsity (it was 0.9)'
    >>> _what_to_try(TrainingSettings(epochs=20, lr=0.5), 100_000)
    'try more epochs; another lr (it was 0.5; 0.001 is usual)'
    """
    steps = -(-samples // settings.batch_size)
    enough = -(-_FEW_STEPS // steps)
    said = ["try more epochs"]
    if settings.epochs < enough:
        epochs, each = (
            f"{n:,} {what}{'' if n == 1 else 's'}"
            for n, what in ((settings.epochs, "epoch"), (steps, "step"))
        )
        said = [f"{epochs} of {each} are few, try epochs={enough} or smaller batches"]
    usual = optimizer_settings(settings.model_copy(update={"lr": None}))["lr"]
    if settings.lr not in (None, usual):
        said.append(f"another lr (it was {settings.lr:g}; {usual:g} is usual)")
    if settings.sparsity:
        said.append(f"less sparsity (it was {settings.sparsity:g})")
    return "; ".join(said)


def warn_of_what_cannot_be_learned(sets: Sequence[ClassSet], data: Dataset) -> None:
    """Say which specialists have no samples of other classes to be undecided on."""
    present = set(data.train.y.unique().tolist())
    alone = [ids for ids in sets if not present - set(ids)]
    if alone:
        shown = "; ".join(named(ids, data.classes) for ids in alone[:5])
        warnings.warn(
            f"there are no training samples of classes other than {shown}, so this specialist cannot learn to be "
            "undecided on them: it will be sure of everything; add samples of other classes, of whatever kind",
            TrainingWarning,
            stacklevel=4,  # of whoever called what is `in_float32`
        )
