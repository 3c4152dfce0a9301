"""Figures of the zoo: what clusters of many networks are made of, from the first layer to the last."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from ...plotting import line_colours, plain_frame

_COLUMNS = 4


def bands_figure(networks: Sequence[tuple[str, Sequence[Sequence[int]], float | None]]) -> Figure:
    """Draw for each network which share of every layer is in which cluster.

    Columns of one colour are bands of depth: a layer falls into one cluster. Columns of many colours in the same
    proportions are clusters that run through all layers.

    Parameters
    ----------
    networks : sequence of (str, list of list of int, float)
        Names, units by cluster and layer, and how much of what clusters tell layers tell.
    """
    across = min(_COLUMNS, len(networks))
    down = math.ceil(len(networks) / across)
    figure = Figure(figsize=(2.9 * across, 1.0 + 1.7 * down), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for ax, (name, composition, share) in zip(panels, networks, strict=False):
        units = np.array(composition, dtype=np.float64)
        shares = units / np.maximum(units.sum(0), 1)
        # Clusters in the order in which they lie in the network, so that neighbours have colours alike.
        middle = (units @ np.arange(units.shape[1])) / np.maximum(units.sum(1), 1)
        base = np.zeros(shares.shape[1])
        for of_cluster, colour in zip(shares[np.argsort(middle)], line_colours(len(shares)), strict=True):
            ax.bar(range(len(base)), of_cluster, bottom=base, width=1.0, color=colour)
            base += of_cluster
        plain_frame(ax)
        tells = "" if share is None else f"\nlayers tell {share:.0%}"
        ax.set_title(f"{name}{tells}", fontsize=8)
        ax.set(xticks=[], yticks=[], xlim=(-0.5, len(base) - 0.5), ylim=(0, 1))
    for ax in panels[len(networks) :]:
        ax.axis("off")
    figure.supxlabel("layers, first to last", fontsize=9)
    figure.supylabel("share of a layer's units, by cluster", fontsize=9)
    return figure
