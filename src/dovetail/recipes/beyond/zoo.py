"""A zoo: audits of real networks that others trained, beside those that the paper has of networks for ImageNet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..line import FilledTable, Line, LineTable, Rows
from ..published_values import published_columns
from ..recipe import Figures, Recipe, Scale, Tables
from ..tables import Cell, Comparison, Quantity, Table
from ..unit import Row, Unit

_LESIONS: dict[Scale, dict[str, Mapping[str, Any]]] = {
    "paper": {
        "resnet20": {
            "k": 4,
            "data": {"name": "cifar10", "options": {"scale": "unit"}},
            "samples": 100,
            "draws": 100,
        },
    },
    "smoke": {
        "small-lenet": {"k": 3, "data": {"name": "digits", "options": {}}, "samples": 100, "draws": 20},
    },
}
"""The networks that there is data for, and what is measured without their clusters."""

_IMAGENET = "pictures of ImageNet"
_NOTE = (
    "k = 12 clusters, 50 shuffled copies, 25 starts of k-means, units that do nothing left out. *z*: standard "
    "deviations of the copies; *z from, to*: 95 % of it when the copies are drawn again from themselves. *lower "
    "by*: by what share the n-cut is below the copies' mean. *p*: 1/51 is the least there can be. *q*: p "
    "corrected for there being so many networks, by Benjamini and Hochberg; *Holm*: by Holm. *stable*: agreement "
    "(adjusted Rand index) of the clusters with other starts of k-means. *least*: no clustering has a lower "
    "n-cut. Where the n-cut is more than twice that and by more than 1, k-means has failed, and a dash stands for"
    " what it would say."
)
_DEPTH_NOTE = (
    "*layers tell*: the share of what clusters tell about a unit that its layer tells already; from .9 on they "
    "are bands of depth. *gain*: how much lower the n-cut is than that of clusters with as many units of each "
    "layer taken by chance; *of copies*: the same of shuffled copies, which have the same layers. *p*: the null "
    "that keeps depth, the share of copies that gain as much."
)
_LESION_NOTE = (
    "What the network loses in accuracy without a cluster, beside random sets with as many units in every layer. *p* "
    "is adjusted (Holm) for there being several clusters. ResNet-20 in four clusters, on 100 test images of CIFAR-10, "
    "100 random sets for each cluster."
)
_BESIDE_NOTE = (
    "The paper's networks are its Table A.11: all units, kernels by the matrix 1-norm, 100 copies. Ours are those"
    " of the zoo that were trained on the same pictures, as above: kernels by the sum of their entries."
)


def _unit(name: str, scale: Scale) -> Unit:
    paper = scale == "paper"
    lesions = _LESIONS[scale].get(name)
    settings = {
        "network": name,
        "k": 12 if paper else 4,
        "shuffles": 50 if paper else 10,
        "stability": 5 if paper else 2,
        "seed": 0,
        "lesions": None if lesions is None else dict(lesions),
    }
    return Unit("beyond/zoo", settings)


def _names(scale: Scale) -> list[str]:
    from .zoo_networks import ZOO  # needs torch, which a list of recipes does not wait for

    return [name for name in ZOO if name.startswith("small-") == (scale == "smoke")]


def _lines(scale: Scale) -> list[LineTable]:
    """Return a line for each network, and those with data once more."""
    from .zoo_networks import ZOO

    lines = {
        name: Line(
            {"network": ZOO[name].title, "of": ZOO[name].kind, "for": ZOO[name].task},
            [_unit(name, scale)],
            condition=name,
        )
        for name in _names(scale)
    }
    lesioned = [
        Line({"network": ZOO[name].title, "cluster": cluster}, [_unit(name, scale)], condition=cluster)
        for name, how in _LESIONS[scale].items()
        for cluster in range(how["k"])
    ]
    return [
        LineTable("Clusters", list(lines.values()), _cluster_columns, _NOTE, all_lines=False),
        LineTable("Depth", list(lines.values()), _depth_columns, _DEPTH_NOTE, all_lines=False),
        LineTable("Without each cluster", lesioned, _lesion_columns, _LESION_NOTE, all_lines=False),
    ]


def _quantity(found: Mapping[str, Any], name: str, spread: str = "") -> Quantity | None:
    value = found[name]
    return None if value is None else Quantity(value, found[spread] if spread else None)


def _cluster_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    row = rows[0]
    if row is None:
        return {}
    return {
        "units": Quantity(row["nodes"] - row["left_out"], of=row["nodes"]),
        "n-cut": _quantity(row, "ncut"),
        "shuffled": _quantity(row, "dist_ncut", "dist_sd"),
        **{column: None if row["failed"] else _quantity(row, name) for column, name in _TESTED.items()},
        "stable": _quantity(row, "agreement"),
        "least": _quantity(row, "least"),
    }


def _depth_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    row = rows[0]
    if row is None:
        return {}
    found = row["depth"]
    return {
        "layers": Quantity(row["layers"]),
        "layers tell": _quantity(found, "share"),
        "gain": None if row["failed"] else _quantity(found, "gain"),
        "of copies": None if row["failed"] else _quantity(found, "dist_gain", "gain_sd"),
        "p": None if row["failed"] else _quantity(found, "p_value"),
    }


def _lesion_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    found = rows[0] and rows[0]["lesions"]
    if not found:
        return {}
    here = {name: found[name][line.condition] for name in ("drops", "random_drops", "random_sd", "p_values")}
    return {
        "drop": _quantity(here, "drops"),
        "random sets": _quantity(here, "random_drops", "random_sd"),
        "p": _quantity(here, "p_values"),
    }


def _arranged(filled: Sequence[FilledTable]) -> Tables:
    """Correct for there being many networks, and put the paper's beside those for the same pictures."""
    from ...cluster.corrections import benjamini_hochberg, holm

    if not filled:
        return []
    clusters, *others = (table.shown() for table in filled)
    assert isinstance(clusters, Comparison)
    done = [(line, row) for line, (row,) in filled[0].lines if row is not None and not row["failed"]]
    p_values = [row["p_value"] for _, row in done]
    corrected = [
        Cell(line.labels, name, Quantity(float(value)))
        for name, method in (("q", benjamini_hochberg), ("Holm", holm))
        for (line, _), value in zip(done, method(p_values), strict=True)
    ]
    cells = sorted([*clusters.cells, *corrected], key=lambda cell: _ORDER.index(cell.metric))
    lines = list(dict.fromkeys(tuple(cell.labels.items()) for cell in clusters.cells))
    cells.sort(key=lambda cell: lines.index(tuple(cell.labels.items())))
    beside = _beside_the_paper(filled[0])
    return [replace(clusters, cells=cells), *([beside] if beside else []), *others]


