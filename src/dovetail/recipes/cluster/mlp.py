"""Dense networks on MNIST and Fashion-MNIST."""

from __future__ import annotations

from ..recipe import Scale
from .conditions import DENSE, DENSE_IN_SMALL, REGULARISATION, line
from .tables import Tables, lines_recipe


def tables_at(scale: Scale) -> Tables:
    """Return four conditions for each data set."""
    if scale == "smoke":
        return {
            "Dense networks, digits": [
                line("digits", DENSE_IN_SMALL, changes, labels={"data": "digits", "condition": name})
                for name, changes in REGULARISATION.items()
            ]
        }
    return {
        f"Table {table}: dense networks, {data}": [
            line(
                data, DENSE, changes, labels={"data": data, "condition": name},
                printed={"table": table, "network": "mlp", "dataset": data, "regularisation": name},
            )
            for name, changes in REGULARISATION.items()
        ]
        for table, data in (("A.5", "mnist"), ("A.6", "fashion-mnist"))
    }  # fmt: skip


RECIPE = lines_recipe(
    "mlp",
    "Are dense networks more clusterable than chance would have it, and what do pruning and regularisation change?",
    "Figures 2 and 3, Tables A.5 and A.6",
    tables_at,
    note="At the paper's scale: four hidden layers of 256; 20 epochs, then 20 with pruning to 90 %; "
    "five networks a condition.",
)
