"""The output of commands: text, tables, and JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..display import printable
from ..io.fields import nan_to_null

if TYPE_CHECKING:
    import pandas as pd


def say(text: str, *, err: bool = False) -> None:
    """Print text that may hold names out of files: nothing in it steers the terminal."""
    typer.echo(printable(text), err=err)


def print_json(value: object) -> None:
    """Print JSON."""
    typer.echo(json.dumps(nan_to_null(value), indent=2, allow_nan=False))


_NO_TERMINAL = 400
"""Columns where there is no terminal: 80 would fold what a file or a program could hold."""


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal; wide enough for everything when there is none."""
    _console().print(table)


def fits(table: Table) -> bool:
    """Return whether a table has room on the terminal without breaking its cells."""
    console = _console()
    unbound = console.options.update(max_width=10**6)
    return Measurement.get(console, unbound, table).maximum <= console.width


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_NO_TERMINAL)


def facts_table(facts: Mapping[str, str]) -> Table:
    """Return names and what there is to say about each, one below the other."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, fact in facts.items():
        table.add_row(Text(name, style="bold"), Text(printable(fact)))
    return table


def table_of(frame: pd.DataFrame, title: str | None = None, digits: int = 4) -> Table:
    """Return a data frame as a table: numbers to the right, what is missing as a dash."""
    import pandas as pd

    from ..display import format_value

    # As Text everywhere: names of classes, layers and files may look like markup.
    table = Table(title=None if title is None else Text(printable(title), style="table.title"))
    for name in frame.columns:
        number = pd.api.types.is_numeric_dtype(frame[name]) and not pd.api.types.is_bool_dtype(frame[name])
        table.add_column(Text(printable(str(name))), justify="right" if number else "left", overflow="fold")
    for row in frame.itertuples(index=False):
        table.add_row(*(Text(format_value(value, digits)) for value in row))
    return table
