"""The pictures of `dovetail.cluster.plots` as plotly figures, to look into with the mouse.

They take plain numbers, so that an audit that is still running, or one read from its ``audit.json``, looks the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..cluster.null import Null
from ..plotting import GREY, LINE_COLOURS
from .chart_frame import empty_figure, plain, titled

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_MOST_COUNTS = 240
"""Cells up to which a picture has room for a number in each."""
_MOST_NAMES = 40
_ENOUGH = 20
"""Copies from which on p and z are worth saying: p cannot be below 0.05 with fewer."""
_MOST_CLUSTERS = 40
"""Clusters up to which a picture grows; more share its room."""


def null_chart(ncut: float, copies: Sequence[float], wanted: int | None = None) -> Figure:
    """Return the n-cuts of shuffled copies as a histogram, and where the network itself is.

    Parameters
    ----------
    ncut : float
        Of the network.
    copies : sequence of float
        N-cuts of its shuffled copies, as many as there are.
    wanted : int, optional
        How many copies there are to be, if these are not all yet.

    Examples
    --------
    >>> chart = null_chart(1.5, [2.0, 2.25, 2.5], wanted=50)
    >>> [trace.name for trace in chart.data], chart.layout.title.text
    (['3 of 50 shuffled copies', 'the network'], 'n-cut 1.5')
    """
    null = Null(ncut, np.array(copies, dtype=np.float64))
    figure = empty_figure("n-cut (left: more clusterable)", "copies", height=340)
    title, top, ends = f"n-cut {ncut:.4g}", 1, [ncut]
    if len(copies):
        if says_p(len(copies), wanted):
            title += f", z = {null.z_score:.2f}, p = {null.p_value:.3g}"
        counts, edges = np.histogram(null.copies, null.bins)
        top = int(counts.max())
        ends += [float(edges[0]), float(edges[-1])]
        all_there = wanted is None or len(copies) >= wanted
        figure.add_bar(
            x=((edges[1:] + edges[:-1]) / 2).tolist(), y=counts.tolist(), width=np.diff(edges).tolist(),
            name=f"{len(copies):,}{'' if all_there else f' of {wanted:,}'} shuffled copies",
            customdata=np.stack([edges[:-1], edges[1:]], 1).tolist(),
            marker={"color": GREY, "opacity": 0.6, "line": {"width": 0}},
            hovertemplate="n-cut %{customdata[0]:.4g} to %{customdata[1]:.4g}: %{y} copies<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=[ncut, ncut], y=[0, top * 1.08], mode="lines", line={"color": LINE_COLOURS[1], "width": 3},
        name="the network", hovertemplate="the network: %{x:.4g}<extra></extra>",
    )  # fmt: skip
    # As many ticks as there are whole numbers of copies, where there are few.
    figure.update_yaxes(range=[0, top * 1.12], rangemode="tozero", **({"dtick": 1} if top < 6 else {}))
    # Room beside the outermost, which would lie on the frame otherwise.
    room = 0.05 * (max(ends) - min(ends)) or 0.05 * max(1.0, ncut)
    figure.update_xaxes(range=[min(ends) - room, max(ends) + room])
    return titled(figure, title).update_layout(legend={"y": 1}, margin={"t": 70})


def says_p(copies: int, wanted: int | None = None) -> bool:
    """Return whether there are enough copies to say p and z: all that are to be, or as many as can make p small.

    Examples
    --------
    >>> says_p(5), says_p(5, 50), says_p(20, 50)
    (True, False, True)
    """
    return copies > 0 and copies >= min(_ENOUGH, copies if wanted is None else wanted)


def composition_chart(counts: Sequence[Sequence[int]], layers: Sequence[tuple[str, int]]) -> Figure:
    """Return how many units of each layer each cluster has; the colour is the share of those that are in the graph.

    Units without edges are in no cluster; how many of a layer are left out stands with its name.

    Parameters
    ----------
    counts : sequence of sequence of int
        Units by cluster and layer.
    layers : sequence of (str, int)
        Name and number of units of each layer.

    Examples
    --------
    >>> chart = composition_chart([[4, 1], [0, 1]], [("input", 4), ("output", 2)])
    >>> chart.data[0].z
    ([1.0, 0.5], [0.0, 0.5])
    >>> chart = composition_chart([[1, 1], [1, 0]], [("input", 8), ("output", 1)])
    >>> chart.data[0].z, chart.layout.xaxis.ticktext
    (([0.5, 1.0], [0.5, 0.0]), ('input<br>(6 left out)', 'output'))
    """
    figure = empty_figure("layer", "cluster", height=160 + 26 * min(len(counts), _MOST_CLUSTERS))
    sizes = [sum(column) for column in zip(*counts, strict=True)] or [0] * len(layers)
    shares = [[count / max(size, 1) for count, size in zip(row, sizes, strict=True)] for row in counts]
    names = [plain(name) for name, _ in layers]
    left_out = [size - used for (_, size), used in zip(layers, sizes, strict=True)]
    ticks = [
        f"{name}<br>({out:,} left out)" if out > 0 else name
        for name, out in zip(names, left_out, strict=True)
    ]
    figure.add_heatmap(
        x=list(range(len(layers))), y=list(range(len(counts))),
        z=shares, zmin=0, zmax=max((max(row, default=0.0) for row in shares), default=0.0) or 1.0,
        autocolorscale=True,
        text=[[count or "" for count in row] for row in counts],
        texttemplate="%{text}" if len(counts) * len(layers) <= _MOST_COUNTS else None,
        customdata=[list(zip(row, sizes, names, strict=True)) for row in counts],
        colorbar={"title": {"text": "share of units in the graph", "side": "right"}, "thickness": 12},
        hovertemplate="cluster %{y}: %{customdata[0]} of %{customdata[1]} units of %{customdata[2]}<extra></extra>",
    )  # fmt: skip
    # Layers by number, as two may have the same name.
    shown = range(0, len(layers), math.ceil(len(layers) / _MOST_NAMES) or 1)
    figure.update_xaxes(tickvals=list(shown), ticktext=[ticks[n] for n in shown], showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, tick0=0, dtick=max(1, len(counts) // 20))
    return figure


def audits_chart(audits: Sequence[tuple[str, float, Sequence[float]]]) -> Figure:
    """Return several networks beside their shuffled copies, one below the other.

    Parameters
    ----------
    audits : sequence of (str, float, sequence of float)
        Names; of each network and of its copies what is compared.

    Examples
    --------
    >>> chart = audits_chart([("before", 0.8, [0.8, 0.9]), ("after", 0.5, [0.8, 0.8])])
    >>> [trace.name for trace in chart.data], chart.data[1].x
    (['shuffled copies', 'the network'], (0.8, 0.5))
    """
    figure = empty_figure("n-cut / k (left: more clusterable)", "", height=150 + 26 * len(audits))
    names, places = [plain(name) for name, _, _ in audits], list(range(len(audits)))
    copies = [(place, np.array(of)) for place, (_, _, of) in enumerate(audits) if len(of)]
    figure.add_scatter(
        x=[float(of.mean()) for _, of in copies], y=[place for place, _ in copies], mode="markers",
        error_x={"type": "data", "array": [2 * float(of.std()) for _, of in copies], "color": GREY},
        marker={"color": GREY, "symbol": "line-ns-open", "size": 10}, name="shuffled copies",
        hovertemplate="copies: %{x:.4g}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=[own for _, own, _ in audits], y=places, mode="markers", marker={"color": LINE_COLOURS[1], "size": 10},
        name="the network", text=names, hovertemplate="%{text}: %{x:.4g}<extra></extra>",
    )  # fmt: skip
    figure.update_yaxes(tickvals=places, ticktext=names, autorange="reversed", showgrid=False)
    return figure
