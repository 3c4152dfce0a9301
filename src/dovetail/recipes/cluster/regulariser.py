"""The clusterability penalty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..recipe import Scale
from .conditions import line
from .tables import Tables, lines_recipe

_NETWORK: Mapping[str, Any] = {
    "net": "mlp:64-64-64",
    "seeds": range(10),
    "epochs": 10,
    "pruning_epochs": 10,
    "measures": [{}, {"part": "largest"}],
}
_IN_SMALL: Mapping[str, Any] = {
    "net": "mlp:32-32-32",
    "seeds": range(3),
    "epochs": 10,
    "pruning_epochs": 10,
    "batch_size": 64,
    "measures": [{"k": 6, "shuffles": 20}, {"k": 6, "shuffles": 20, "part": "largest"}],
}

# The paper's weight is .1, its program's gradient half the true one: .05 here is the same.
_PAPERS: Mapping[str, Mapping[str, Any]] = {"none": {}, "regularised": {"penalty": 0.05}}
# With weights kept from growing, which rescaling alone lets them do; and with as many eigenvalues as clusters.
_OURS: Mapping[str, Mapping[str, Any]] = {
    "l1": {"l1": 5e-5},
    "regularised-l1": {"penalty": 0.1, "l1": 5e-5},
    "regularised-l2": {"penalty": 0.2, "l2": 1e-4},
    "regularised-l1-k12": {"penalty": 0.1, "l1": 5e-5, "penalty_k": 12},
}
_PRINTED = {"none": "none", "regularised": "clusterability"}


def tables_at(scale: Scale) -> Tables:
    """Return the paper's two conditions, and four more of ours."""
    if scale == "smoke":
        names = ("none", "regularised", "regularised-l1")
        return {"The penalty, digits": [
            line("digits", _IN_SMALL, {**_PAPERS, **_OURS}[name], labels={"data": "digits", "condition": name})
            for name in names
        ]}  # fmt: skip
    return {
        "Table 1: the penalty": [
            line(
                "mnist-7x7", _NETWORK, changes, labels={"data": "mnist-7x7", "condition": name},
                printed={"table": "1", "regularisation": _PRINTED[name]} if name in _PRINTED else None,
            )
            for name, changes in {**_PAPERS, **_OURS}.items()
        ]
    }  # fmt: skip


RECIPE = lines_recipe(
    "regulariser",
    "Does a penalty on the Laplacian's eigenvalues make networks clusterable?",
    "Figure A.5, Table 1",
    tables_at,
    measures=("", "; the largest connected part alone"),
    note="At the paper's scale: 49-64-64-64-10; 10 epochs, then 10 with pruning to 90 %; ten networks a condition. "
    "*Regularised* is the paper's, with weight .05; the others are ours: weight .1 with L1 5e-5, .2 with L2 1e-4, "
    "and .1 with L1 on twelve eigenvalues in place of four. "
    "The penalty may cut off islands of a few units, hence the second table.",
)
