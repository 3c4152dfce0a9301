"""Specialists inside a composite: do they show up as clusters? No paper has asked; all the tools are here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import Any

from ..cluster.comparing import shuffled
from ..line import Columns, FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale, Tables
from ..tables import Quantity
from ..unit import Unit
from .findings import VIEWS, Composed, composed, in_words, unit_labels

_SLOTS: dict[str, Any] = {"slots": True, "sparsity": None}
_PAPER: dict[str, Any] = {
    "samples": None, "rounds": 2, "epochs": 20, "patience": 3, "seeds": [0, 1, 2, 3, 4],
    "shuffles": 50, "copies": 10, "permutations": 199,
}  # fmt: skip
_SMOKE: dict[str, Any] = {
    "data": "digits", "samples": None, "rounds": 1, "epochs": 15, "patience": 8, "seeds": [0, 1],
    "shuffles": 20, "copies": 2, "permutations": 49,
}  # fmt: skip

_TRAINING = {
    "loss": "me", "temperature": 5.0, "lr": 1e-3, "batch_size": 64, "monitor": "loss", "scope": "tensor",
    "output_share": 0.5,
}  # fmt: skip
"""As in the MaxEnt paper."""

_AGREEMENT_NOTE = """\
A composite is the sum of ten specialists, one for each class. Its **whole** graph, and its graph **without inputs**
(which all specialists share), are cut into as many clusters as there are classes. The owner of a hidden unit is the
specialist with the largest share of the weight that comes in and goes out there (with slots it is the only one);
*owner's share* is how large that is on average. *Units* are the hidden ones that have connections. *Agreement* is the
adjusted Rand index between clusters and owners over these units: 1 if they are the same, 0 by chance. Beside it are
means for owners *permuted* within each layer, and for the clusters of *copies* of the network with shuffled weights;
*same pattern*: copies in which zeros stay where they are, so that they keep the slots. The p-value is over
permutations."""

_NCUT_NOTE = """\
The n-cut of the clusters found, of the composite's shuffled copies (mean and standard deviation), and of the owners'
own partition, in which inputs too belong to the specialist with the largest share, and outputs to their class. Where
the owners' n-cut is the lower one, spectral clustering has missed a better cut. A generalist was trained and pruned in
the same way to as many weights in all."""

_FAVOURITE_NOTE = """\
The same clusters beside what units respond to: the class on whose test samples a unit is most active on average. This
can be said of a generalist too, which has no owners."""


def _units(scale: Scale) -> list[Unit]:
    """Return a unit for each data set, network, and way to keep specialists apart."""
    if scale == "smoke":
        ways: list[dict[str, Any]] = [_SLOTS, {"slots": False, "sparsity": 0.9}]
        return [_unit({**_SMOKE, "net": "mlp:60-30,dropout=0.2", **way}) for way in ways]
    ways = [_SLOTS, {"slots": False, "sparsity": 0.99}, {"slots": False, "sparsity": 0.9}]
    return [
        _unit({**_PAPER, "data": data, "net": f"{net},dropout=0.5", **way})
        for data, net, way in product(("mnist", "fashion-mnist"), ("mlp:510", "mlp:510-250"), ways)
    ]


def _unit(settings: dict[str, Any]) -> Unit:
    return Unit("beyond/composite-clusters", {**_TRAINING, **settings})


def _lines(scale: Scale) -> list[LineTable]:
    """Return agreement with owners, n-cuts, and agreement with what units respond to: a line for each graph."""
    lines = [
        Line({**unit_labels(unit), "graph": view}, [unit], condition=view)
        for unit in _units(scale)
        for view in VIEWS
    ]
    kinds = (
        ("Clusters and owners", _owner_columns, _AGREEMENT_NOTE),
        ("N-cuts", _ncut_columns, _NCUT_NOTE),
        ("Clusters and favourite classes", _favourite_columns, _FAVOURITE_NOTE),
    )
    return [
        LineTable(title, lines, _columns(of_view), note, all_lines=False) for title, of_view, note in kinds
    ]


def _columns(of_view: Callable[[Composed, str], dict[str, Quantity | None]]) -> Columns:
    def columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
        assert rows[0] is not None
        return of_view(composed(line.units[0], rows[0]), line.condition)

    return columns


def _owner_columns(one: Composed, view: str) -> dict[str, Quantity | None]:
    owner = one.composite[view]["owner"]
    layers = list(zip(*owner["layers"], strict=True))
    return {
        "accuracy": Quantity.of_sample(one.composite["accuracy"]),
        "owner's share": Quantity.of_sample(one.composite["purity"]),
        "units": Quantity(fmean(one.composite[view]["units"]), of=one.hidden_units),
        "agreement": Quantity.of_sample(owner["agreement"]),
        "permuted": Quantity.of_sample(owner["permuted"]),
        "copies": Quantity.of_sample(owner["copies"]),
        "same pattern": Quantity.of_sample(owner["pattern copies"]),
        f"p ≤ {one.least_p:.2g}": _count_up_to(one.least_p, owner["p_value"]),
        "first layer": Quantity.of_sample(layers[0]),
        "second layer": Quantity.of_sample(layers[1]) if len(layers) > 1 else None,
    }


def _ncut_columns(one: Composed, view: str) -> dict[str, Quantity | None]:
    composite, generalist = one.composite[view], one.generalist[view]
    return {
        "weights kept": Quantity.of_sample(one.composite["density"]),
        "n-cut": Quantity.of_sample(composite["ncut"]),
        "shuffled": shuffled(composite),
        "owners": Quantity.of_sample(composite["owner"]["ncut"]),
        "p ≤ 0.05": _count_up_to(0.05, composite["p_value"]),
        "generalist": Quantity.of_sample(generalist["ncut"]),
        "generalist shuffled": shuffled(generalist),
        "generalist kept": Quantity.of_sample(one.generalist["density"]),
        "generalist accuracy": Quantity.of_sample(one.generalist["accuracy"]),
    }


def _favourite_columns(one: Composed, view: str) -> dict[str, Quantity | None]:
    composite, generalist = (row[view]["favourite"] for row in (one.composite, one.generalist))
    return {
        "with owners": Quantity.of_sample(one.composite[view]["owner"]["agreement"]),
        "with favourites": Quantity.of_sample(composite["agreement"]),
        "permuted": Quantity.of_sample(composite["permuted"]),
        "generalist with favourites": Quantity.of_sample(generalist["agreement"]),
        "generalist permuted": Quantity.of_sample(generalist["permuted"]),
    }


def _count_up_to(most: float, p_values: Sequence[float]) -> Quantity:
    return Quantity(sum(p <= most for p in p_values), of=len(p_values))


def _found(filled: Sequence[FilledTable]) -> list[Composed]:
    return [
        composed(line.units[0], rows[0])
        for table in filled[:1]
        for line, rows in table.lines
        if rows[0] and line.condition == "whole"
    ]


def _with_words(filled: Sequence[FilledTable]) -> Tables:
    """Return the tables; the first says in words what was found."""
    found = _found(filled)
    tables = [table.shown() for table in filled]
    return [replace(table, note=f"{table.note}\n\n{in_words(found)}") for table in tables[:1]] + tables[1:]


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw agreement and n-cuts over all conditions, and whose units are in which cluster."""
    from .drawings import draw_agreement, draw_counts, draw_ncuts

    found = _found(filled)
    yield "agreement", draw_agreement(found)
    yield "n-cuts", draw_ncuts(found)
    for data in dict.fromkeys(one.labels["data"] for one in found):
        counts = draw_counts([one for one in found if one.labels["data"] == data])
        yield f"units-by-owner-{data}", counts


RECIPES = (
    Recipe(
        "modules-meet-clusters",
        "beyond",
        "Do the specialists inside a composite show up as clusters?",
        "no paper's question",
        _lines,
        _charts,
        _with_words,
    ),
)
