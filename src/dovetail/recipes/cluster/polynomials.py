"""Dense networks that compute 512 polynomials of two numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..recipe import Scale
from ..tables import Comparison
from ..unit import Finished
from .cells import line_cells
from .conditions import DENSE, DENSE_IN_SMALL, REGULARISATION, line
from .tables import COLUMNS, Tables, lines_recipe, tables_begun

_NOTE = (
    "Each of the 512 outputs is a sum of some of the nine monomials x^i y^j with i, j up to 2; the loss is the mean "
    "squared error, without the penalty, which the published losses with l1 and l2 contain. Five networks a condition, "
    "60,000 samples (the paper does not say how many). The published n-cuts of unpruned networks differ from the "
    "authors' result files (l2: 8.115 printed, 8.300 there), and the pruned ones are in no file."
)


def tables_at(scale: Scale) -> Tables:
    """Return three conditions; the paper left dropout out because it did harm."""
    paper = scale == "paper"
    data, samples = ("polynomials", 60_000) if paper else ("polynomials:samples=1500", 1500)
    network = DENSE if paper else {**DENSE_IN_SMALL, "seeds": range(2)}
    return {
        "Table A.19: polynomials" if paper else "Polynomials": [
            line(
                data, network, {"samples": samples, **REGULARISATION[name]},
                labels={"condition": name}, printed={"table": "A.19", "regularisation": name} if paper else None,
            )
            for name in ("none", "l1", "l2")
        ]
    }  # fmt: skip


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return n-cuts and losses."""
    return [
        Comparison(title, line_cells(lines, finished, score="loss"), f"{_NOTE} {COLUMNS}")
        for title, lines in tables_begun(tables_at, finished).items()
    ]


RECIPE = replace(
    lines_recipe(
        "polynomials",
        "Are networks clusterable that compute many functions of shared terms?",
        "Figure A.7, Table A.19",
        tables_at,
        note=_NOTE,
    ),
    tables=tables,
)
