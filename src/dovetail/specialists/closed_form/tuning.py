"""The tuning of sums: regularisation and temperature, as given, or chosen by what samples get without themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import torch
from pydantic import BaseModel, ConfigDict, Field

from ...data.split import Split
from ...settings import Number
from .basis import UNIT
from .content import Samples
from .held import Held
from .ridge import LEAST_TEMPERATURE, MOST_TEMPERATURE, RIDGES, Choice, chosen, left_out, solution

_AT_ONCE = 4096


class Tuning(BaseModel):
    """What sums are solved with; none of it comes from samples unless ``chosen_on`` says so.

    Attributes
    ----------
    ridge : float
        What is added to the diagonal of the second moment, for features in units of 1.
    temperature : float
        What scores are divided by: they are close to 1 for the class of a sample, and to 0 for all others.
    chosen_on : str
        Which samples it was chosen on; empty where it is as it was given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ridge: Annotated[Number, Field(gt=0, le=1e9)] = Field(
        default=3.0, description="What is added to the diagonal of the second moment."
    )
    temperature: Annotated[Number, Field(ge=LEAST_TEMPERATURE, le=MOST_TEMPERATURE)] = Field(
        default=0.07, description="What scores are divided by."
    )
    chosen_on: Annotated[str, Field(max_length=500)] = ""


USUAL = Tuning()


def tuned_by_leaving_out(held: Held, samples: Sequence[Samples]) -> Tuning:
    """Return the tuning that is best for all samples, each judged by a solution without it; see `ridge.chosen`.

    Parameters
    ----------
    held : Held
        The sums.
    samples : sequence of Samples
        All that they are of, by class.
    """
    batches = (
        (held.basis.features_of(some), torch.full((len(some),), place))
        for place, content in enumerate(samples)
        for some in content.numbers.split(_AT_ONCE)
    )
    scores = left_out(batches, held.second, held.first, RIDGES)
    counts = torch.tensor([content.count for content in samples])
    ids = torch.arange(len(samples)).repeat_interleave(counts)
    return _tuning(chosen(list(scores), ids, RIDGES), f"leave one out of {int(counts.sum()):,}")


def tuned_on(held: Held, split: Split) -> Tuning:
    """Return the tuning that is best for validation samples, whose ids are places among the classes."""
    basis = held.basis
    features = basis.features_of(basis.numbers(split.x)).double() / UNIT
    scores = [features @ solution(held.second, held.first, ridge) for ridge in RIDGES]
    return _tuning(chosen(scores, split.y, RIDGES), f"{len(split):,} validation samples")


def _tuning(choice: Choice, chosen_on: str) -> Tuning:
    return Tuning(ridge=choice.ridge, temperature=choice.temperature, chosen_on=chosen_on)
