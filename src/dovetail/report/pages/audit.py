"""The report on an audit: the null, the clusters by layer, and the network without each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...cluster.lesions import adjusted_p_values
from ...cluster.saved_audit import SavedAudit
from ...io.fields import number, take
from ..charts_cluster import composition_chart, null_chart
from ..page import Page
from .made import add_made

MOST_CELLS = 20_000
"""Up to which the composition is drawn; more would take a page's room and cannot be told apart."""

_MOST_ROWS = 200


def audit_page(source: SavedAudit) -> Page:
    """Return a page with the null, the clusters by layer, what they do, and how it was measured."""
    page = Page(
        "How well a network falls into clusters",
        f"An audit of {source.checkpoint}: {sum(size for _, size in source.layers)} units in {len(source.layers)} "
        f"layers, cut into {source.k} clusters.",
    )
    said = source.verdict
    if source.agreement is not None:
        said += f" With other seeds the clusters agree by {source.agreement:.2f} (1: the same clusters)."
    add_null(page, source.ncut, source.copies, said, source.warnings)
    add_composition(page, source.composition, source.layers)
    if source.lesions:
        add_lesions(page, source.lesions, source.measured)
    names = {"k": "clusters", "layers_read": "layers read", "components": "connected components"}
    facts = {names.get(name, name): value for name, value in source.settings.items()}
    facts["shuffled copies"] = len(source.copies)
    measured = {"data": "lesions measured on", "classes": "classes measured", "assumed": "network assumed"}
    facts |= {text: source.measured.get(name) for name, text in measured.items()}
    made = ("when", "seconds", "hardware", "dovetail", "torch", "python")
    add_made(page, facts | {name: source.made.get(name) for name in made})
    return page


def add_null(
    page: Page, ncut: float, copies: Sequence[float], verdict: str, warnings: Sequence[str] = ()
) -> None:
    """Add the null with the observed n-cut.

    Parameters
    ----------
    page : Page
        What to add to.
    ncut : float
        Of the network.
    copies : sequence of float
        Of its shuffled copies.
    verdict : str
        What the numbers say, in words.
    warnings : sequence of str
        What makes them doubtful.
    """
    page.heading("More clusterable than chance?")
    page.text(verdict)
    if copies:
        page.chart(null_chart(ncut, copies), "N-cuts of copies whose weights are shuffled within each layer.")
    if warnings:
        page.text("What makes these numbers doubtful:")
        page.prose("\n".join(f"- {warning}" for warning in warnings))


def add_composition(page: Page, counts: Sequence[Sequence[int]], layers: Sequence[tuple[str, int]]) -> None:
    """Add how many units of each layer are in each cluster.

    Parameters
    ----------
    page : Page
        What to add to.
    counts : sequence of sequence of int
        Units by cluster and layer.
    layers : sequence of (str, int)
        Name and size of each layer.
    """
    page.heading("Cluster composition by layer")
    if len(counts) * len(layers) > MOST_CELLS:
        page.text(
            f"{len(counts)} clusters and {len(layers)} layers are too many to draw; audit.json has all numbers."
        )
        return
    page.chart(
        composition_chart(counts, layers),
        "Units of each layer in each cluster; the darker, the more of the layer.",
    )


def add_lesions(page: Page, clusters: Sequence[Mapping[str, object]], about: Mapping[str, object]) -> None:
    """Add accuracy without each cluster, beside that without random sets of the same make-up.

    Parameters
    ----------
    page : Page
        What to add to.
    clusters : sequence of mapping
        As ``audit.json`` has them.
    about : mapping
        What was measured on: ``data``, ``samples``, ``accuracy``.
    """
    import pandas as pd

    page.heading("Without each cluster")
    rows = []
    for entry, p_value in zip(clusters, _p_values(clusters), strict=True):
        drops = _random_drops(entry)
        rows.append(
            {
                "cluster": entry.get("cluster"),
                "units": sum(take(entry, "units", list)),
                "accuracy": number(entry.get("accuracy")),
                "drop": number(entry.get("drop")),
                "random drop": sum(drops) / len(drops) if drops else None,
                "p": p_value,
            }
        )
    accuracy = number(about.get("accuracy"))
    page.text(
        f"The whole network is right on {accuracy:.4f} of {about.get('samples')} samples of {about.get('data')}. "
        "Random drop: without random sets that have as many units in every layer. p: how often such a set differs from "
        "the others as much as the cluster does, adjusted (Holm) for there being several clusters."
    )
    more = f" {len(rows) - _MOST_ROWS} more are in audit.json." if len(rows) > _MOST_ROWS else ""
    page.table(pd.DataFrame(rows).head(_MOST_ROWS), f"Accuracy without each cluster.{more}")


def _random_drops(entry: Mapping[str, object]) -> list[float]:
    return [number(value) for value in take(entry, "random_drops", list)]


def _p_values(clusters: Sequence[Mapping[str, object]]) -> list[float | None]:
    """Return each cluster's p-value from what was measured: early audits say it unadjusted, if at all."""
    beside = [_random_drops(entry) for entry in clusters]
    if len({len(drops) for drops in beside}) != 1:
        return [None] * len(clusters)
    drops = np.array([number(entry.get("drop")) for entry in clusters])
    return [float(value) for value in adjusted_p_values(drops, np.array(beside, dtype=np.float64))]
