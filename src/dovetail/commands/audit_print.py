"""The printout of ``dovetail audit``: what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..cluster.source import chain_text
from ..graph.chain import ASSUMED
from .output import fits, print_table, say, table_of

if TYPE_CHECKING:
    from rich.table import Table

    from ..cluster import Clusterability, Lesions
    from ..cluster.source import Source
    from ..data import Dataset

_MOST_ROWS = 20
"""Clusters in the table where they stand below each other."""


def print_found(found: Clusterability, source: Source) -> None:
    """Print the verdict, what makes it doubtful, and the clusters by layer."""
    say(found.verdict())
    parts = "1 connected component" if found.components == 1 else f"{found.components} connected components"
    cuts = found.stability.ncuts
    say(
        f"{parts}; with other seeds n-cut {cuts.min():.3f} to {cuts.max():.3f}, agreement "
        f"{found.stability.agreement:.2f} (1: the same clusters)."
    )
    if depth := found.depth.text():
        say(depth)
    for warning in found.warnings:
        say(f"warning: {warning}")
    if source.family is not None:
        say(f"Read from the names of its weights as {source.family}; heads are not in a file.")
    elif source.layers is not None:
        say(chain_text(source.layers, sorted_by_name=source.sorted_by_name))
    _print_composition(found)


def print_lesions(lesions: Lesions, data: Dataset, source: Source) -> None:
    """Print the accuracy without each cluster, and how to read it."""
    import numpy as np

    from ..cluster.lesions import enough_draws

    frame = lesions.to_frame().reset_index()
    worst = np.nanargmax(lesions.class_drops, axis=1)
    frame["hits most"] = [
        f"{data.classes[number]} ({-lesions.class_drops[row, number]:+.2f}, random "
        f"{-lesions.random_class_drops[row, number]:+.2f})"
        if lesions.class_drops[row, number] > 0
        else None
        for row, number in enumerate(worst)
    ]
    print_table(table_of(frame, f"Without each cluster, on the test split of {data.name}"))
    say(
        f"accuracy of the whole network {lesions.accuracy:.4f}. random drop: without random sets that have as many "
        f"units in every layer, {lesions.random_drops.shape[1]} for each cluster. p: how often such a set differs from "
        "the others as much as the cluster does, adjusted (Holm) for there being several clusters. hits most: the "
        "class that loses most without it."
    )
    if lesions.least_p > 0.05:
        say(
            f"With so few random sets no p can be below {lesions.least_p:.2g}; "
            f"--draws {enough_draws(len(lesions.drops))} could tell."
        )
    if source.measured_classes is not None:
        say(
            f"Measured only on samples of the classes that it is for, {', '.join(source.measured_classes)}: on others "
            "it is meant to be undecided."
        )
    if source.layers is not None:
        say(
            f"Assumed: {ASSUMED}; if {lesions.accuracy:.4f} is not your network's accuracy, name a builder: "
            "package.module:builder --weights FILE"
        )


def _print_composition(found: Clusterability) -> None:
    """Print the units of each layer in each cluster, as many clusters as there is room for."""
    # Layers below each other where that fits: their names may be long, and there may be many.
    table = _by_layer(found, found.k)
    shown = found.k
    if not fits(table):
        shown = min(found.k, _MOST_ROWS)
        table = table_of(found.composition().head(shown).reset_index(), "Units by cluster and layer")
    while not fits(table) and shown > 1:
        shown -= 1
        table = _by_layer(found, shown)
    print_table(table)
    if shown < found.k:
        say(f"{found.k - shown} more clusters; --json has all.")


def _by_layer(found: Clusterability, clusters: int) -> Table:
    units = found.composition().head(clusters).T.rename_axis("layer").reset_index()
    return table_of(units, "Units by layer and cluster")
