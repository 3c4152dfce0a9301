"""Options that several commands have: the same name and meaning in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import SpecError

if TYPE_CHECKING:
    from ..data import Dataset

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of a table.")]
DataName = Annotated[
    str, typer.Argument(metavar="DATA", help="A data set, with options if need be: mnist, har:features=time.")
]
Device = Annotated[
    str | None,
    typer.Option(help="Where to compute: cpu, cuda, cuda:1.", show_default="the first GPU, if any"),
]
Seeds = Annotated[int, typer.Option(help="How many seeds, each with networks of its own.")]
FirstSeed = Annotated[int, typer.Option(help="The first seed.")]
ReplaceFile = Annotated[
    bool, typer.Option("--force", help="Also replace a file that is no page of dovetail's.")
]

MOST_SEEDS = 10_000
"""Of one command: a slip of the keyboard should not be taken for years of work."""


def seed_range(first: int, count: int) -> range:
    """Return the seeds that were asked for, by the first and how many."""
    if not 1 <= count <= MOST_SEEDS:
        raise SpecError(f"--seeds is how many seeds to use, 1 to {MOST_SEEDS:,}; got {count!r:.40}")
    return range(first, first + count)


def load_data(text: str) -> Dataset:
    """Load data given as ``NAME`` or ``NAME:option=value,option=value``."""
    from ..data import load

    return load(text)
