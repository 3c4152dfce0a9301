"""Pictures show what was measured: the values drawn, the names beside them, and what is marked."""

from __future__ import annotations

import math
from collections.abc import Iterator

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.patches import Rectangle

from dovetail.errors import SpecError
from dovetail.plotting import line_colours
from dovetail.population import History
from dovetail.specialists import Connectivity, DropAudit, MergeCurve, Relearning, Score
from dovetail.specialists.evaluate import score_logits
from dovetail.specialists.plots import (
    plot_confusion,
    plot_connectivity,
    plot_history,
    plot_merge_curve,
    plot_probes,
    plot_relearning,
    shortened,
)

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def scored(classes: int = 4, rewarded: tuple[int, ...] = (1,), names: list[str] | None = None) -> Score:
    """Return a score on two samples of each class but the last, which has none."""
    target = torch.arange(classes - 1).repeat_interleave(2)
    logits = torch.randn(len(target), classes, generator=torch.Generator().manual_seed(0))
    names = names or [f"c{number}" for number in range(classes)]
    return score_logits(logits[None], target, [rewarded], names)[0]


def drawn(ax: Axes) -> Axes:
    """Render, so that whatever cannot be drawn fails here."""
    assert ax.figure.canvas is not None
    ax.figure.canvas.draw()
    return ax


def bars(ax: Axes) -> list[Rectangle]:
    (container,) = (c for c in ax.containers if isinstance(c, BarContainer))
    return list(container.patches)


def path(first: str = "3", second: str = "8", height: float = 1.0) -> Connectivity:
    t = torch.tensor([0.0, 0.5, 0.5, 1.0], dtype=torch.float64)
    relative = torch.tensor([0.0, height, height, 0.0], dtype=torch.float64)
    return Connectivity(first, second, t, 1 + relative, relative)


def curve(accuracy: list[list[float]]) -> MergeCurve:
    values = torch.tensor(accuracy, dtype=torch.float64)
    orders = tuple(tuple(map(str, range(values.shape[1]))) for _ in accuracy)
    return MergeCurve(orders, (0,) * len(accuracy), values, torch.full_like(values, torch.nan))


def test_confusion_colours_are_shares_of_rows_and_counts_are_written_in() -> None:
    score = scored()
    ax = drawn(plot_confusion(score))
    shares = torch.from_numpy(np.asarray(ax.images[0].get_array()))
    assert shares.sum(1).tolist() == pytest.approx([1, 1, 1, 0])
    written = {text.get_position(): text.get_text() for text in ax.texts}
    expected = {(c, r): str(int(score.confusion[r, c])) for r in range(4) for c in range(4)}
    assert written == expected
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("largest output", "true class")


def test_confusion_names_rewarded_classes_in_bold_on_both_axes() -> None:
    ax = drawn(plot_confusion(scored(rewarded=(1, 3))))
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        weights = {label.get_text(): label.get_fontweight() for label in labels}
        assert weights == {"c0": "normal", "c1": "bold", "c2": "normal", "c3": "bold"}


def test_confusion_of_many_classes_is_not_cluttered() -> None:
    ax = drawn(plot_confusion(scored(60, (0,))))
    assert not ax.texts
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names[:2] == ["c0", "c3"]
    assert len(names) <= 25


def test_names_with_dollars_are_no_formulas() -> None:
    ax = drawn(plot_confusion(scored(names=[r"$\nonsense{$", "$b$", "c", "d"])))
    assert ax.get_xticklabels()[0].get_text() == r"$\nonsense{$"
    drawn(plot_connectivity([path(r"$\a{$", "8"), path(r"$\b{$", "8")]))
    drawn(plot_merge_curve({r"$\a{$": curve([[1.0, 0.5]])}))
    drawn(plot_probes(DropAudit((r"$\a{$",), {}, {r"$\b{$": 0.6}, True, True)))


def test_a_score_draws_itself_where_it_is_told_to() -> None:
    given = plt.subplots()[1]
    assert scored().plot(given) is given
    assert len(plt.get_fignums()) == 1


def test_connectivity_shows_percent_over_t_and_the_tolerance() -> None:
    ax = drawn(path(height=1.5).plot())
    curve, tolerance = ax.lines
    assert curve.get_xydata().tolist() == [[0, 0], [0.5, 1.5], [0.5, 1.5], [1, 0]]  # type: ignore[union-attr]
    assert list(tolerance.get_ydata()) == [2, 2]  # type: ignore[arg-type]
    assert "%" in ax.get_ylabel()
    assert ax.get_title() == "3 → 8"
    assert ax.get_legend() is None


