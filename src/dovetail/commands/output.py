"""What the commands share: options that many have, and how results are printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..plain_json import plain_json

if TYPE_CHECKING:
    import pandas as pd

    from ..data import Dataset

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of a table.")]
DataName = Annotated[
    str, typer.Argument(metavar="DATA", help="A data set, with options if need be: mnist, har:features=time.")
]

MOST_SEEDS = 10_000
"""Of one command: a slip of the keyboard should not be taken for years of work."""


def load_data(text: str) -> Dataset:
    """Load data given as ``NAME`` or ``NAME:option=value,option=value``."""
    from ..data import load_text

    return load_text(text)


def print_json(value: object) -> None:
    """Print JSON."""
    typer.echo(json.dumps(plain_json(value), indent=2, allow_nan=False))


_NO_TERMINAL = 400


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal; wide enough for everything when there is none."""
    _console().print(table)


def fits(table: Table) -> bool:
    """Return whether a table has room on the terminal without breaking its cells."""
    console = _console()
    unbound = console.options.update(max_width=_NO_TERMINAL)
    return Measurement.get(console, unbound, table).maximum <= console.width


def _console() -> Console:
    # A pipe has no width of its own; 80 columns would fold what a file or a program could hold.
    console = Console()
    return console if console.is_terminal else Console(width=_NO_TERMINAL)


def table_of(frame: pd.DataFrame, title: str | None = None, digits: int = 4) -> Table:
    """Return a data frame as a table: numbers to the right, what is missing as a dash."""
    import pandas as pd

    from ..cells import cell_text

    table = Table(title=title)
    for name in frame.columns:
        number = pd.api.types.is_numeric_dtype(frame[name]) and not pd.api.types.is_bool_dtype(frame[name])
        table.add_column(str(name), justify="right" if number else "left", overflow="fold")
    for row in frame.itertuples(index=False):
        table.add_row(*(Text(cell_text(value, digits)) for value in row))
    return table
