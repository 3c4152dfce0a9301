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
    By how much ours are off, in the mean over these rows, whichever way; ``{{furthest accuracy: …}}`` is the most.
``{{shuffled - n-cut: pruned=yes}}``
    A difference of two columns of the same row, with all words from above: ``{{range shuffled - n-cut: …}}``.
``{{agreeing}}``
    In how many cells ours agrees with the published: within two published standard deviations, or for counts not
    significantly different (Fisher's exact test, 5 %). ``{{agreeing accuracy: loss=ME}}`` for some of them.

A label may have several values, ``condition=none or dropout``, or all that begin so, ``net=mlp:*``. Three labels more
than the tables show: ``table`` is the title of the one that is meant, where several have rows alike, or a part of it;
``of before`` says ``yes`` or ``no``, whether a number is of an older version or of settings since put right (†);
``recipe`` is another one, whose tables have the number.

The first line of a source, ``cause: …``, says in a few words why numbers that do not agree do not. It stands in the
overview of all recipes, not in the remark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from scipy.stats import fisher_exact

from dovetail.recipes.tables import Cell, Quantity

_PLACE = re.compile(r"\{\{(?P<what>[^:}]*)(?::(?P<labels>[^}]*))?\}\}")
_CAUSE = re.compile(r"\Acause: (?P<words>.*)\n\n?")


def cause_and_remark(source: str) -> tuple[str, str]:
    """Return the cause that a source begins with, nothing where it has none, and the rest of it."""
    found = _CAUSE.match(source)
    return (found["words"].strip(), source[found.end() :]) if found else ("", source)


def filled_in(
    text: str, cells: Sequence[Cell], elsewhere: Callable[[str], Sequence[Cell]] | None = None
) -> str:
    """Return a remark with its numbers.

    Parameters
    ----------
    text : str
        The remark's source.
    cells : sequence of Cell
        All numbers of the recipe's tables.
    elsewhere : callable, optional
        Gives those of another recipe, by its name.

    Raises
    ------
    ValueError
        For numbers that the tables do not have.
    """

    def number(found: re.Match[str]) -> str:
        # A comma in a label is written as a semicolon.
        labels = " ".join((found["labels"] or "").split())  # of several lines, perhaps
        wanted = dict(
            label.strip().replace(";", ",").split("=", 1) for label in labels.split(",") if label.strip()
        )
        recipe = wanted.pop("recipe", None)
        there = elsewhere(recipe) if recipe and elsewhere else cells
        return _number(" ".join(found["what"].split()), wanted, there)

    return _PLACE.sub(number, text)


def agreement(cells: Sequence[Cell]) -> tuple[int, int]:
    """Return in how many cells ours agrees with the published, and how many can be compared."""
    by_rule = agreements(cells)
    theirs = [by_rule[rule] for rule in THEIRS if rule in by_rule]
    return sum(agreeing for agreeing, _ in theirs), sum(compared for _, compared in theirs)


def agreements(cells: Sequence[Cell]) -> dict[str, tuple[int, int]]:
    """Return the same for each rule that could be applied: those of `THEIRS`, and `OURS` where no spread is printed."""
    verdicts = [verdict for cell in cells if (verdict := _verdict(cell)) is not None]
    return {
        rule: (sum(agrees for name, agrees in verdicts if name == rule), names.count(rule))
        for rule in (*THEIRS, OURS)
        if rule in (names := [name for name, _ in verdicts])
    }


def _verdict(cell: Cell) -> tuple[str, bool] | None:
    """Return by which rule ours can be compared with the published, and whether it is the same.

    None where one is missing or in doubt, where neither has a spread, and where counts are so small that no difference
    could be significant.
    """
    ours, published = cell.ours, cell.published
    if ours is None or published is None or published.doubt:
        return None
    if ours.of and published.of:
        if fisher_exact([[ours.of, 0], [0, published.of]])[1] >= 0.05:
            return None  # so few that nothing could be significant
        table = [[q.value, q.of - q.value] for q in (ours, published) if q.of]
        return "counts", bool(fisher_exact(table)[1] >= 0.05)
    rule, spread = ("2 sd", published.spread) if published.spread is not None else (OURS, ours.spread)
    if spread is None:
        return None
    return rule, abs(ours.share - published.share) <= 2 * spread + _ROUNDED


THEIRS = ("2 sd", "counts")
OURS = "2 sd of ours"
_ROUNDED = 0.0005
"""Published numbers have three digits."""


def _number(what: str, wanted: Mapping[str, str], cells: Sequence[Cell]) -> str:
    words = what.split(" ", 1)
    kind, metric = (words[0], words[1] if len(words) > 1 else "") if words[0] in _KINDS else ("", what)
    side = "ours"
    if metric.startswith("published "):
        side, metric = "published", metric.removeprefix("published ")
    rows = _rows(metric, [cell for cell in cells if _has(cell, wanted, cells)])
    found = [quantity for cell in rows if (quantity := getattr(cell, side)) is not None]
    if not found or (kind in ("", "spread") and len(found) != 1):
        labels = ", ".join(f"{name}={value}" for name, value in wanted.items())
        raise ValueError(f"{{{{{what}: {labels}}}}} is in {len(found)} cells of the tables")
    if kind == "agreeing":
        agreeing, of = agreement(rows)
        return f"{agreeing} of {of}"
    digits = next((int(str(cell.labels["digits"])) for cell in rows if "digits" in cell.labels), 1)
    if kind == "spread" and found[0].spread is not None:
        return text_of(Quantity(found[0].spread), digits)
    if kind in ("off", "furthest"):
        off = [abs(cell.difference) for cell in rows if cell.difference is not None]
        return text_of(Quantity(fmean(off) if kind == "off" else max(off)), digits)
    if kind in ("range", "least", "largest"):
        found = sorted(found, key=lambda quantity: quantity.share)
        ends = {"range": (found[0], found[-1]), "least": found[:1], "largest": found[-1:]}[kind]
        return " to ".join(dict.fromkeys(text_of(one, digits) for one in ends))
    if kind == "each":
        texts = [f"{one.value:g}" if one.of else text_of(one, digits) for one in found]
        return ", ".join(texts[:-1]) + f" and {texts[-1]}" if len(texts) > 1 else texts[0]
    return text_of(_together(found) if kind == "total" else found[0], digits)


_KINDS = ("agreeing", "each", "total", "range", "least", "largest", "off", "furthest", "spread")


def _has(cell: Cell, wanted: Mapping[str, str], cells: Sequence[Cell]) -> bool:
    for name, value in wanted.items():
        has = str(cell.labels.get(name)).replace(";", ",")
        if name == "table" and not any(_title(one) == value for one in cells):
            if not any(part in has for part in value.split(" or ")):
                return False
        elif has != value and not any(_matches(has, one) for one in value.split(" or ")):
            return False
    return True


def _matches(has: str, value: str) -> bool:
    return has.startswith(value.removesuffix("*")) if value.endswith("*") else has == value


def _title(cell: Cell) -> str:
    return str(cell.labels.get("table")).replace(";", ",")


def _rows(metric: str, cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of a column, or the differences of two of them."""
    first, minus, second = metric.partition(" - ")
    if not minus:
        return [cell for cell in cells if cell.metric == metric or not metric]
    others = {tuple(cell.labels.items()): cell for cell in cells if cell.metric == second}
    return [
        replace(
            cell,
            metric=metric,
            ours=_less(cell.ours, other.ours),
            published=_less(cell.published, other.published),
        )
        for cell in cells
        if cell.metric == first and (other := others.get(tuple(cell.labels.items())))
    ]


def _less(one: Quantity | None, other: Quantity | None) -> Quantity | None:
    return None if one is None or other is None else Quantity(one.share - other.share)


def _together(found: Sequence[Quantity]) -> Quantity:
    if all(one.of for one in found):
        return Quantity(sum(one.value for one in found), of=sum(one.of or 0 for one in found))
    return Quantity(fmean(one.share for one in found))


def text_of(quantity: Quantity, digits: int) -> str:
    """Return a number without the 0 before its point; from 10 on with as many digits as its table has."""
    if quantity.of:
        return f"{quantity.value:g} of {quantity.of}"
    value = round(quantity.value, 3) + 0.0  # -0.0 is 0
    text = f"{value:.{3 if abs(value) < 10 else digits}f}"
    return re.sub(r"^(-?)0\.", r"\1.", text)