def test_connectivity_of_several_paths_names_each() -> None:
    given = plt.subplots()[1]
    (other,) = given.plot([0, 1], [0, 0], color="black")
    ax = drawn(plot_connectivity([path("0", "1"), path(", ".join("012345678"), "9")], given))
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["0 → 1", "0, 1, 2, … 6, 7, 8 → 9"]
    assert other.get_color() not in [line.get_color() for line in legend.get_lines()]
    assert drawn(plot_connectivity([path()] * 30)).get_legend() is None


def test_merge_curve_shows_mean_and_sd_at_whole_numbers() -> None:
    ax = drawn(curve([[1.0, 0.8, 0.5], [1.0, 0.6, 0.5]]).plot())
    assert list(ax.lines[0].get_xdata()) == [1, 2, 3]  # type: ignore[arg-type]
    assert list(ax.lines[0].get_ydata()) == pytest.approx([1, 0.7, 0.5])  # type: ignore[arg-type]
    corners = ax.collections[0].get_paths()[0].vertices
    at_two = [y for x, y in corners.tolist() if x == 2]  # type: ignore[union-attr]
    assert (min(at_two), max(at_two)) == pytest.approx((0.7 - math.sqrt(0.02), 0.7 + math.sqrt(0.02)))
    assert all(tick == round(tick) for tick in ax.get_xticks())
    assert ax.get_legend() is None


def test_merge_curve_of_one_run_has_no_spread_and_named_curves_a_legend() -> None:
    ax = drawn(plot_merge_curve({"_sum": curve([[1.0, 0.5]]), "logits": curve([[1.0, 0.9]])}))
    assert ax.collections[0].get_paths()[0].get_extents().height == 0.5
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["_sum", "logits"]


def test_probes_are_bars_from_chance_in_the_order_of_the_audit() -> None:
    audit = DropAudit(
        ("3",), {}, {"composite with it": 0.9, "composite without it": 0.75, "raw inputs": 0.4}, True, True
    )
    ax = drawn(audit.plot())
    assert [bar.get_x() for bar in bars(ax)] == [0.5] * 3
    assert [bar.get_width() for bar in bars(ax)] == pytest.approx([0.4, 0.25, -0.1])
    assert [text.get_text() for text in ax.texts] == ["0.900", "0.750", "0.400"]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(audit.probes)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first at the top
    assert ax.get_xlim() == (0.4, 1)  # worse than chance is shown, not cut off


def test_relearning_is_a_line_for_each_network_from_the_most_samples() -> None:
    curves = {
        "composite without it": Relearning((1, 5), (0, 10), ((0.1, 0.2), (0.5, 0.9))),
        r"$\b{$": Relearning((1, 5), (0, 10), ((0.1, 0.2), (0.4, 0.8))),
    }
    ax = drawn(plot_relearning(DropAudit((r"$\a{$",), {}, {}, True, True, relearning=curves)))
    assert [list(line.get_ydata()) for line in ax.lines] == [[0.5, 0.9], [0.4, 0.8]]  # type: ignore[arg-type]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(curves)


def test_history_is_the_mean_of_members_still_training_with_a_line_per_round() -> None:
    first, second = (History.empty((0, 1), 3, ["loss"]) for _ in range(2))
    first["loss"][:] = torch.tensor([[1.0, 3.0], [1.0, torch.nan], [torch.nan, torch.nan]])
    second["loss"][:] = 1.0
    ax = drawn(plot_history([first, second], "loss"))
    assert list(ax.lines[0].get_ydata()) == pytest.approx([2, 1, torch.nan], nan_ok=True)  # type: ignore[arg-type]
    assert list(ax.lines[0].get_xdata()) == [1, 2, 3]  # type: ignore[arg-type]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["round 1", "round 2"]
    with pytest.raises(SpecError, match="unknown value of a history 'rewarded_accuracy'"):
        plot_history([first])


@pytest.mark.parametrize("lines", [1, 6, 7, 40])
def test_every_line_has_a_colour_of_its_own(lines: int) -> None:
    assert len(set(line_colours(lines))) == lines


@pytest.mark.parametrize("length", [1, 18, 19, 200])
def test_long_names_keep_their_ends(length: int) -> None:
    text = "a" + "b" * (length - 2) + "c" * (length > 1)
    assert len(shortened(text)) <= 19
    assert (shortened(text)[0], shortened(text)[-1]) == (text[0], text[-1])
    assert (shortened(text) == text) == (length <= 18)
