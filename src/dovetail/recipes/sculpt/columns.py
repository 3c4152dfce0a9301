"""Columns of tables about sculpted networks: things counted and averaged over networks, and published counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..line import Rows
from ..published_values import published, read_published
from ..recipe import Scale
from ..tables import Quantity
from ..unit import Row


def trials_in(rows: Rows) -> list[Row]:
    """Return the networks of those units that are finished."""
    return [trial for row in rows if row for trial in row["trials"]]


def values(trials: Sequence[Row], *path: str) -> list[Any]:
    """Return one thing of every network.

    Examples
    --------
    >>> values([{"full": {"whole": True}}, {"full": {"whole": False}}], "full", "whole")
    [True, False]
    """
    found: list[Any] = list(trials)
    for name in path:
        found = [entry[name] for entry in found]
    return found


def count(trials: Sequence[Row], *path: str) -> Quantity | None:
    """Return of how many networks something is true.

    Examples
    --------
    >>> str(count([{"full": {"whole": True}}, {"full": {"whole": False}}], "full", "whole"))
    '1/2'
    """
    return Quantity(sum(map(bool, values(trials, *path))), of=len(trials)) if trials else None


def some_tied(trials: Sequence[Row], *path: str) -> Quantity | None:
    """Return for how many networks something is true of some network that is as sparse; nothing for older trials.

    Examples
    --------
    >>> trials = [{"some_tied": {"full": {"whole": True}}}, {"some_tied": {"full": {"whole": False}}}]
    >>> str(some_tied(trials, "full", "whole"))
    '1/2'
    """
    return count(trials, "some_tied", *path) if all("some_tied" in trial for trial in trials) else None


def sample(trials: Sequence[Row], *path: str) -> Quantity | None:
    """Return mean and standard deviation of a number over networks."""
    return Quantity.of_sample(values(trials, *path))


def published_count(scale: Scale, figure: str, **labels: object) -> Quantity | None:
    """Return what a figure of the paper shows; nothing at smoke scale.

    Examples
    --------
    >>> str(published_count("paper", "8", use=8, hidden_layers=3))
    '11/12'
    """
    return published("sculpting_success", figure=figure, **labels) if scale == "paper" else None


def published_word(table: int, structure: str, **labels: object) -> str | None:
    """Return an entry of Tables 1 to 3 as it is printed, words and crosses too; nothing for those that were lost.

    Examples
    --------
    >>> published_word(1, "input separable", hidden_layers=2, width=24)
    'not_rejected'
    >>> published_word(2, "reused", hidden_layers=3, lr=0.1, batch_size=2)
    'x'
    """
    wanted = {"table": table, "task": structure.replace(" ", "_"), **labels}
    for row in read_published("sculpting_tables"):
        if all(row[key] == str(value) for key, value in wanted.items()):
            return row["success"] or None
    return None
