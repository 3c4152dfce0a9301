"""Yeast as the text says and as its published rows come out: pruned at 90 %, or the second output layer added twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..line import Line, LineTable, Rows
from ..recipe import Recipe, Scale
from ..tables import Quantity
from .condition import Condition
from .rows import METRICS, sample

PRUNED_AT = 0.9
"""The text and the settings say .99, with which the published rows of pruned Yeast do not come out."""

_CASES: Mapping[Scale, tuple[str, tuple[str, ...], tuple[int, ...]]] = {
    "paper": ("yeast", ("shallow", "deep"), (1, 2)),
    "smoke": ("digits", ("shallow",), (1,)),
}
"""Data, models, and sizes of class sets; at smoke scale only to show that it runs."""


def _lines(scale: Scale) -> Iterator[Line]:
    data, models, sizes = _CASES[scale]
    for model in models:
        for size in sizes:
            plain = Condition(scale, data, model, size, sparsity=0.0)
            pruned = Condition(scale, data, model, size)
            yield _line(plain, plain)
            yield _line(plain, Condition(scale, data, model, size, sparsity=0.0, doubled=True))
            yield _line(pruned, pruned)
            yield _line(pruned, Condition(scale, data, model, size, sparsity=PRUNED_AT))


def _line(asked: Condition, done: Condition) -> Line:
    """Return the line of what is done, beside what the paper prints for what it says that it did."""
    labels = ("data", "net", "|R|", "pruned")
    published = asked.line(*labels, file="maxent_table4").published
    return Line(
        done.line(*labels, sum="output twice" if done.doubled else "plain").labels,
        [done.unit],
        published,
        done,
    )


def _columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    if rows[0] is None:
        return dict.fromkeys(METRICS)
    pairs = rows[0]["pairs_doubled" if line.condition.doubled else "pairs"]
    if (
        line.condition.size > 1
    ):  # the first of the three splits of four classes is the one that the program draws
        pairs = {metric: [of_seed[:1] for of_seed in pairs[metric]] for metric in METRICS}
    return {metric: Quantity.of_sample(sample({"pairs": pairs}, "pairs", metric)) for metric in METRICS}


def _pairs(scale: Scale) -> list[LineTable]:
    note = (
        "Max-entropy specialists. Mean (sd) over pairs and five seeds, test split: all six pairs of single classes; "
        "with |R| = 2 the one split that the authors' program draws of four classes, {0, 1} + {2, 3}. *Output twice*: "
        "the second specialist's output layer is added twice, as that program does unless it prunes."
    )
    return [
        LineTable("Pairs for Yeast, as the text says and as published", list(_lines(scale)), _columns, note)
    ]


RECIPES = (
    Recipe(
        "yeast", "maxent", "Yeast: what the published rows were made with", "Tables 2 and 4, Yeast", _pairs
    ),
)
