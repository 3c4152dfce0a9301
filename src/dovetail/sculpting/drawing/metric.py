"""A picture of how good each number of clusters is, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import SpecError
from ...plotting import GREY, line_colours, new_axes, plain_frame
from .style import counted, layer_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..modules.hierarchy import Hierarchy

_LABELS = {
    "modularity": "modularity metric (lower is better)",
    "silhouette": "silhouette index (higher is better)",
    "calinski-harabasz": "Caliński-Harabasz index (higher is better)",
    "davies-bouldin": "Davies-Bouldin index (lower is better)",
}


def plot_metric(hierarchy: Hierarchy, layer: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the score of each number of clusters, a line for each layer; a ring marks the best.

    Where the separability tests decided otherwise, the legend says which number of clusters there are in the end.

    Parameters
    ----------
    hierarchy : Hierarchy
        What was found.
    layer : int, optional
        The layer to draw, from 0 for the inputs; all that have scores when left out.
    ax : Axes, optional
        Where to draw; a new figure when left out.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.sculpting.modules.detect import detect_modules
    >>> two = np.kron(np.eye(2), np.ones((2, 2)))
    >>> ax = plot_metric(detect_modules([two, two]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['inputs: 2 clusters', 'hidden 1: 2 clusters']
    """
    from matplotlib.ticker import MaxNLocator

    clusterings = dict(enumerate(hierarchy.clusterings))
    if layer is not None:
        if layer not in clusterings:
            known = f"layers 0 to {len(clusterings) - 1}" if clusterings else "none"
            raise SpecError(f"no scores for layer {layer}; this hierarchy has them for {known}")
        clusterings = {layer: clusterings[layer]}
    drawn = {number: clustering for number, clustering in clusterings.items() if clustering.metric}
    score = next((clustering.score for clustering in drawn.values()), "modularity")
    ax = ax or new_axes()
    for (number, clustering), colour in zip(drawn.items(), line_colours(len(drawn)), strict=True):
        decided = "" if clustering.chosen == clustering.best else ", by the tests"
        clusters = counted(clustering.chosen, "cluster")
        ax.plot(
            list(clustering.metric),
            list(clustering.metric.values()),
            color=colour,
            marker=".",
            label=f"{layer_name(number, len(hierarchy.sizes))}: {clusters}{decided}",
        )
        if clustering.best is not None:
            at = clustering.best, clustering.metric[clustering.best]
            ax.plot(*at, color=colour, marker="o", markersize=10, fillstyle="none")
    if drawn:
        ax.legend(frameon=False)
    else:
        ax.text(0.5, 0.5, "no score: fewer than three units", color=GREY, ha="center", transform=ax.transAxes)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="number of clusters", ylabel=_LABELS.get(score, score))
    return plain_frame(ax)
