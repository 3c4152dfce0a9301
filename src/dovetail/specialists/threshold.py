"""A threshold: how sure a part must be of a sample before it answers, chosen on validation data."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Annotated, Any, Literal, Self, cast, get_args

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from torch import Tensor

from ..errors import DataError, FileFormatError, SpecError, unknown_name
from .objectives import prediction_entropy

Confidence = Literal["entropy", "maximum", "distance", "both"]
"""How sure a part is of a sample; see `confidence_of`."""
CONFIDENCES: tuple[str, ...] = get_args(Confidence)
DEFAULT_CONFIDENCE: Confidence = "entropy"
"""That of parts without a threshold."""
BY_CARDS: tuple[Confidence, ...] = ("distance", "both")
"""What needs cards; see `dovetail.specialists.cards`."""

STEPS = 200
"""Into how many parts the validation samples are cut; a wanted rate is met to half a step."""

Number = Annotated[float, Field(allow_inf_nan=False)]
Usual = tuple[tuple[float, float], ...]
"""Mean and standard deviation of each number that a confidence is made of."""


class Threshold(BaseModel):
    """How sure a part is of validation samples of the classes that it knows, and how sure it must be to answer.

    Attributes
    ----------
    confidence : {"entropy", "maximum", "distance", "both"}
        What tells how sure it is; see `confidence_of`.
    quantiles : tuple of float
        Of the confidence over these samples, from the least to the most, at equal steps.
    usual : tuple of pairs of float
        Mean and standard deviation, over these samples, of each number that the confidence is made of.
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
    usual: tuple[tuple[Number, Annotated[Number, Field(gt=0)]], ...] = ()

    @model_validator(mode="after")
    def _check_usual(self) -> Self:
        if len(self.usual) != len(_made_of(self.confidence)):
            raise ValueError(f"{len(self.usual)} pairs do not go with confidence {self.confidence!r}")
        return self

    def value(self, rate: float | None = None) -> float:
        """Return the confidence below which this share of samples of known classes is left undecided."""
        rate = self.rate if rate is None else rate
        if not rate:
            return -math.inf
        place = rate * STEPS
        low = min(int(place), STEPS - 1)
        below, above = self.quantiles[low], self.quantiles[low + 1]
        return below + (place - low) * (above - below)


