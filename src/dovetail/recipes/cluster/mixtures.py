"""Dense networks on mixtures of two kinds of images, each of which could have a region of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..recipe import Scale
from ..tables import Comparison
from ..unit import Finished
from .cells import line_cells
from .conditions import DENSE, DENSE_IN_SMALL, REGULARISATION, line
from .tables import COLUMNS, Tables, lines_recipe, tables_begun

_DATA: Mapping[str, str] = {
    "mnist": "mnist",
    "lines": "lines",
    "lines-mnist": "mixture:kind=overlapping,base=mnist",
    "lines-mnist-sep": "mixture:kind=separate,base=mnist",
}
"""By the published name."""
_IN_SMALL: Mapping[str, str] = {
    "lines": "lines:train_samples=2000,test_samples=500",
    # Digits are too narrow for ten lines; random images are not.
    "lines-random": "mixture:kind=overlapping,base=random",
    "lines-random-sep": "mixture:kind=separate,base=random",
}
_NOTE = (
    "*Lines*: one to ten white columns, labelled by their number. *lines-mnist*: half of the images of every class are "
    "lines; *sep*: classes 0 to 4 are lines, 5 to 9 the other images. If each kind of images had a region of its own, "
    "networks on mixtures would have lower n-cuts than those on either kind. Five pruned networks a condition."
)


def tables_at(scale: Scale) -> Tables:
    """Return four data sets without dropout, and with it; in small, three without, and lines with it."""
    if scale == "smoke":
        small = {**DENSE_IN_SMALL, "seeds": range(2), "samples": 2000, "epochs": 8, "pruning_epochs": 8}
        conditions = [(name, "none") for name in _IN_SMALL] + [("lines", "dropout")]
        return {
            "Mixtures": [
                line(
                    _IN_SMALL[name],
                    small,
                    REGULARISATION[condition],
                    labels={"data": name, "condition": condition},
                )
                for name, condition in conditions
            ]
        }
    return {
        f"Table {table}: mixtures, {condition}": [
            line(
                data, DENSE, REGULARISATION[condition], labels={"data": name, "condition": condition},
                printed={"table": table, "dataset": name},
            )
            for name, data in _DATA.items()
        ]
        for table, condition in (("A.20", "none"), ("A.21", "dropout"))
    }  # fmt: skip


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return n-cuts and accuracies of pruned networks."""
    return [
        Comparison(title, line_cells(lines, finished, stages=["pruned"]), f"{_NOTE} {COLUMNS}")
        for title, lines in tables_begun(tables_at, finished).items()
    ]


RECIPE = replace(
    lines_recipe(
        "mixtures",
        "Do networks on two kinds of images have a region for each?",
        "Tables A.20 and A.21",
        tables_at,
        note=_NOTE,
    ),
    tables=tables,
)
