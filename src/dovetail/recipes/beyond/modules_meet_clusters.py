"""Do the specialists inside a composite show up as clusters? No paper has asked; all the tools are here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ..cluster.cells import shuffled
from ..recipe import Recipe, Scale
from ..tables import Cell, Comparison, Quantity
from ..unit import Finished, Unit
from .findings import VIEWS, Composed, read
from .verdict import verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def units(scale: Scale) -> list[Unit]:
    """Return a unit for each data set, network, and way to keep specialists apart."""
    if scale == "smoke":
        ways: list[dict[str, Any]] = [_SLOTS, {"slots": False, "sparsity": 0.9}]
        return [_unit({**_SMOKE, "net": "mlp:60-30,dropout=0.2", **way}) for way in ways]
    ways = [_SLOTS, {"slots": False, "sparsity": 0.99}, {"slots": False, "sparsity": 0.9}]
    return [
        _unit({**_PAPER, "data": data, "net": f"{net},dropout=0.5", **way})
        for data, net, way in product(("mnist", "fashion-mnist"), ("mlp:510", "mlp:510-250"), ways)
    ]


def tables(finished: Sequence[Finished]) -> list[Comparison]:
    """Return agreement with owners, n-cuts, and agreement with what units respond to."""
    found = read(finished)
    if not found:
        return []
    return [
        Comparison(
            "Clusters and owners", _cells(found, _owner_row), f"{_AGREEMENT_NOTE}\n\n{verdict(found)}"
        ),
        Comparison("N-cuts", _cells(found, _ncut_row), _NCUT_NOTE),
        Comparison("Clusters and favourite classes", _cells(found, _favourite_row), _FAVOURITE_NOTE),
    ]


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Return agreement and n-cuts over all conditions, and whose units are in which cluster."""
    from .drawings import draw_agreement, draw_counts, draw_ncuts

    found = read(finished)
    if not found:
        return
    yield "agreement", draw_agreement(found)
    yield "n-cuts", draw_ncuts(found)
    for data in dict.fromkeys(one.labels["data"] for one in found):
        yield (
            f"units-by-owner-{data}",
            draw_counts([one for one in found if one.labels["data"] == data]),
        )


RECIPE = Recipe(
    name="modules-meet-clusters",
    paper="beyond",
    title="Do the specialists inside a composite show up as clusters?",
    shows="no paper's question",
    units=units,
    tables=tables,
    figures=figures,
)


def _unit(settings: dict[str, Any]) -> Unit:
    return Unit("beyond/composite-clusters", {**_TRAINING, **settings})


def _cells(found: Sequence[Composed], row: Any) -> list[Cell]:
    return [
        Cell({**one.labels, "graph": view}, metric, quantity)
        for one in found
        for view in VIEWS
        for metric, quantity in row(one, view).items()
    ]


def _owner_row(one: Composed, view: str) -> dict[str, Quantity | None]:
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


def _ncut_row(one: Composed, view: str) -> dict[str, Quantity | None]:
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


def _favourite_row(one: Composed, view: str) -> dict[str, Quantity | None]:
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
