"""Cells of the Clusterability paper's tables: what finished units gave beside what was published."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from ..published_values import published
from ..tables import Cell, Quantity
from ..unit import Finished, Row
from .lines import Line, row_of

StageName = Literal["unpruned", "pruned"]

_PRUNING = {"unpruned": "no", "pruned": "yes"}
_SHORT = {"accuracy": "acc", "loss": "loss"}


def line_cells(
    lines: Sequence[Line],
    finished: Sequence[Finished],
    *,
    measure: int = 0,
    threshold: str | None = None,
    score: Literal["accuracy", "loss"] = "accuracy",
    stages: Sequence[StageName] = ("unpruned", "pruned"),
    beside_published: bool = True,
) -> list[Cell]:
    """Return the cells of a comparison, a row for each line and stage.

    Parameters
    ----------
    lines : sequence of Line
        What the table has rows for.
    finished : sequence of Finished
        What is done; lines of which nothing is done have published values only.
    measure : int
        Which of the units' measures to take.
    threshold : str, optional
        Below which a p-value counts, as it stands in the names of the published metrics: "0.02" or "1/320". By default
        one in as many as there are shuffled copies, which only networks reach that are more clusterable than all.
    score : {"accuracy", "loss"}
        What networks are scored by.
    stages : sequence of str
        Which stages to show.
    beside_published : bool
        Whether the paper measured in this way.

    Notes
    -----
    The n-cut is the mean over networks, with their standard deviation. "Shuffled" is the mean of the copies' n-cuts
    with their standard deviation, both averaged over networks. P-values below the threshold are counted. Parts are
    the connected parts of the graph, averaged.
    """
    cells = []
    for line in lines:
        row = row_of(line, finished)
        below = threshold or f"{1 / line.units[0].settings['measures'][measure]['shuffles']:g}"
        for stage in stages:
            labels = {**line.labels, "pruned": _PRUNING[stage]}
            for column, (metric, ours) in _quantities(row, stage, measure, below, score).items():
                printed = _printed(line, stage, metric) if beside_published else None
                cells.append(Cell(labels, column, ours, printed))
    return cells


def _quantities(
    row: Row | None, stage: StageName, measure: int, threshold: str, score: str
) -> dict[str, tuple[str, Quantity | None]]:
    """Return, by column, the name of the published metric and our value."""
    at = row.get(stage) if row else None
    found = at["measures"][measure] if at and "measures" in at else None
    splits = {split: at and at.get(split) for split in ("train", "test")}
    return {
        "n-cut": ("ncut", found and Quantity.of_sample(found["ncut"])),
        "shuffled": ("dist_ncut", found and shuffled(found)),
        f"p < {threshold}": (f"prop_p_lt_{threshold}", found and _count_below(found["p_value"], threshold)),
        **{
            f"{split} {score}": (f"{split}_{_SHORT[score]}", scores and Quantity.of_sample(scores[score]))
            for split, scores in splits.items()
        },
        "parts": ("", found and Quantity.of_sample(found["components"])),
    }


def shuffled(found: Row) -> Quantity | None:
    """Return the mean n-cut of shuffled copies with its standard deviation, both averaged over networks."""
    mean, spread = Quantity.of_sample(found["dist_ncut"]), Quantity.of_sample(found["dist_sd"])
    return mean and spread and Quantity(mean.value, spread.value)


def _count_below(p_values: Sequence[float | None], threshold: str) -> Quantity | None:
    known = [value for value in p_values if value is not None]
    return Quantity(sum(value < Fraction(threshold) for value in known), of=len(known)) if known else None


def _printed(line: Line, stage: StageName, metric: str) -> Quantity | None:
    if not line.printed or not metric:
        return None
    return published("clusterability_tables", **line.printed, pruning=_PRUNING[stage], metric=metric)
