"""Curves of trainings: what the library has recorded, network by network."""

from __future__ import annotations

import dovetail as dt
from dovetail.report.charts_training import Curve, curve_of, training_chart


def test_curves_are_what_was_recorded() -> None:
    team = dt.train_specialists(
        dt.load("digits"), "mlp:10", [3, 8], sparsity=0.0, rounds=1, epochs=3, progress=False
    )
    (history,) = team.histories
    curves = {name: curve_of(history, place) for place, name in enumerate("38")}
    for place, name in enumerate("38"):
        assert curves[name].training == history["train_loss"][:, place].tolist()
        assert curves[name].validation == history["loss"][:, place].tolist()
    figure = training_chart(curves)
    assert [line.name for line in figure.data] == [
        "3, validation",
        "3, training",
        "8, validation",
        "8, training",
    ]
    assert list(figure.data[0].x) == [1, 2, 3]
    assert figure.data[0].line.color == figure.data[1].line.color != figure.data[2].line.color


def test_names_are_text_and_what_was_not_measured_has_no_line() -> None:
    figure = training_chart({"<b>$x$": Curve([0.5], [])})
    assert [line.name for line in figure.data] == ["&lt;b&gt;&#36;x&#36;, training"]
