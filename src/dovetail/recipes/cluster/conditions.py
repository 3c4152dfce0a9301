"""Conditions of the Clusterability paper: which networks are trained and measured how, as units and as lines.

Units have every setting filled in, so that recipes share what they can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ...errors import unknown_name
from ..line import Line
from ..published_values import published_columns
from ..unit import Unit

_WORK = "cluster/networks"

MEASURE: Mapping[str, Any] = {
    "k": 12,  # clusters
    "shuffles": 50,  # shuffled copies; 0: none
    "shuffle": "layer",  # or "layer-nonzero"
    "norm": "l1",  # of kernels; "induced" for the numbers that the paper printed
    "starts": 25,  # of k-means
    "part": "whole",  # or "largest": only the largest connected part of the graph
}
"""How networks are clustered where a recipe does not say."""

MEASURE_OPTIONS: Mapping[str, Any] = {
    "drop_below": 0.0,  # connections that are weaker are left out
}
"""Further settings of a measure, which are named only where they are not so: units of before keep their keys."""

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

OPTIONS: Mapping[str, Any] = {
    "slips": [],  # of the paper's program, as in `dovetail.train_networks`
}
"""Further settings, which are named only where they are not so."""

ROUNDING = 1e-12
"""Weights that L1 or L2 has brought below this do nothing but connect what is not connected: they are left out."""
ROUNDING_NOTE = f"With L1 or L2, connections below {ROUNDING:g} are left out of the graph."


def networks_unit(data: str, net: str, *, before: Mapping[str, Any] | None = None, **changes: object) -> Unit:
    """Return the unit that trains networks on some data, prunes them, and measures how clusterable they are.

    Parameters
    ----------
    data : str
        What to learn, as `dovetail.load` takes it.
    net : str
        Spec of the networks.
    before : mapping, optional
        What was otherwise until lately: results with that are shown as older, see `Unit`.
    **changes
        What is not as in `SETTINGS` and `OPTIONS`. Entries of ``measures`` need to hold only what is not as in
        `MEASURE` and `MEASURE_OPTIONS`.

    Examples
    --------
    >>> unit = networks_unit("digits", "mlp:32-32", seeds=range(2), measures=[{"k": 4}])
    >>> unit.settings["seeds"], unit.settings["measures"][0]["k"], unit.settings["measures"][0]["shuffles"]
    ([0, 1], 4, 50)
    """
    named: dict[str, Any] = {"data": data, "net": net, **changes}
    return Unit(_WORK, _settings(**named), None if before is None else _settings(**{**named, **before}))


def _settings(data: str, net: str, **changes: object) -> dict[str, Any]:
    settings = _filled("setting", SETTINGS, OPTIONS, changes)
    settings["seeds"] = [int(seed) for seed in settings["seeds"]]
    settings["stages"] = list(settings["stages"])
    settings["measures"] = [measure_settings(**made) for made in settings["measures"]]
    return {"data": data, "net": net, **settings}


def measure_settings(**changes: object) -> dict[str, Any]:
    """Return how to measure, with all that is not said as in `MEASURE`; options are named where they are not the usual.

    Examples
    --------
    >>> measure_settings(k=4)["k"], measure_settings()["k"]
    (4, 12)
    """
    return _filled("setting of a measure", MEASURE, MEASURE_OPTIONS, changes)


def per_seed(unit: Unit) -> list[Unit]:
    """Return a unit for each seed, for networks that are so large that training them together gains nothing.

    Examples
    --------
    >>> [made.settings["seeds"] for made in per_seed(networks_unit("digits", "mlp:32", seeds=[0, 1]))]
    [[0], [1]]
    """
    return [
        Unit(
            unit.work,
            {**unit.settings, "seeds": [seed]},
            None if unit.before is None else {**unit.before, "seeds": [seed]},
        )
        for seed in unit.settings["seeds"]
    ]


def _filled(
    what: str, defaults: Mapping[str, Any], options: Mapping[str, Any], changes: Mapping[str, Any]
) -> dict[str, Any]:
    known = {**defaults, **options}
    for name in changes:
        if name not in known:
            raise unknown_name(what, name, known)
    # A weight of 0 and one of 0.0 are the same, and must give the same unit.
    filled = {
        name: float(changes.get(name, default)) if isinstance(default, float) else changes.get(name, default)
        for name, default in known.items()
    }
    return {name: value for name, value in filled.items() if name not in options or value != options[name]}


DENSE: Mapping[str, Any] = {"net": "mlp:256-256-256-256"}
"""784-256-256-256-256-10; all else is as `networks_unit` has it by default."""

SMALL_CNN: Mapping[str, Any] = {
    "net": "small-cnn",
    "epochs": 10,
    "pruning_epochs": 10,
    "batch_size": 64,
    "measures": [{"norm": "induced"}, {"norm": "l1"}],
}
"""Three convolutions of 64 channels; first the norm that was used for the printed numbers, then that of the text."""

VGG: Mapping[str, Any] = {
    "net": "vgg16",
    "epochs": 5,
    "pruning_epochs": 2,
    "augment": True,
    "measures": SMALL_CNN["measures"],
}
"""VGG-16 for CIFAR-10, for as many epochs as half an hour of an H200 had room for.