_TESTED = {"z": "z_score", "z from": "z_low", "z to": "z_high", "lower by": "lower_by", "p": "p_value"}
_ORDER = (
    "units",
    "n-cut",
    "shuffled",
    "z",
    "z from",
    "z to",
    "lower by",
    "p",
    "q",
    "Holm",
    "stable",
    "least",
)


def _beside_the_paper(table: FilledTable) -> Table | None:
    """Return the zoo's networks for ImageNet with the paper's, in columns that say the same of both."""
    import pandas as pd

    ours = [
        _beside(
            line.labels["network"], "the zoo", row["ncut"], row["dist_ncut"], row["dist_sd"], row["p_value"]
        )
        for line, (row,) in table.lines
        if row is not None and line.labels["for"] == _IMAGENET and not row["failed"]
    ]
    if not ours:
        return None
    for network in ("vgg-16", "vgg-19", "resnet-18", "resnet-34", "resnet-50", "inception-v3"):
        found = published_columns("clusterability_tables", table="A.11", network=network)
        ncut, copies, p = (found[name] for name in ("ncut", "dist_ncut", "p_value"))
        assert ncut is not None
        assert copies is not None
        assert p is not None
        ours.append(_beside(network, "the paper", ncut.value, copies.value, copies.spread or 0.0, p.value))
    return Table("Networks trained on ImageNet", pd.DataFrame(ours), _BESIDE_NOTE)


def _beside(network: str, whose: str, ncut: float, mean: float, spread: float, p: float) -> dict[str, object]:
    return {
        "network": network, "of": whose, "n-cut": ncut, "shuffled": mean, "sd": spread,
        "z": (ncut - mean) / spread if spread else None, "lower by": 1 - ncut / mean, "p": p,
    }  # fmt: skip


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw every network beside its shuffled copies, and what its clusters are made of from first layer to last."""
    from ..cluster.figures import ncut_figure
    from .zoo_figures import bands_figure

    rows = [(line.labels["network"], row) for line, (row,) in filled[0].lines if row is not None]
    yield (
        "n-cuts",
        ncut_figure({"k = 12" if len(rows) > 4 else "k = 4": [(name, _as_list(row)) for name, row in rows]}),
    )
    yield "bands", bands_figure([(name, row["composition"], row["depth"]["share"]) for name, row in rows])


def _as_list(row: Row) -> Row:
    return {name: [row[name]] for name in ("ncut", "dist_ncut", "dist_sd", "p_value")}


RECIPES = (
    Recipe(
        "zoo",
        "beyond",
        "How clusterable are real networks that others trained?",
        "no paper's table; beside Table A.11 of the paper",
        _lines,
        _charts,
        _arranged,
    ),
)
