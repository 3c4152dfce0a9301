"""Pictures of clusters in a network, with matplotlib: one function for each kind.

Each draws into ``ax``, or into a new figure when there is none, and returns the axes. Nothing is shown or saved.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import SpecError
from ..plotting import GREY, LINE_COLOURS, new_axes, plain_frame
from .null import Null

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .audit import Clusterability
    from .lesions import Lesions

_MARKERS = "os^Dv*PX"
"""Colours repeat after a few clusters; with the shape, more can be told apart."""
_MOST_COUNTS = 240
"""Cells up to which a picture has room for a number in each."""
_MOST_NAMES = 40
_MOST_CLUSTERS = 100
"""Clusters up to which a picture grows; more share its room."""


def draw_null(found: Clusterability, ax: Axes | None = None) -> Axes:
    """Draw the n-cuts of shuffled copies as a histogram, and where the network itself is.

    Examples
    --------
    >>> import dovetail as dt
    >>> found = dt.clusterability(dt.build_net("mlp:16", (8,), 4, seed=0), k=2, shuffles=5, progress=False)
    >>> draw_null(found).get_xlabel()
    'n-cut (further left: more clusterable)'
    """
    ax = ax or new_axes((6, 3.5))
    title = f"n-cut {found.ncut:.4g}"
    if len(found.null):
        bins = Null(found.ncut, found.null).bins
        ax.hist(found.null, bins=bins, color=GREY, alpha=0.6, label=f"{len(found.null)} shuffled copies")
        title += f", z = {found.z_score:.2f}, p = {found.p_value:.3g}"
        from matplotlib.ticker import MaxNLocator

        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        # Room above the bars for the legend, which would hide some of them otherwise.
        ax.set_ylim(0, 1.3 * ax.get_ylim()[1])
    ax.axvline(found.ncut, color=LINE_COLOURS[1], linewidth=2, label="the network")
    ax.set(xlabel="n-cut (further left: more clusterable)", ylabel="copies", title=title)
    ax.legend(frameon=False, loc="upper center", ncols=2)
    return plain_frame(ax)


def draw_composition(found: Clusterability, ax: Axes | None = None) -> Axes:
    """Draw how many units of each layer each cluster has; the colour is the share of those that are in the graph.

    Examples
    --------
    >>> import dovetail as dt
    >>> found = dt.clusterability(dt.build_net("mlp:16", (8,), 4, seed=0), k=2, shuffles=5, progress=False)
    >>> [label.get_text() for label in draw_composition(found).get_xticklabels()]
    ['input', 'dense1', 'output']
    """
    table = found.composition()
    counts = table.to_numpy()
    clusters, layers = counts.shape
    ax = ax or new_axes(
        (max(4.5, 2 + 0.55 * min(layers, _MOST_NAMES)), 1.6 + 0.3 * min(clusters, _MOST_CLUSTERS))
    )
    shares = counts / np.maximum(counts.sum(0), 1)
    image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=max(shares.max(initial=0), 1e-9), aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="share of units in the graph")
    if counts.size <= _MOST_COUNTS:
        dark = shares > 0.6 * shares.max(initial=0)
        for row, column in np.argwhere(counts):
            colour = "white" if dark[row, column] else "black"
            ax.text(column, row, str(counts[row, column]), color=colour, ha="center", va="center", fontsize=8)
    shown = range(0, layers, math.ceil(layers / _MOST_NAMES))
    names = [str(table.columns[number]) for number in shown]
    ax.set_xticks(list(shown), names, parse_math=False)
    if sum(map(len, names)) > 40:
        ax.tick_params(axis="x", rotation=90)
    ax.set_yticks(range(0, clusters, math.ceil(clusters / _MOST_CLUSTERS)))
    ax.set(xlabel="layer", ylabel="cluster", title="units by cluster and layer")
    return ax


def draw_embedding(found: Clusterability, ax: Axes | None = None) -> Axes:
    """Draw every node where the eigenvectors put it: the second against the third, or against the layer for k = 2.

    Nodes with few and weak connections lie far out. The axes show where nearly all nodes are; a note says how many are
    outside.

    Examples
    --------
    >>> import dovetail as dt
    >>> found = dt.clusterability(dt.build_net("mlp:16", (8,), 4, seed=0), k=3, shuffles=5, progress=False)
    >>> draw_embedding(found).get_xlabel()
    'second eigenvector'
    """
    if found.embedding.shape[1] < 2:
        raise SpecError(f"there is no embedding to draw: {found.method} clustering does not make one")
    ax = ax or new_axes((7, 5))
    x = found.embedding[:, 1]
    flat = found.embedding.shape[1] == 2
    y = found.graph.group_of.astype(float) if flat else found.embedding[:, 2]
    for cluster in range(found.k):
        here = found.labels == cluster
        colour, marker = _look(cluster)
        ax.scatter(
            x[here], y[here], s=14, alpha=0.6, linewidths=0, color=colour, marker=marker, label=str(cluster)
        )
    outside = np.zeros(len(x), dtype=bool)
    for values, limit in ((x, ax.set_xlim), (y, ax.set_ylim))[: 1 if flat else 2]:
        low, high = _limits(values[np.isfinite(values)])
        limit(low, high)
        outside |= (values < low) | (values > high)
    title = f"nodes by the 2nd eigenvector and {'their layer' if flat else 'the 3rd'}, coloured by cluster"
    if outside.any():
        title += f"; {outside.sum()} of {np.isfinite(x).sum()} are outside"
    ax.set_title(title, fontsize=9)
    if flat:
        ax.set_yticks(
            range(len(found.graph.groups)), [group.name for group in found.graph.groups], parse_math=False
        )
    ax.set(xlabel="second eigenvector", ylabel="layer" if flat else "third eigenvector")
    if found.k <= _MOST_NAMES:  # more could not be told apart anyway
        ax.legend(
            title="cluster", markerscale=1.5, loc="upper left", bbox_to_anchor=(1, 1), frameon=False,
            ncols=math.ceil(found.k / 20),
        )  # fmt: skip
    return plain_frame(ax)


def draw_lesions(lesions: Lesions, ax: Axes | None = None) -> Axes:
    """Draw the drop in accuracy without each cluster, and those without random sets of the same make-up."""
    clusters = len(lesions.drops)
    ax = ax or new_axes((max(5.5, 2 + 0.4 * min(clusters, _MOST_CLUSTERS)), 3.8))
    places = np.arange(clusters)
    beside = lesions.random_drops
    # Draws beside each other, so that equal ones do not hide each other.
    spread = np.linspace(-0.25, 0.25, beside.shape[1]) if beside.shape[1] > 1 else np.zeros(1)
    ax.scatter((places[:, None] + spread).ravel(), beside.ravel(), s=10, color=GREY, alpha=0.6, linewidths=0,
               label="random sets like it")  # fmt: skip
    ax.scatter(
        places, lesions.drops, s=45, color=LINE_COLOURS[1], marker="D", label="without the cluster", zorder=3
    )
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(places[:: math.ceil(clusters / _MOST_CLUSTERS) or 1])
    ax.set(xlabel="cluster", ylabel="drop in accuracy")
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, borderaxespad=0.2)
    ax.set_title(f"accuracy of the whole network {lesions.accuracy:.4f}", pad=28)
    return plain_frame(ax)


def _look(cluster: int) -> tuple[str, str]:
    """Return the colour and the marker of a cluster."""
    colours = len(LINE_COLOURS)
    return LINE_COLOURS[cluster % colours], _MARKERS[cluster // colours % len(_MARKERS)]


def _limits(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return where nearly all values are, with some room around them; where all are, if that is hardly more."""
    if not len(values):
        return -1.0, 1.0
    low, high = np.quantile(values, [0.02, 0.98])
    room = 0.15 * (high - low) or 1e-3
    least, most = values.min() - 0.05 * (high - low), values.max() + 0.05 * (high - low)
    near = 0.5 * (high - low)
    return (
        float(least if least > low - near else low - room) - 1e-9,
        float(most if most < high + near else high + room) + 1e-9,
    )
