"""A threshold: how sure a part must be of a sample before it answers, chosen on validation data."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Annotated, Any, Literal, get_args

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from ..errors import DataError, FileFormatError, SpecError, unknown_name
from .objectives import prediction_entropy

Confidence = Literal["entropy", "maximum"]
"""How sure a part is of a sample; see `confidence_of`."""
CONFIDENCES: tuple[str, ...] = get_args(Confidence)
DEFAULT_CONFIDENCE: Confidence = "entropy"

STEPS = 200
"""Into how many parts the validation samples are cut; a wanted rate is met to half a step."""

Number = Annotated[float, Field(allow_inf_nan=False)]


class Threshold(BaseModel):
    """How sure a part is of validation samples of the classes that it knows, and how sure it must be to answer.

    Attributes
    ----------
    confidence : {"entropy", "maximum"}
        What tells how sure it is; see `confidence_of`.
    quantiles : tuple of float
        Of the confidence over these samples, from the least to the most, at equal steps.
    samples : int
        How many samples there were.
    rate : float
        Which share of samples of known classes may be left undecided.

    Examples
    --------
    >>> threshold = fit_threshold(torch.linspace(0, 1, 101), rate=0.1, confidence="entropy")
    >>> round(threshold.value(), 3), round(threshold.value(0.5), 3)
    (0.1, 0.5)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    confidence: Confidence
    quantiles: Annotated[tuple[Number, ...], Field(min_length=STEPS + 1, max_length=STEPS + 1)]
    samples: Annotated[int, Field(ge=1)]
    rate: Annotated[float, Field(ge=0, lt=1)]

    def value(self, rate: float | None = None) -> float:
        """Return the confidence below which this share of samples of known classes is left undecided."""
        rate = self.rate if rate is None else rate
        if not rate:
            return -math.inf
        place = rate * STEPS
        low = min(int(place), STEPS - 1)
        below, above = self.quantiles[low], self.quantiles[low + 1]
        return below + (place - low) * (above - below)


def fit_threshold(known: Tensor, *, rate: float, confidence: Confidence) -> Threshold:
    """Return the threshold that leaves a share of samples undecided.

    Parameters
    ----------
    known : Tensor
        How sure the part is of each validation sample of a class that it knows.
    rate : float
        The share.
    confidence : str
        What the numbers are.
    """
    if not len(known):
        raise DataError("there are no validation samples of the classes it knows, to choose a threshold on")
    steps = torch.linspace(0, 1, STEPS + 1, dtype=torch.float64)
    quantiles = torch.quantile(known.detach().cpu().double(), steps)
    return Threshold(
        confidence=confidence, quantiles=tuple(quantiles.tolist()), samples=len(known), rate=rate
    )


def read_threshold(content: Any) -> Threshold:
    """Return the threshold that a file describes.

    Raises
    ------
    FileFormatError
        When it is none, naming the field.
    """
    try:
        return Threshold.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise FileFormatError(
            f"its threshold is not right: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        ) from None


def confidence_of(logits: Tensor, known: Tensor, confidence: str) -> Tensor:
    """Return how sure networks are that samples are of a class they know, from 0 to 1.

    ``"entropy"`` is 1 - H/ln |C| over all classes: 0 for the uniform prediction that specialists are trained to give on
    other classes. ``"maximum"`` is the largest probability of a class that is known.

    Parameters
    ----------
    logits : Tensor
        ``[..., samples, classes]``, divided by the temperature.
    known : Tensor
        Which classes are known, 0/1, ``[..., classes]``.
    confidence : {"entropy", "maximum"}
        Which.

    Examples
    --------
    >>> logits = torch.tensor([[9.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> confidence_of(logits, torch.tensor([True, True, False]), "maximum")
    tensor([0.9998, 0.3333], dtype=torch.float64)
    """
    log_p = logits.log_softmax(-1, dtype=torch.float64)
    if confidence == "entropy":
        return 1 - prediction_entropy(log_p) / math.log(max(2, logits.shape[-1]))
    if confidence == "maximum":
        return log_p.exp().masked_fill(~known.bool().unsqueeze(-2), 0).amax(-1)
    raise unknown_name("confidence", confidence, CONFIDENCES)


def rate_of(undecided: object) -> float:
    """Return a share that was written as a percentage.

    Examples
    --------
    >>> rate_of("5%")
    0.05
    """
    share = math.nan
    if isinstance(undecided, str) and undecided.strip().endswith("%"):
        with suppress(ValueError):
            share = float(undecided.strip()[:-1]) / 100
    if not 0 <= share < 1:
        raise SpecError(
            "undecided is the share of samples of known classes that may be left undecided, such as '5%', or a number, "
            f"the confidence from which on it answers; got {undecided!r:.40}"
        )
    return share


def least_confidence(undecided: str | float | None, threshold: Threshold | None) -> float | None:
    """Return the confidence from which on a part answers; None where nobody has chosen one.

    Parameters
    ----------
    undecided : str, float or None
        As it was asked for: a percentage, the confidence itself, or what the part was given.
    threshold : Threshold or None
        What was found on validation data.
    """
    if undecided is None:
        return None if threshold is None else threshold.value()
    if isinstance(undecided, int | float) and not isinstance(undecided, bool) and not math.isnan(undecided):
        return float(undecided)
    rate = rate_of(undecided)
    if threshold is None:
        raise SpecError(
            f"{undecided} of known samples can only be told on validation data; choose a threshold first: "
            "part.with_threshold(data.val) (on the command line: --threshold DATA)"
        )
    return threshold.value(rate)
