"""Dense networks on two images side by side."""

from __future__ import annotations

from ..recipe import Scale
from .conditions import DENSE, DENSE_IN_SMALL, line
from .tables import Tables, lines_recipe


def tables_at(scale: Scale) -> Tables:
    """Return both variants for each data set."""
    paper = scale == "paper"
    return {
        "Table A.7: dense networks, two images side by side" if paper else "Dense networks, two digits side by side": [
            line(
                f"halves:base={base},variant={variant}", DENSE if paper else DENSE_IN_SMALL, {},
                labels={"data": f"{base}-halves-{variant}"},
                printed={"table": "A.7", "dataset": f"{base}-halves-{variant}"} if paper else None,
            )
            for base in (("mnist", "fashion-mnist") if paper else ("digits",))
            for variant in ("same", "diff")
        ]
    }  # fmt: skip


RECIPE = lines_recipe(
    "halves",
    "Are networks more clusterable when their task falls into two that can be done side by side?",
    "Figure 5, Table A.7",
    tables_at,
    note="*Same*: both images are of one class. *Diff*: any two; the label is the sum of theirs modulo 10.",
)
