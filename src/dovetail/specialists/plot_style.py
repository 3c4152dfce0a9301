"""What pictures have in common: colours, labels, and the numbers they show. Needs no plotting library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from torch import Tensor

from ..errors import unknown_name

if TYPE_CHECKING:
    from .score import Score

PerClass = Literal["accuracy", "entropy", "leakage"]

# Okabe and Ito's colours, which people who see few colours can tell apart; no yellow, which is faint on white.
LINE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
REWARDED_COLOUR, OTHER_COLOUR, GREY = "#E69F00", "#0072B2", "#7F7F7F"

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


def line_colours(lines: int) -> list[str]:
    """Return a colour for each line: distinct ones for a few; for many a scale from violet over green to olive.

    Examples
    --------
    >>> line_colours(2)
    ['#0072B2', '#D55E00']
    >>> line_colours(7)
    ['#5e4fa2', '#4264a7', '#2e7aa0', '#21918c', '#40a86b', '#6bb648', '#a0b923']
    """
    if lines <= len(LINE_COLOURS):
        return list(LINE_COLOURS[:lines])
    return [_on_scale(place / (lines - 1)) for place in range(lines)]


def _on_scale(place: float) -> str:
    """Return the colour at a place from 0 to 1 on a scale that grows lighter, and can be seen on white and on black."""
    stops = ((94, 79, 162), (52, 110, 170), (33, 145, 140), (80, 180, 90), (160, 185, 35))
    below = min(int(place * (len(stops) - 1)), len(stops) - 2)
    weight = place * (len(stops) - 1) - below
    return "#" + "".join(
        f"{round(a + weight * (b - a)):02x}" for a, b in zip(stops[below], stops[below + 1], strict=True)
    )


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
