"""Networks that were trained on ImageNet by others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..line import FilledTable, Line, LineTable, Rows
from ..published_values import published_columns
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Unit
from .conditions import measure_settings

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
_COLUMNS = {"ncut": "n-cut", "dist_ncut": "shuffled", "p_value": "p", "top1_acc": "top-1 accuracy"}
_NOTE = (
    "At the paper's scale: 100 shuffled copies, 100 starts of k-means, and torchvision's weights (through timm), where "
    "the paper had those of a Keras package. Accuracies are not measured here."
)


def _units(scale: Scale) -> dict[str, Unit]:
    """Return a unit for each network; at smoke scale two that are not trained."""
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


def _lines(scale: Scale) -> list[LineTable]:
    """Return a line for each network and norm."""
    paper = scale == "paper"
    lines = [
        Line(
            {"network": name, "kernels by": _NORMS[made["norm"]]},
            [unit],
            _published(name) if paper and measure == 0 else {},
            measure,
        )
        for name, unit in _units(scale).items()
        for measure, made in enumerate(unit.settings["measures"])
    ]
    title = "Table A.11: networks trained on ImageNet" if paper else "Networks before training"
    return [LineTable(title, lines, _columns, _NOTE)]


def _published(network: str) -> dict[str, Quantity | None]:
    found = published_columns("clusterability_tables", table="A.11", network=network)
    return {_COLUMNS[metric]: value for metric, value in found.items() if metric in _COLUMNS}


def _columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    found = rows[0]["measures"][line.condition] if rows[0] else None
    return {
        "n-cut": found and Quantity(found["ncut"][0]),
        "shuffled": found and Quantity(found["dist_ncut"][0], found["dist_sd"][0]),
        "p": found and Quantity(found["p_value"][0]),
        "top-1 accuracy": None,
    }


def _chart(filled: Sequence[FilledTable]) -> Figures:
    """Draw every network beside its shuffled copies."""
    from .figures import ncut_figure

    places = [
        (line.labels["network"], rows[0] and rows[0]["measures"][0])
        for line, rows in filled[0].lines
        if line.condition == 0
    ]
    yield "imagenet", ncut_figure({filled[0].title: places})


RECIPES = (
    Recipe(
        "imagenet",
        "cluster",
        "Are networks trained on ImageNet more clusterable than chance would have it?",
        "Figure 10, Table A.11",
        _lines,
        _chart,
    ),
)
