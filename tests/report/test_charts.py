"""Interactive charts show the same values as the pictures, and names as they stand."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
import torch

from dovetail.errors import SpecError
from dovetail.report import (
    confusion_chart,
    connectivity_chart,
    merge_curve_chart,
    per_class_chart,
    probe_chart,
    relearning_chart,
)
from dovetail.specialists import Connectivity, DropAudit, MergeCurve, Relearning, Score
from dovetail.specialists.evaluate import score_logits

NASTY = "<a href=x>$1$ %{x}"
HARMLESS = "&lt;a href=x&gt;&#36;1&#36; %&#123;x}"


def scored(rewarded: tuple[int, ...] = (1,), classes: int = 4) -> Score:
    """Return a score on two samples of each class but the last, which has none."""
    target = torch.arange(classes - 1).repeat_interleave(2)
    logits = torch.randn(len(target), classes, generator=torch.Generator().manual_seed(0))
    names = [NASTY, *(f"c{number}" for number in range(1, classes))]
    return score_logits(logits[None], target, [rewarded], names)[0]


def path(first: str, second: str) -> Connectivity:
    t = torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64)
    return Connectivity(first, second, t, t + 1, torch.tensor([0.0, 1.5, 0.0], dtype=torch.float64))


def curve(accuracy: list[list[float]]) -> MergeCurve:
    values = torch.tensor(accuracy, dtype=torch.float64)
    orders = tuple(tuple(map(str, range(values.shape[1]))) for _ in accuracy)
    return MergeCurve(orders, (0,) * len(accuracy), values, torch.full_like(values, torch.nan))


def test_confusion_has_counts_shares_and_bold_names() -> None:
    score = scored()
    (heatmap,) = confusion_chart(score).data
    assert list(heatmap.x) == list(heatmap.y) == [HARMLESS, "<b>c1</b>", "c2", "c3"]
    assert [list(row) for row in heatmap.text] == score.confusion.tolist()
    assert [sum(row) for row in heatmap.z] == pytest.approx([1, 1, 1, 0])
    assert heatmap.texttemplate == "%{text}"
    assert confusion_chart(scored(classes=13)).data[0].texttemplate is None


@pytest.mark.parametrize("what", ["accuracy", "entropy", "leakage"])
def test_per_class_has_the_values_that_there_are(what: str) -> None:
    score = scored()
    chart = per_class_chart(score, what)  # type: ignore[arg-type]
    shown = {name: value for bars in chart.data for name, value in zip(bars.x, bars.y, strict=True)}
    table = score.per_class[what].tolist()
    names = [HARMLESS, "<b>c1</b>", "c2", "c3"]
    assert shown == {name: value for name, value in zip(names, table, strict=True) if not math.isnan(value)}
    assert list(chart.layout.xaxis.categoryarray) == names
    assert [shape.y0 for shape in chart.layout.shapes] == ([math.log(4)] if what == "entropy" else [])


def test_per_class_without_a_value_says_so_and_names_what_it_can_draw() -> None:
    chart = per_class_chart(scored((0, 1, 2, 3)), "leakage")
    assert not chart.data
    assert chart.layout.annotations[0].text == "no class has a value"
    with pytest.raises(SpecError, match="Known: accuracy, entropy, leakage"):
        per_class_chart(scored(), "colour")  # type: ignore[arg-type]


def test_connectivity_has_a_line_per_path_and_the_tolerance() -> None:
    chart = connectivity_chart([path("0", NASTY), path("0, 1", "2")])
    assert [line.name for line in chart.data] == [f"0 → {HARMLESS}", "0, 1 → 2"]
    assert list(chart.data[0].y) == [0, 1.5, 0]
    assert chart.layout.shapes[0].y0 == 2
    assert chart.layout.showlegend
    assert not connectivity_chart([path("0", "1")]).layout.showlegend
    assert "%{x}" not in chart.data[0].hovertemplate.replace("%{x:.2f}", "")


def test_merge_curve_has_mean_and_band() -> None:
    band, mean = merge_curve_chart({NASTY: curve([[1.0, 0.8], [1.0, 0.6]])}).data
    sd = math.sqrt(0.02)
    assert list(mean.x) == [1, 2]
    assert list(mean.y) == pytest.approx([1, 0.7])
    assert list(band.x) == [1, 2, 2, 1]
    assert list(band.y) == pytest.approx([1, 0.7 + sd, 0.7 - sd, 1])
    assert mean.name == HARMLESS
    assert mean.showlegend
    assert not merge_curve_chart({"": curve([[1.0, 0.8]])}).data[1].showlegend


def test_the_band_of_a_merge_curve_stays_among_accuracies() -> None:
    band, _ = merge_curve_chart({"": curve([[1.0, 0.0], [0.8, 0.0], [1.0, 0.1]])}).data
    assert band.y[0] == 1
    assert band.y[2] == 0
    assert 0.8 < band.y[3] < 0.9


def test_probes_are_bars_from_chance() -> None:
    chart = probe_chart(DropAudit(("3",), {}, {"composite without it": 0.75, NASTY: 0.4}, True, True))
    (bars,) = chart.data
    assert bars.base == 0.5
    assert list(bars.x) == pytest.approx([0.25, -0.1])
    assert list(bars.y) == ["composite without it", HARMLESS]
    assert bars.marker.color[0] != bars.marker.color[1]
    assert list(chart.layout.xaxis.range) == [0.4, 1]


def test_relearning_is_a_line_for_each_network_from_the_most_samples() -> None:
    curve = Relearning((1, 5), (0, 10), ((0.1, 0.2), (0.5, 0.9)))
    chart = relearning_chart(DropAudit(("3",), {}, {}, True, True, relearning={NASTY: curve}))
    (line,) = chart.data
    assert (line.name, list(line.x), list(line.y)) == (HARMLESS, [0, 10], [0.5, 0.9])


def test_importing_the_report_needs_no_plotting_library() -> None:
    code = (
        "import sys; sys.modules['plotly'] = sys.modules['matplotlib'] = None\n"
        "import dovetail.report as r; print(r.Page('title').to_html().count('<h1>title</h1>'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
