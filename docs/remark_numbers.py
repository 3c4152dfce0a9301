"""Numbers in remarks: read from the tables that they are about, so that none is typed.

A remark's source, ``remarks.in.md``, has its numbers in double braces: what to take, and after a colon of which rows.

``{{success: use=8, hidden layers=3}}``
    Ours in the one row with these labels.
``{{published success: use=8, hidden layers=3}}``
    What the paper has there.
``{{each success: hidden layers=3}}``
    Ours in all rows with these labels, in their order.
``{{total success: hidden layers=3}}``
    Counts of all these rows, added up; of other numbers, their mean.
``{{range accuracy: pruned=99 %}}``
    From the least to the largest of ours in these rows; ``{{least accuracy: …}}`` and ``{{largest accuracy: …}}`` have
    one of them.
``{{spread accuracy: pruned=99 %}}``
    The standard deviation beside ours in the one row with these labels.
``{{off accuracy: loss=ME}}``
    By how much ours are off, in the mean over these rows, whichever way.
``{{agreeing}}``
    In how many cells ours agrees with the published: within two published standard deviations, or for counts not
    significantly different (Fisher's exact test, 5 %). ``{{agreeing accuracy: loss=ME}}`` for some of them.

Two labels more than the tables show: ``table`` is the title of the one that is meant, where several have rows alike,
and ``of before`` says ``yes`` or ``no``: whether a number is of an older version or of settings since put right (†).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import fmean

from scipy.stats import fisher_exact

from dovetail.recipes.tables import Cell, Quantity

_PLACE = re.compile(r"\{\{(?P<what>[^:}]*)(?::(?P<labels>[^}]*))?\}\}")


def filled_in(text: str, cells: Sequence[Cell]) -> str:
    """Return a remark with its numbers.

    Raises
    ------
    ValueError
        For numbers that the tables do not have.
    """
    return _PLACE.sub(lambda found: _number(found["what"].strip(), found["labels"] or "", cells), text)


def agreement(cells: Sequence[Cell]) -> tuple[int, int]:
    """Return in how many cells ours agrees with the published, and how many can be compared."""
    verdicts = [verdict for cell in cells if (verdict := _agrees(cell)) is not None]
    return sum(verdicts), len(verdicts)


def _agrees(cell: Cell) -> bool | None:
    """Return whether ours is as published.

    None where one is missing or in doubt, where the published one has no spread, and where counts are so small that no
    difference could be significant.
    """
    ours, published = cell.ours, cell.published
    if ours is None or published is None or published.doubt:
        return None
    if ours.of and published.of:
        if fisher_exact([[ours.of, 0], [0, published.of]])[1] >= 0.05:
            return None  # so few that nothing could be significant
        table = [[q.value, q.of - q.value] for q in (ours, published) if q.of]
        return bool(fisher_exact(table)[1] >= 0.05)
    return None if published.spread is None else abs(ours.value - published.value) <= 2 * published.spread


def _number(what: str, labels: str, cells: Sequence[Cell]) -> str:
    # A comma in a label is written as a semicolon.
    labels = " ".join(labels.split())  # of several lines, perhaps
    wanted = dict(
        label.strip().replace(";", ",").split("=", 1) for label in labels.split(",") if label.strip()
    )
    words = what.split(" ", 1)
    kind, metric = (words[0], words[1] if len(words) > 1 else "") if words[0] in _KINDS else ("", what)
    side = "ours"
    if metric.startswith("published "):
        side, metric = "published", metric.removeprefix("published ")
    rows = [
        cell
        for cell in cells
        if (cell.metric == metric or not metric)
        and all(str(cell.labels.get(name)).replace(";", ",") == value for name, value in wanted.items())
    ]
    found = [quantity for cell in rows if (quantity := getattr(cell, side)) is not None]
    if not found or (kind in ("", "spread") and len(found) != 1):
        raise ValueError(f"{{{{{what}: {labels}}}}} is in {len(found)} cells of the tables")
    if kind == "agreeing":
        agreeing, of = agreement(rows)
        return f"{agreeing} of {of}"
    if kind == "spread" and found[0].spread is not None:
        return _text(Quantity(found[0].spread))
    if kind == "off":
        return _text(Quantity(fmean(abs(cell.difference) for cell in rows if cell.difference is not None)))
    if kind in ("range", "least", "largest"):
        found = sorted(found, key=lambda quantity: quantity.share)
        ends = {"range": (found[0], found[-1]), "least": found[:1], "largest": found[-1:]}[kind]
        return " to ".join(_text(one) for one in ends)
    if kind == "each":
        texts = [f"{one.value:g}" if one.of else _text(one) for one in found]
        return ", ".join(texts[:-1]) + f" and {texts[-1]}" if len(texts) > 1 else texts[0]
    return _text(_together(found) if kind == "total" else found[0])


_KINDS = ("agreeing", "each", "total", "range", "least", "largest", "off", "spread")


def _together(found: Sequence[Quantity]) -> Quantity:
    if all(one.of for one in found):
        return Quantity(sum(one.value for one in found), of=sum(one.of or 0 for one in found))
    return Quantity(fmean(one.share for one in found))


def _text(quantity: Quantity) -> str:
    if quantity.of:
        return f"{quantity.value:g} of {quantity.of}"
    return re.sub(
        r"^(-?)0\.", r"\1.", f"{quantity.value:.3f}" if abs(quantity.value) < 10 else f"{quantity.value:.1f}"
    )
