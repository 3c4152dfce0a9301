"""Rows as the works of the Clusterability paper's recipes give them, made up."""

from __future__ import annotations

from typing import Any

from dovetail.recipes import Finished, Unit


def made_up(unit: Unit, ncut: float = 5.0) -> Finished:
    """Return a unit as if it were finished, with n-cuts near a value and copies at 6 ± 0.1."""
    settings = unit.settings
    networks = len(settings.get("seeds", [0]))
    measures = [
        {
            "ncut": [ncut + 0.1 * place for place in range(networks)],
            "dist_ncut": [6.0] * networks,
            "dist_sd": [0.1] * networks,
            "p_value": [1 / (made["shuffles"] + 1)] + [0.5] * (networks - 1),
            "z_score": [-10.0] * networks,
            "components": [1.0] * networks,
        }
        for made in settings["measures"]
    ]
    if unit.work == "cluster/foreign":
        return Finished(unit, {"measures": measures}, 1.0, "cpu")
    stage: dict[str, Any] = {
        "train": {"accuracy": [0.9] * networks, "loss": [0.3] * networks},
        "test": {"accuracy": [0.8] * networks, "loss": [0.4] * networks},
        "sparsity": [0.0] * networks,
        "measures": measures,
    }
    return Finished(unit, {"unpruned": stage, "pruned": stage}, 1.0, "cpu")
