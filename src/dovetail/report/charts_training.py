"""How trainings went, as plotly figures: losses in training and on validation data, epoch by epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..plotting import line_colours
from ..specialists.plots import MOST_NAMES
from .chart_frame import empty_figure, plain

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from ..population import History


class Curve(NamedTuple):
    """The losses of one network after each epoch; nothing where one was not measured.

    Attributes
    ----------
    training, validation : list of float
        In nats.
    """

    training: list[float]
    validation: list[float]


def curve_of(history: History, member: int) -> Curve:
    """Return how the training of one member went, up to the epoch in which it ended.

    Examples
    --------
    >>> from dovetail.population import History
    >>> history = History.empty((0,), 3, ["train_loss", "loss"])
    >>> history["train_loss"][:2] = 0.5
    >>> history.epochs[0] = 2
    >>> curve_of(history, 0).training
    [0.5, 0.5]
    """
    epochs = int(history.epochs[member])
    none: list[float] = []
    values = [
        history[name][:epochs, member].tolist() if name in history.values else none
        for name in ("train_loss", "loss")
    ]
    return Curve(*values)


def training_chart(curves: Mapping[str, Curve]) -> Figure:
    """Return a line for each network's loss on validation data, and a dotted one of the same colour for training.

    Examples
    --------
    >>> chart = training_chart({"3": Curve([0.9, 0.5], [0.8, 0.7])})
    >>> [(trace.name, trace.y) for trace in chart.data]
    [('3, validation', (0.8, 0.7)), ('3, training', (0.9, 0.5))]
    """
    figure = empty_figure("epochs trained", "loss (nats)", height=340)
    for (name, curve), colour in zip(curves.items(), line_colours(len(curves)), strict=True):
        for what, values, dash in (
            ("validation", curve.validation, "solid"),
            ("training", curve.training, "dot"),
        ):
            if values:
                label = f"{plain(name)}, {what}"
                figure.add_scatter(
                    x=list(range(1, len(values) + 1)), y=values, mode="lines", name=label, legendgroup=plain(name),
                    line={"color": colour, "dash": dash, "width": 2 if dash == "solid" else 1},
                    hovertemplate=f"{label}<br>epoch %{{x}}: %{{y:.4f}}<extra></extra>",
                )  # fmt: skip
    figure.update_layout(showlegend=len(figure.data) <= 2 * MOST_NAMES)
    return figure
