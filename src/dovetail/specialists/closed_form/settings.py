"""The settings of sums, declared once: signature, command line and checks follow."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ...settings import Number, Settings, Whole


class SumsSettings(Settings):
    """What sums are made of.

    Examples
    --------
    >>> SumsSettings(features=-1)
    Traceback (most recent call last):
    dovetail.errors.SpecError: features must be from 0 to 100000, not -1: random features of an input
    """

    features: Annotated[Whole, Field(ge=0, le=100_000)] | None = Field(
        default=2000,
        description="Random features of an input.",
        json_schema_extra={"help": "Random features of an input; 0: none, the inputs themselves."},
    )
    seed: Annotated[Whole, Field(ge=0, lt=2**63)] = Field(
        default=0, description="What random features are drawn from."
    )
    length: Annotated[Number, Field(gt=0)] | None = Field(
        default=None,
        description="What inputs are measured against.",
        json_schema_extra={
            "help": "What inputs are divided by: one number for all, so that it counts how long they are.",
            "default_text": "their own length; for tables the root of their columns",
        },
    )
    keep: Literal["smaller", "samples", "moments"] = Field(
        default="smaller",
        description="What a part holds: its samples as whole numbers, or only their moments.",
        json_schema_extra={
            "help": "What a part holds: its samples as whole numbers, only their moments, or what is smaller."
        },
    )
