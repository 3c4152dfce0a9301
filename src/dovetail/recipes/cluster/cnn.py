"""Small convolutional networks on MNIST and Fashion-MNIST."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..recipe import Scale
from ..unit import Finished
from .conditions import CNN_IN_SMALL, REGULARISATION, SMALL_CNN, line
from .tables import Tables, lines_recipe, tables_begun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NORMS = ("; kernels by the matrix 1-norm", "; kernels by the sum of their entries")
"""What the measures of convolutional networks differ in."""


def tables_at(scale: Scale) -> Tables:
    """Return four conditions for each data set, and in small two."""
    if scale == "smoke":
        return {
            "Small CNNs, digits": [
                line(
                    "digits", CNN_IN_SMALL, REGULARISATION[name], labels={"data": "digits", "condition": name}
                )
                for name in ("none", "l1")
            ]
        }
    return {
        f"Table {table}: small CNNs, {data}": [
            line(
                data, SMALL_CNN, changes, labels={"data": data, "condition": name},
                printed={"table": table, "network": "small-cnn", "dataset": data, "regularisation": name},
            )
            for name, changes in REGULARISATION.items()
        ]
        for table, data in (("A.8", "mnist"), ("A.9", "fashion-mnist"))
    }  # fmt: skip


_COMPARED = lines_recipe(
    "cnn",
    "Are small convolutional networks more clusterable than chance would have it?",
    "Figures 6, 7 and A.4, Tables A.8 and A.9",
    tables_at,
    measures=NORMS,
    note="Three convolutions of 64 channels. At the paper's scale: 10 epochs, then 10 with pruning to 90 %; "
    "five networks a condition. The text describes the sum of a kernel's entries; "
    "the printed numbers come from the matrix 1-norm.",
)


def figures(finished: Sequence[Finished]) -> Iterator[tuple[str, Figure]]:
    """Draw all conditions, and once more those that L1, with copies far below the others, makes hard to see."""
    from .figures import ncut_figure

    yield from _COMPARED.figures(finished)
    begun = tables_begun(tables_at, finished)
    if begun:
        near = {
            title: [one for one in lines if one.labels["condition"] in ("none", "dropout")]
            for title, lines in begun.items()
        }
        yield "cnn-unpruned-detail", ncut_figure(near, finished, "unpruned")


RECIPE = replace(_COMPARED, figures=figures)
