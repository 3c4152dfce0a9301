"""How ``dovetail audit`` prints what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.console import Console

from ..cluster.dense_layers import ASSUMED
from ..cluster.weights_file import chain_text
from .output import print_table, table_of

if TYPE_CHECKING:
    from rich.table import Table

    from ..cluster import Clusterability, Lesions
    from ..cluster.source import Source
    from ..data import Dataset

_MOST_ROWS = 20
"""Clusters in the table where they stand below each other."""


def print_found(found: Clusterability, source: Source) -> None:
    """Print the verdict, what makes it doubtful, and the clusters by layer."""
    typer.echo(found.verdict())
    parts = "1 connected part" if found.components == 1 else f"{found.components} connected parts"
    cuts = found.stability.ncuts
    typer.echo(
        f"{parts}; with other seeds n-cut {cuts.min():.3f} to {cuts.max():.3f}, agreement "
        f"{found.stability.agreement:.2f} (1: the same clusters)."
    )
    for warning in found.warnings:
        typer.echo(f"warning: {warning}")
    if source.layers is not None:
        typer.echo(chain_text(source.layers, sorted_by_name=source.sorted_by_name))
    _print_composition(found)


def print_lesions(lesions: Lesions, data: Dataset, source: Source) -> None:
    """Print the accuracy without each cluster, and how to read it."""
    import numpy as np

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
    typer.echo(
        f"accuracy of the whole network {lesions.accuracy:.4f}. random drop: without random groups that have as many "
        f"units in every layer, {lesions.random_drops.shape[1]} for each cluster. p more, p less: how often such a "
        f"group hurts at least, or at most, as much as the cluster. hits most: the class that loses most without it."
    )
    if source.measured_classes is not None:
        typer.echo(
            f"Measured only on samples of the classes that it is for, {', '.join(source.measured_classes)}: on others "
            "it is meant to be undecided."
        )
    if source.layers is not None:
        typer.echo(
            f"Assumed: {ASSUMED}; if {lesions.accuracy:.4f} is not your network's accuracy, name a builder: "
            "package.module:builder --weights FILE"
        )


def _print_composition(found: Clusterability) -> None:
    """Print the units of each layer in each cluster, as many clusters as there is room for."""
    # Layers below each other where that fits: their names may be long, and there may be many.
    table = _by_layer(found, found.k)
    shown = found.k
    if not _fits(table):
        shown = min(found.k, _MOST_ROWS)
        table = table_of(found.composition().head(shown).reset_index(), "Units by cluster and layer")
    while not _fits(table) and shown > 1:
        shown -= 1
        table = _by_layer(found, shown)
    print_table(table)
    if shown < found.k:
        typer.echo(f"{found.k - shown} more clusters; --json has all.")


def _by_layer(found: Clusterability, clusters: int) -> Table:
    units = found.composition().head(clusters).T.rename_axis("layer").reset_index()
    return table_of(units, "Units by layer and cluster")


def _fits(table: Table) -> bool:
    console = Console()
    width = console.width if console.is_terminal else 160  # as print_table has it
    return Console(width=10**6).measure(table).maximum <= width
