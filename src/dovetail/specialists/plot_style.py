"""What pictures have in common: labels and the numbers they show. Needs no plotting library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from torch import Tensor

from ..errors import unknown_name

if TYPE_CHECKING:
    from .score import Score

PerClass = Literal["accuracy", "entropy", "leakage"]

REWARDED_COLOUR, OTHER_COLOUR = "#E69F00", "#0072B2"

MOST_COUNTS = 12
"""Classes up to which a confusion matrix has its counts written in."""
MOST_NAMES = 25
"""Classes, or curves, up to which every one has its name beside it."""

NOTHING_TO_SHOW = "no class has a value"

PER_CLASS_LABELS = {
    "accuracy": "accuracy (share of samples)",
    "entropy": "mean entropy (nats)",
    "leakage": "leakage (probability beyond |R|/|C|)",
}
HISTORY_LABELS = {
    "rewarded_accuracy": "rewarded accuracy (share of samples)",
    "entropy": "entropy on other classes (nats)",
    "loss": "validation loss (nats)",
    "train_loss": "training loss (nats)",
}


def shortened(text: str, most: int = 18) -> str:
    """Return a text with its middle left out where it is too long to stand in a picture.

    Examples
    --------
    >>> shortened("0, 1, 2, 3, 4, 5, 6, 7, 8")
    '0, 1, 2, … 6, 7, 8'
    """
    if len(text) <= most:
        return text
    end = (most - 2) // 2
    return f"{text[: most - 2 - end].rstrip()} … {text[-end:].lstrip(' ,')}"


def row_shares(counts: Tensor) -> Tensor:
    """Return counts as shares of their row; 0 in a row without any.

    Examples
    --------
    >>> import torch
    >>> row_shares(torch.tensor([[3, 1], [0, 0]]))
    tensor([[0.7500, 0.2500],
            [0.0000, 0.0000]], dtype=torch.float64)
    """
    return counts.double() / counts.sum(1, keepdim=True).clamp(min=1)


def spread(runs: Tensor) -> Tensor:
    """Return the sd over runs, the first dimension; 0 when there is only one.

    Examples
    --------
    >>> import torch
    >>> spread(torch.tensor([[1.0, 2.0], [1.0, 4.0]]))
    tensor([0.0000, 1.4142])
    """
    return runs.std(0) if len(runs) > 1 else runs[0] * 0


def per_class_values(score: Score, what: PerClass) -> list[float]:
    """Return a value for each class, NaN where there is none.

    Examples
    --------
    >>> import torch
    >>> from dovetail.specialists.score import score_logits
    >>> (score,) = score_logits(torch.eye(3)[None] * 9, torch.arange(3), [(0, 1)], ["a", "b", "c"])
    >>> per_class_values(score, "accuracy")
    [1.0, 1.0, 1.0]
    """
    if what not in get_args(PerClass):
        raise unknown_name("value of a class", what, get_args(PerClass))
    values = {"accuracy": score.class_accuracy, "entropy": score.class_entropy, "leakage": score.leakage}
    return [float(value) for value in values[what]]