def fit_threshold(known: Tensor, *, rate: float, confidence: Confidence, usual: Usual = ()) -> Threshold:
    """Return the threshold that leaves a share of samples undecided.

    Parameters
    ----------
    known : Tensor
        How sure the part is of each validation sample of a class that it knows.
    rate : float
        The share.
    confidence : str
        What the numbers are.
    usual : tuple of pairs of float
        What they were compared with; see `usual_of`.
    """
    if not len(known):
        raise DataError("there are no validation samples of the classes it knows, to choose a threshold on")
    steps = torch.linspace(0, 1, STEPS + 1, dtype=torch.float64)
    quantiles = torch.quantile(known.detach().cpu().double(), steps)
    return Threshold(
        confidence=confidence, quantiles=tuple(quantiles.tolist()), samples=len(known), rate=rate, usual=usual
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
        where = ".".join(map(str, first["loc"])) or "usual"
        raise FileFormatError(f"its threshold is not right: {where}: {first['msg']}") from None


def confidence_of(
    logits: Tensor, known: Tensor, confidence: str, *, near: Tensor | None = None, usual: Usual = ()
) -> Tensor:
    """Return how sure networks are that samples are of a class they know, from 0 to 1.

    ``"entropy"`` is 1 - H/ln |C| over all classes: 0 for the uniform prediction that specialists are trained to give on
    other classes. ``"maximum"`` is the largest probability of a class that is known. ``"distance"`` is how near a
    sample is to the cards of known classes, whatever the network says: 1/2 where it is as near as validation samples
    are on average, and 1 / (1 + exp(-z)) where it is z standard deviations nearer. ``"both"`` is low where either the
    network or the distance is unsure: 1 / (1 + exp(-z) + exp(-u)), where u is for the log-odds of the maximum what z is
    for the distance.

    Parameters
    ----------
    logits : Tensor
        ``[..., samples, classes]``, divided by the temperature.
    known : Tensor
        Which classes are known, 0/1, ``[..., classes]``.
    confidence : {"entropy", "maximum", "distance", "both"}
        Which.
    near : Tensor, optional
        How near samples are to the cards of known classes, ``[..., samples]``; see `cards.nearness`.
    usual : tuple of pairs of float
        Mean and standard deviation of what distance and both are made of; see `usual_of`.

    Examples
    --------
    >>> logits = torch.tensor([[9.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> confidence_of(logits, torch.tensor([True, True, False]), "maximum")
    tensor([0.9998, 0.3333], dtype=torch.float64)
    """
    if confidence == "entropy":
        log_p = logits.log_softmax(-1, dtype=torch.float64)
        return 1 - prediction_entropy(log_p) / math.log(max(2, logits.shape[-1]))
    if confidence == "maximum":
        p = logits.softmax(-1, dtype=torch.float64)
        return p.masked_fill(~known.bool().unsqueeze(-2), 0).amax(-1)
    numbers = _numbers(logits, known, confidence, near)
    unsure = [
        ((mean - values) / deviation).exp() for values, (mean, deviation) in zip(numbers, usual, strict=True)
    ]
    return 1 / (1 + torch.stack(unsure).sum(0))


def usual_of(logits: Tensor, known: Tensor, confidence: str, near: Tensor | None) -> Usual:
    """Return the mean and standard deviation, over samples, of each number that a confidence is made of.

    Examples
    --------
    >>> usual_of(torch.zeros(4, 2), torch.ones(2), "distance", torch.tensor([1.0, 1.0, 3.0, 3.0]))
    ((2.0, 1.0),)
    """
    found = []
    for values in _numbers(logits, known, confidence, near):
        mean, deviation = float(values.mean()), float(values.std(correction=0))
        found.append((mean, deviation if deviation > 0 else 1.0))
    return tuple(found)


def _made_of(confidence: str) -> tuple[str, ...]:
    """Return what must be compared with its usual values before it says anything."""
    if confidence not in CONFIDENCES:
        raise unknown_name("confidence", confidence, CONFIDENCES)
    return {"distance": ("distance",), "both": ("distance", "odds")}.get(confidence, ())


def _numbers(logits: Tensor, known: Tensor, confidence: str, near: Tensor | None) -> list[Tensor]:
    made_of = _made_of(confidence)
    if made_of and near is None:
        raise SpecError(
            f"confidence {confidence!r} needs cards of all known classes, and there are none; use 'entropy'"
        )
    return [_log_odds(logits, known) if name == "odds" else cast(Tensor, near).double() for name in made_of]


def _log_odds(logits: Tensor, known: Tensor) -> Tensor:
    """Return the log-odds of the likeliest class that is known, against all other classes."""
    logits = logits.double()
    if logits.shape[-1] == 1:
        return torch.zeros_like(logits.squeeze(-1))
    best = logits.masked_fill(~known.bool().unsqueeze(-2), -math.inf).argmax(-1, keepdim=True)
    others = logits.scatter(-1, best, -math.inf).logsumexp(-1)
    return logits.gather(-1, best).squeeze(-1) - others


def rate_of(undecided: object, or_else: str = "") -> float:
    """Return a share that was written as a percentage; ``or_else`` is what else a message says it may be.

    Examples
    --------
    >>> rate_of("5%")
    0.05
    >>> rate_of(0.05)
    Traceback (most recent call last):
    dovetail.errors.SpecError: undecided is the share of ... undecided, such as '5%'; got 0.05, which as a share is '5%'
    """
    text = str(undecided).strip()
    number = math.nan
    with suppress(ValueError):
        number = float(text.removesuffix("%"))
    if text.endswith("%") and 0 <= number < 100:
        return number / 100
    meant = f", which as a share is '{100 * number:g}%'" if 0 <= number < 1 and not text.endswith("%") else ""
    raise SpecError(
        f"undecided is the share of samples of known classes that may be left undecided, such as '5%'{or_else}; "
        f"got {undecided!r:.40}{meant}"
    )


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
        if not 0 <= undecided <= 1:
            raise SpecError(
                f"undecided as a number is the confidence from which on it answers, from 0 to 1, not {undecided:g}; a "
                f"share of known samples that may be left undecided has a percent sign: '{undecided:g}%'"
            )
        return float(undecided)
    rate = rate_of(undecided, ", or a number, the confidence from which on it answers")
    if threshold is None:
        raise SpecError(
            f"{undecided} of known samples can only be told on validation data; choose a threshold first: "
            "part.with_threshold(data.val) (on the command line: dovetail compose PARTS --threshold DATA -o FILE)"
        )
    return threshold.value(rate)
