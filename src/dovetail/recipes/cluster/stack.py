"""Small convolutional networks on two images in two channels."""

from __future__ import annotations

from ..recipe import Scale
from .cnn import NORMS
from .conditions import CNN_IN_SMALL, SMALL_CNN, line
from .tables import Tables, lines_recipe


def tables_at(scale: Scale) -> Tables:
    """Return both variants for each data set."""
    paper = scale == "paper"
    return {
        "Table A.12: small CNNs, two images in two channels" if paper else "Small CNNs, two digits in two channels": [
            line(
                f"stack:base={base},variant={variant}", SMALL_CNN if paper else CNN_IN_SMALL, {},
                labels={"data": f"{base}-stack-{variant}"},
                printed={"table": "A.12", "dataset": f"{base}-stack-{variant}"} if paper else None,
            )
            for base in (("mnist", "fashion-mnist") if paper else ("digits",))
            for variant in ("same", "diff")
        ]
    }  # fmt: skip


RECIPE = lines_recipe(
    "stack",
    "Are small CNNs more clusterable when each of two channels can be looked at on its own?",
    "Figure 12, Table A.12",
    tables_at,
    measures=NORMS,
    note="*Same*: both images are of one class. *Diff*: any two; the label is the sum of theirs modulo 10.",
)
