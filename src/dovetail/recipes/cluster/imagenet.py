"""Networks that were trained on ImageNet by others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..published_values import published
from ..recipe import Recipe, Scale
from ..tables import Cell, Comparison, Quantity
from ..unit import Finished, Row, Unit
from .networks_unit import measure_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODELS: Mapping[str, str] = {
    "vgg-16": "vgg16.tv_in1k",
    "vgg-19": "vgg19.tv_in1k",
    "resnet-18": "resnet18.tv_in1k",
    "resnet-34": "resnet34.tv_in1k",
    "resnet-50": "resnet50.tv_in1k",
    "inception-v3": "inception_v3.tv_in1k",
}
"""By the paper's names, those of timm with torchvision's weights; the paper had others' weights for Keras."""

_NORMS = {"induced": "matrix 1-norm", "l1": "sum of entries"}
_TITLES: Mapping[Scale, str] = {
    "paper": "Table A.11: networks trained on ImageNet",
    "smoke": "Networks before training",
}
_NOTE = (
    "At the paper's scale: 100 shuffled copies, 100 starts of k-means, and torchvision's weights (through timm), where "
    "the paper had those of a Keras package. Accuracies are not measured here."
)


def _units(scale: Scale) -> dict[str, Unit]:
    """Return a unit for each network; in small, two that are not trained."""
    if scale == "paper":
        measures = [measure_settings(norm=norm, shuffles=100, starts=100) for norm in _NORMS]
        return {
            name: Unit("cluster/foreign", {"source": "timm", "model": model, "measures": measures})
            for name, model in MODELS.items()
        }
    made = {"source": "dovetail", "input_shape": [3, 32, 32], "seed": 0}
    measures = [measure_settings(norm="induced", shuffles=3)]
    return {
        name: Unit("cluster/foreign", {**made, "model": f"{model},init=glorot-uniform", "measures": measures})
        for name, model in (("vgg-16", "vgg16"), ("resnet-18", "resnet18"))
    }


def _begun(finished: Sequence[Finished]) -> Iterator[tuple[Scale, dict[str, Row | None]]]:
    """Yield the scales of which something is finished, with all networks and what came out."""
    rows = {one.unit: one.row for one in finished}
    scales: tuple[Scale, ...] = ("paper", "smoke")
    for scale in scales:
        found = {name: rows.get(unit) for name, unit in _units(scale).items()}
        if any(found.values()):
            yield scale, found


def units(scale: Scale) -> Sequence[Unit]:
    """Return all networks."""
    return list(_units(scale).values())


def tables(finished: Sequence[Finished]) -> Sequence[Comparison]:
    """Return a row for each network and norm."""
    return [
        Comparison(
            _TITLES[scale],
            [cell for name, row in found.items() for cell in _cells(name, row, scale)],
            _NOTE,
        )
        for scale, found in _begun(finished)
    ]


def _cells(name: str, row: Row | None, scale: Scale) -> Iterator[Cell]:
    for number, made in enumerate(_units(scale)[name].settings["measures"]):
        labels = {"network": name, "kernels by": _NORMS[made["norm"]]}
        for column, (metric, ours) in _quantities(row and row["measures"][number]).items():
            printed = published("clusterability_tables", table="A.11", network=name, metric=metric)
            yield Cell(labels, column, ours, printed if scale == "paper" and number == 0 else None)


def _quantities(found: Row | None) -> dict[str, tuple[str, Quantity | None]]:
    """Return, by column, the name of the published metric and our value."""
    return {
        "n-cut": ("ncut", Quantity(found["ncut"][0]) if found else None),
        "shuffled": ("dist_ncut", Quantity(found["dist_ncut"][0], found["dist_sd"][0]) if found else None),
        "p": ("p_value", Quantity(found["p_value"][0]) if found else None),
        "top-1 accuracy": ("top1_acc", None),
    }


def figures(finished: Sequence[Finished]) -> Iterator[tuple[str, Figure]]:
    """Draw every network beside its shuffled copies."""
    from .figures import draw_names, draw_networks, new_panels

    begun = {_TITLES[scale]: found for scale, found in _begun(finished)}
    if begun:
        figure, panels = new_panels({title: len(found) for title, found in begun.items()})
        for ax, found in zip(panels, begun.values(), strict=True):
            for place, row in enumerate(found.values()):
                if row:
                    draw_networks(ax, place, row["measures"][0])
            draw_names(ax, list(found))
        yield "imagenet", figure


RECIPE = Recipe(
    name="imagenet",
    paper="cluster",
    title="Are networks trained on ImageNet more clusterable than chance would have it?",
    shows="Figure 10, Table A.11",
    units=units,
    tables=tables,
    figures=figures,
)