The paper's 200 and 50 should take 2.7 hours: change them here for that. Tables say what was run."""

SMOKE_DENSE: Mapping[str, Any] = {
    "net": "mlp:64-64-64",
    "seeds": [0, 1, 2],
    "epochs": 15,
    "pruning_epochs": 15,
    "batch_size": 64,
    "measures": [{"k": 8, "shuffles": 20, "starts": 100}],
}
"""As large as it must be for digits to be learned in spite of pruning; in small graphs k-means needs many starts."""

SMOKE_CNN: Mapping[str, Any] = {
    "net": "small-cnn",
    "seeds": [0, 1],
    "samples": 400,
    "epochs": 3,
    "pruning_epochs": 3,
    "batch_size": 16,
    "measures": [{"k": 6, "shuffles": 20, "norm": "induced"}, {"k": 6, "shuffles": 20}],
}
"""Few samples, in small batches: on a CPU, convolutions cost by the sample and learning goes by the step."""

REGULARISATION: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "dropout": {"dropout": 0.5},
    "l1": {"l1": 5e-5},
    "l2": {"l2": 5e-5},
}
"""By its published name; dropout is .5 in dense layers, less in convolutions."""

L2_SLIP = "l2-slip"
DENSE_REGULARISATION: Mapping[str, Mapping[str, Any]] = {
    **REGULARISATION,
    L2_SLIP: {**REGULARISATION["l2"], "slips": ["l1-first-layer"]},
}
"""For dense networks: also L2 as the paper's program has it there, with L1 on the first layer."""
L2_SLIP_NOTE = (
    f"*{L2_SLIP}* repeats a slip of the authors' program, whose dense networks with L2 have L1 on their first layer: "
    f"what is published as l2 stands beside it. *l2* is L2 on all layers. {ROUNDING_NOTE}"
)


def published_as(condition: str) -> str | None:
    """Return what a regularisation of dense networks was published as; None for what was not.

    Examples
    --------
    >>> published_as("l1"), published_as("l2-slip"), published_as("l2")
    ('l1', 'l2', None)
    """
    return {L2_SLIP: "l2", "l2": None}.get(condition, condition)


Stage = Literal["unpruned", "pruned"]
STAGES: Mapping[Stage, str] = {"unpruned": "no", "pruned": "yes"}
"""The stages of training that tables have lines for, and what these say under "pruned"."""

_COLUMNS = {
    "ncut": "n-cut",
    "dist_ncut": "shuffled",
    "train_acc": "train accuracy",
    "test_acc": "test accuracy",
    "train_loss": "train loss",
    "test_loss": "test loss",
}
"""Published metrics, and the columns that they stand in; counts of p-values name their threshold themselves."""


def stage_line(
    units: Sequence[Unit],
    labels: Mapping[str, str],
    published: Mapping[str, str] | None = None,
    stage: Stage = "pruned",
) -> Line:
    """Return the line of networks of one condition at one stage.

    Parameters
    ----------
    units : sequence of Unit
        The units that train them; units that differ in their seeds only make one line.
    labels : mapping
        What stands in front, such as ``{"data": "mnist", "condition": "dropout"}``.
    published : mapping, optional
        Where the paper has them: ``table``, ``network``, ``dataset`` and ``regularisation`` of
        ``clusterability_tables``. Nothing where nothing was published.
    stage : {"unpruned", "pruned"}
        Which stage.
    """
    pruned = STAGES[stage]
    found = _published(**published, pruning=pruned) if published else {}
    return Line({**labels, "pruned": pruned}, units, found, stage)


def _published(**labels: str) -> dict[str, Any]:
    found = published_columns("clusterability_tables", **labels)
    return {_COLUMNS.get(name, name.replace("prop_p_lt_", "p < ")): value for name, value in found.items()}


def lines(
    data: str,
    network: Mapping[str, Any],
    changes: Mapping[str, Any],
    labels: Mapping[str, str],
    published: Mapping[str, str] | None = None,
    *,
    before: Mapping[str, Any] | None = None,
    apart: bool = False,
    stages: Sequence[Stage] = tuple(STAGES),
) -> list[Line]:
    """Return the lines of a condition, one for each stage, for networks that train on some data.

    Parameters
    ----------
    data : str
        What they learn, as `dovetail.load` takes it.
    network, changes : mapping
        Settings of `networks_unit`: those of a kind of networks, and what this condition changes.
    labels, published
        As in `stage_line`.
    before : mapping, optional
        As in `networks_unit`.
    apart : bool
        Make each network a unit of its own.
    stages : sequence of str
        Which stages to show.
    """
    settings = {"data": data, **network, **changes}
    if settings.get("l1") or settings.get("l2"):
        measures = settings.get("measures", [{}])
        settings["measures"] = [{**made, "drop_below": ROUNDING} for made in measures]
        before = {"measures": measures, **(before or {})}
    unit = networks_unit(**settings, before=before)
    units = per_seed(unit) if apart else [unit]
    return [stage_line(units, labels, published, stage) for stage in stages]
