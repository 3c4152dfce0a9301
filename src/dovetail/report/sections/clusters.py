"""What a network's clusters are made of, and what it is without each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...io.fields import number, take
from ..charts_cluster import composition_chart
from ..page import Page

_MOST_CELLS = 20_000
"""Up to which the composition is drawn; more would take a page's room and cannot be told apart."""
_MOST_ROWS = 200


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
    if len(counts) * len(layers) > _MOST_CELLS:
        page.text(
            f"{len(counts)} clusters and {len(layers)} layers are too many to draw; audit.json has all numbers."
        )
        return
    page.chart(
        composition_chart(counts, layers),
        "Units of each layer in each cluster; the darker, the more of the layer.",
    )


def add_lesions(page: Page, clusters: Sequence[Mapping[str, object]], about: Mapping[str, object]) -> None:
    """Add accuracy without each cluster, beside that without random groups of the same make-up.

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
    for entry in clusters:
        drops = [number(value) for value in take(entry, "random_drops", list)]
        rows.append(
            {
                "cluster": entry.get("cluster"),
                "units": sum(take(entry, "units", list)),
                "accuracy": number(entry.get("accuracy")),
                "drop": number(entry.get("drop")),
                "random drop": sum(drops) / len(drops) if drops else None,
                "p more": number(entry.get("p_more")),
                "p less": number(entry.get("p_less")),
            }
        )
    accuracy = number(about.get("accuracy"))
    page.text(
        f"The whole network is right on {accuracy:.4f} of {about.get('samples')} samples of {about.get('data')}. "
        "Random drop: without random groups that have as many units in every layer. p more, p less: how often such a "
        "group hurts at least, or at most, as much as the cluster."
    )
    more = f" {len(rows) - _MOST_ROWS} more are in audit.json." if len(rows) > _MOST_ROWS else ""
    page.table(pd.DataFrame(rows).head(_MOST_ROWS), f"Accuracy without each cluster.{more}")
