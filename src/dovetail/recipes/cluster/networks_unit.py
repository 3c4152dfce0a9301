"""Units of the work ``cluster/networks``, with every setting filled in, so that recipes share what they can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import unknown_name
from ..unit import Unit

WORK_NAME = "cluster/networks"

MEASURE: Mapping[str, Any] = {
    "k": 12,  # clusters
    "shuffles": 50,  # shuffled copies; 0: none
    "shuffle": "layer",  # or "layer-nonzero"
    "norm": "l1",  # of kernels; "induced" for the numbers that the paper printed
    "starts": 25,  # of k-means
    "part": "whole",  # or "largest": only the largest connected part of the graph
}
"""How networks are clustered where a recipe does not say."""

SETTINGS: Mapping[str, Any] = {
    "samples": None,  # how many training samples are kept; all
    "seeds": [0, 1, 2, 3, 4],
    "epochs": 20,
    "pruning_epochs": 20,
    "batch_size": 128,
    "lr": 1e-3,
    "pruning": {"from": 0.5, "to": 0.9, "every": 10},  # share of weights, and steps between prunings
    "dropout": 0.0,
    "l1": 0.0,
    "l2": 0.0,
    "init_beta": 1.0,  # of clusterable initialisation; 1: ordinary
    "init_clusters": 10,  # and how many clusters that has
    "penalty": 0.0,  # weight of the clusterability penalty
    "penalty_k": 4,  # up to which eigenvalue it goes
    "augment": False,  # turn, shift and mirror training images
    "measures": [MEASURE],
    "stages": ["unpruned", "pruned"],  # which to measure, of "initial", "unpruned" and "pruned"
    "labels": False,  # keep the clusters of the first network
}
"""How networks are trained and measured where a recipe does not say: as the paper's dense networks were."""


def networks_unit(data: str, net: str, **changes: object) -> Unit:
    """Return the unit that trains networks on some data, prunes them, and measures how clusterable they are.

    Parameters
    ----------
    data : str
        What to learn, as `dovetail.load` takes it.
    net : str
        Spec of the networks.
    **changes
        What is not as in `SETTINGS`. Entries of ``measures`` need to hold only what is not as in `MEASURE`.

    Examples
    --------
    >>> unit = networks_unit("digits", "mlp:32-32", seeds=range(2), measures=[{"k": 4}])
    >>> unit.settings["seeds"], unit.settings["measures"][0]["k"], unit.settings["measures"][0]["shuffles"]
    ([0, 1], 4, 50)
    """
    settings = _filled("setting", SETTINGS, changes)
    settings["seeds"] = [int(seed) for seed in settings["seeds"]]
    settings["stages"] = list(settings["stages"])
    settings["measures"] = [measure_settings(**made) for made in settings["measures"]]
    return Unit(WORK_NAME, {"data": data, "net": net, **settings})


def measure_settings(**changes: object) -> dict[str, Any]:
    """Return how to measure, with all that is not said as in `MEASURE`.

    Examples
    --------
    >>> measure_settings(k=4)["k"], measure_settings()["k"]
    (4, 12)
    """
    return _filled("setting of a measure", MEASURE, changes)


def per_seed(unit: Unit) -> list[Unit]:
    """Return a unit for each seed, for networks that are so large that training them together gains nothing.

    Examples
    --------
    >>> [made.settings["seeds"] for made in per_seed(networks_unit("digits", "mlp:32", seeds=[0, 1]))]
    [[0], [1]]
    """
    return [Unit(unit.work, {**unit.settings, "seeds": [seed]}) for seed in unit.settings["seeds"]]


def _filled(what: str, defaults: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    for name in changes:
        if name not in defaults:
            raise unknown_name(what, name, defaults)
    # A weight of 0 and one of 0.0 are the same, and must give the same unit.
    return {
        name: float(changes.get(name, default)) if isinstance(default, float) else changes.get(name, default)
        for name, default in defaults.items()
    }
