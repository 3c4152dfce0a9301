"""Answers: what a part says to samples, by name, over the classes that it knows; or "undecided"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..result import Result
from .class_lists import UNDECIDED
from .threshold import Usual, confidence_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Answers(Result):
    """What a part says to some samples.

    Attributes
    ----------
    known : tuple of str
        The classes that it knows, in the order of its class list.
    probabilities : array
        Of each known class, ``[samples, known]``; rows add up to 1.
    confidence : array
        How sure it is that each sample is of a known class; see `confidence_of`.
    decided : array
        Whether it answers.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:32", [3, 8], epochs=20, sparsity=0.5, progress=False)
    >>> answers = (team[0] + team[1]).answers(data.test)
    >>> answers.known, len(answers), set(answers.names) <= {"3", "8", "undecided"}
    (('3', '8'), 360, True)
    """

    known: tuple[str, ...]
    probabilities: NDArray[np.float64]
    confidence: NDArray[np.float64]
    decided: NDArray[np.bool_]

    @cached_property
    def names(self) -> NDArray[np.object_]:
        """For each sample a class, or ``"undecided"``."""
        best = np.array(self.known, dtype=object)[self.probabilities.argmax(1)]
        return np.where(self.decided, best, UNDECIDED)

    def __len__(self) -> int:
        return len(self.probabilities)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names.tolist())

    def __repr__(self) -> str:
        left = len(self) - int(self.decided.sum())
        return f"Answers({len(self):,} samples, {left:,} undecided, of {len(self.known)} classes)"

    def to_frame(self) -> pd.DataFrame:
        """Return a row per sample: the answer, how sure it is, and the probability of each known class."""
        import pandas as pd

        head = pd.DataFrame({"answer": self.names, "confidence": self.confidence})
        columns = [f"p({name})" for name in self.known]
        return pd.concat([head, pd.DataFrame(self.probabilities, columns=columns)], axis=1)

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, ready for JSON."""
        return {
            "known": list(self.known),
            "answers": self.names.tolist(),
            "confidence": self.confidence.tolist(),
            "probabilities": self.probabilities.tolist(),
        }


def answers_from(
    logits: Tensor,
    rewarded: Sequence[int],
    classes: Sequence[str],
    confidence: str,
    least: float | None,
    *,
    near: Tensor | None = None,
    usual: Usual = (),
) -> Answers:
    """Return what logits say.

    Parameters
    ----------
    logits : Tensor
        ``[samples, classes]``, divided by the temperature.
    rewarded : sequence of int
        Ids of the classes that are known.
    classes : sequence of str
        Names of all classes.
    confidence : str
        What tells how sure it is.
    least : float or None
        The least confidence with which it answers; None: see `is_decided`.
    near, usual
        As for `confidence_of`.
    """
    known = list(rewarded)
    sure, decided = is_decided(logits, known, confidence, least, near=near, usual=usual)
    probabilities = logits[:, known].softmax(1, dtype=torch.float64)
    return Answers(
        tuple(classes[number] for number in known),
        probabilities.cpu().numpy(),
        sure.cpu().numpy(),
        decided.cpu().numpy(),
    )


def is_decided(
    logits: Tensor,
    rewarded: Sequence[int],
    confidence: str,
    least: float | None,
    *,
    near: Tensor | None = None,
    usual: Usual = (),
) -> tuple[Tensor, Tensor]:
    """Return how sure a network is of each sample, and whether it answers.

    It answers where it is at least as sure as ``least``. Without such a number it answers where the largest of all its
    outputs belongs to a class that it knows.
    """
    known = torch.zeros(logits.shape[1], dtype=torch.bool, device=logits.device)
    known[list(rewarded)] = True
    sure = confidence_of(logits, known, confidence, near=near, usual=usual)
    return sure, known[logits.argmax(1)] if least is None else sure >= least


class KnownOnly(nn.Module):
    """A network with only the outputs of the classes that are known."""

    known: Tensor

    def __init__(self, network: nn.Module, known: Sequence[int]) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("known", torch.tensor(list(known)), persistent=False)
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of known classes, in the order of the class list."""
        logits: Tensor = self.network(x)
        return logits.index_select(1, self.known)
