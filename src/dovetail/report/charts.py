"""The pictures of `dovetail.specialists.plots` as plotly figures, to look into with the mouse."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..plotting import GREY, line_colours
from ..specialists.plots import (
    MOST_COUNTS,
    MOST_NAMES,
    NOTHING_TO_SHOW,
    OTHER_COLOUR,
    PER_CLASS_LABELS,
    REWARDED_COLOUR,
    PerClass,
    per_class_values,
    row_shares,
    shortened,
    spread,
)
from .chart_frame import empty_figure, plain, titled

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from ..specialists import Connectivity, DropAudit, MergeCurve, Score


def confusion_chart(score: Score) -> Figure:
    """Return a confusion matrix: colours are shares of a row, rewarded classes have bold names.

    Examples
    --------
    >>> import torch
    >>> from dovetail.specialists.evaluate import score_logits
    >>> (score,) = score_logits(torch.eye(3)[None] * 9, torch.arange(3), [(0, 1)], ["a", "b", "c"])
    >>> confusion_chart(score).data[0].x
    ('<b>a</b>', '<b>b</b>', 'c')
    """
    names = _class_names(score)
    figure = empty_figure("largest output", "true class", height=500)
    figure.add_heatmap(
        x=names, y=names, z=row_shares(score.confusion).tolist(), zmin=0, zmax=1, text=score.confusion.tolist(),
        texttemplate="%{text}" if len(names) <= MOST_COUNTS else None, autocolorscale=True,
        colorbar={"title": {"text": "share of the true class", "side": "right"}, "thickness": 12},
        hovertemplate="true class %{y}<br>largest output %{x}<br>%{text} samples, %{z:.1%}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(type="category", showgrid=False, autorange="reversed")
    return figure


def per_class_chart(score: Score, what: PerClass = "accuracy") -> Figure:
    """Return a bar per class; those of rewarded classes in another colour, none where there is no value.

    Examples
    --------
    >>> import torch
    >>> from dovetail.specialists.evaluate import score_logits
    >>> (score,) = score_logits(torch.eye(3)[None] * 9, torch.arange(3), [(0, 1)], ["a", "b", "c"])
    >>> [bars.name for bars in per_class_chart(score, "entropy").data]
    ['rewarded', 'other classes']
    """
    values, names = per_class_values(score, what), _class_names(score)
    figure = empty_figure("class", PER_CLASS_LABELS[what])
    for kind, colour in (("rewarded", REWARDED_COLOUR), ("other classes", OTHER_COLOUR)):
        mine = [
            n
            for n, v in enumerate(values)
            if (n in score.rewarded) == (kind == "rewarded") and not math.isnan(v)
        ]
        if mine:
            figure.add_bar(
                x=[names[n] for n in mine], y=[values[n] for n in mine], name=kind, marker_color=colour
            )
    figure.update_traces(hovertemplate="class %{x}: %{y:.4f}<extra></extra>")
    figure.update_xaxes(
        type="category", categoryorder="array", categoryarray=names, range=[-0.6, len(names) - 0.4]
    )
    if what == "accuracy":
        figure.update_yaxes(range=[0, 1.02])
    elif what == "entropy":
        _reference_line(figure, math.log(len(values)), f"uniform: ln {len(values)}")
        figure.update_yaxes(range=[0, math.log(len(values)) * 1.1 or 1])
    else:
        figure.update_yaxes(zeroline=True)
    if not figure.data:
        figure.add_annotation(text=NOTHING_TO_SHOW, showarrow=False, xref="paper", yref="paper", x=0.5, y=0.5)
    return figure


def connectivity_chart(paths: Sequence[Connectivity]) -> Figure:
    """Return the relative loss along paths between specialists, and how much of it counts as connected.

    Examples
    --------
    >>> import torch
    >>> from dovetail.specialists import Connectivity
    >>> t = torch.tensor([0.0, 0.5, 1.0])
    >>> connectivity_chart([Connectivity("3", "8", t, t + 1, torch.tensor([0.0, 1.5, 0.0]))]).data[0].name
    '3 → 8'
    """
    figure = empty_figure("t, place on the path", "loss above the straight line (%)")
    for path, colour in zip(paths, line_colours(len(paths)), strict=True):
        name = plain(f"{shortened(path.first)} → {shortened(path.second)}")
        figure.add_scatter(
            x=path.t.tolist(), y=path.relative.tolist(), mode="lines", name=name, line_color=colour,
            hovertemplate=f"{name}<br>t = %{{x:.2f}}: %{{y:.2f}} %<extra></extra>",
        )  # fmt: skip
    for tolerance in {path.tolerance for path in paths}:
        _reference_line(figure, tolerance, f"tolerance: {tolerance:g} %")
    ticks = {0: "0<br>first", 0.25: "¼", 0.5: "½<br>sum", 0.75: "¾", 1: "1<br>second"}
    figure.update_xaxes(tickvals=list(ticks), ticktext=list(ticks.values()), range=[-0.02, 1.02])
    figure.update_layout(margin={"r": 30}, showlegend=1 < len(paths) <= MOST_NAMES)
    return titled(figure, figure.data[0].name) if len(paths) == 1 else figure


def merge_curve_chart(curves: Mapping[str, MergeCurve]) -> Figure:
    """Return rewarded accuracy over the number of specialists merged: the mean of all runs, and a band of ± 1 sd.

    Examples
    --------
    >>> import torch
    >>> from dovetail.specialists import MergeCurve
    >>> accuracy = torch.tensor([[1.0, 0.9], [1.0, 0.8]])
    >>> chart = merge_curve_chart({"sum": MergeCurve((("0", "1"), ("1", "0")), (0, 0), accuracy, accuracy)})
    >>> [trace.name for trace in chart.data if trace.showlegend]
    ['sum']
    """
    figure = empty_figure("specialists merged", "rewarded accuracy (mean ± sd)")
    for (name, curve), colour in zip(curves.items(), line_colours(len(curves)), strict=True):
        merged = list(range(1, curve.accuracy.shape[1] + 1))
        mean, sd = curve.accuracy.mean(0), spread(curve.accuracy)
        high, low = (mean + sd).clamp(max=1), (mean - sd).clamp(min=0)  # accuracies are from 0 to 1
        figure.add_scatter(
            x=merged + merged[::-1], y=high.tolist() + low.flip(0).tolist(), fill="toself", opacity=0.2,
            fillcolor=colour, line={"width": 0}, mode="lines", hoverinfo="skip", showlegend=False,
            legendgroup=plain(name),
        )  # fmt: skip
        figure.add_scatter(
            x=merged, y=mean.tolist(), mode="lines+markers", line_color=colour, name=plain(name),
            customdata=sd.tolist(), legendgroup=plain(name), showlegend=list(curves) != [""],
            hovertemplate=f"{plain(name)}<br>%{{x}} merged: %{{y:.4f}} ± %{{customdata:.4f}}<extra></extra>",
        )  # fmt: skip
    steps = max((curve.accuracy.shape[1] for curve in curves.values()), default=1)
    figure.update_xaxes(dtick=math.ceil(steps / MOST_NAMES), tick0=1)
    return figure


def probe_chart(audit: DropAudit) -> Figure:
    """Return how well a linear probe tells the dropped class from the others, for each network of the audit.

    Examples
    --------
    >>> from dovetail.specialists import DropAudit
    >>> probe_chart(DropAudit(("3",), {}, {"composite without it": 0.9, "raw inputs": 0.8}, True, True)).data[0].text
    ('0.900', '0.800')
    """
    names, values = list(audit.probes), list(audit.probes.values())
    figure = empty_figure("balanced accuracy", "", height=150 + 36 * len(names))
    figure.add_bar(
        x=[value - 0.5 for value in values], y=[plain(name) for name in names], base=0.5, orientation="h",
        text=[f"{value:.3f}" for value in values], textposition="auto",
        hovertemplate="%{y}: %{text}<extra></extra>",
        marker_color=[REWARDED_COLOUR if name == audit.without else OTHER_COLOUR for name in names],
    )  # fmt: skip
    figure.update_xaxes(range=[min([0.5, *values]), 1])
    figure.update_yaxes(
        type="category", autorange="reversed", ticks="outside", ticklen=6, tickcolor="rgba(0, 0, 0, 0)"
    )
    return titled(figure, plain(f"linear probe for {shortened(audit.names)} (chance: .5)"))


def relearning_chart(audit: DropAudit) -> Figure:
    """Return how fast networks of an audit learn the dropped class again, from the most samples of it.

    Examples
    --------
    >>> from dovetail.specialists import DropAudit, Relearning
    >>> curve = Relearning((5,), (0, 10), ((0.5, 0.9),))
    >>> relearning_chart(DropAudit(("3",), {}, {}, True, True, relearning={"composite without it": curve})).data[0].y
    (0.5, 0.9)
    """
    figure = empty_figure("steps", "accuracy on it and on the others, mean")
    colours = line_colours(len(audit.relearning))
    for (name, found), colour in zip(audit.relearning.items(), colours, strict=True):
        figure.add_scatter(
            x=found.steps, y=found.accuracy[-1], mode="lines+markers", line_color=colour, name=plain(name),
            hovertemplate=f"{plain(name)}<br>%{{x}} steps: %{{y:.4f}}<extra></extra>",
        )  # fmt: skip
    if audit.whole in audit.scores:
        _reference_line(figure, audit.level, "learnt again")
    return titled(figure, plain(f"learning {shortened(audit.names)} again"))


def _reference_line(figure: Figure, height: float, label: str) -> None:
    figure.add_hline(
        height,
        line={"color": GREY, "dash": "dash", "width": 1},
        annotation={"text": label, "font": {"color": GREY}},
    )


def _class_names(score: Score) -> list[str]:
    """Return class names, those of rewarded classes in bold."""
    names = [plain(shortened(name)) for name in score.classes]
    return [f"<b>{name}</b>" if number in score.rewarded else name for number, name in enumerate(names)]
