"""Tasks with nothing to find: answers that never change, and inputs that never do."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from matplotlib import pyplot as plt

import dovetail as dt
from dovetail.sculpting import open_sculpture

FEW = {"unit_steps": [0.5], "edge_steps": [0.1], "epochs": 20, "device": "cpu", "progress": False}
INPUTS = torch.randn(48, 5, generator=torch.Generator().manual_seed(0))
SAME = torch.ones(48, 5)
LABELS = (torch.arange(48) % 4 == 0).long()  # three quarters are 0


def data(x: torch.Tensor, y: torch.Tensor, classes: tuple[str, ...] = ("a", "b")) -> dt.Dataset:
    split = dt.Split(x, y)
    return dt.Dataset("constant", split, split, split, classes)


@pytest.mark.parametrize(
    "task",
    [
        "y1 = x1 | ~x1",
        "y1 = x1 & ~x1; y2 = x2 | ~x2",
        data(INPUTS, torch.zeros(48, dtype=torch.int64)),
        data(SAME, torch.ones(48, dtype=torch.int64)),
        data(INPUTS, torch.zeros(48, dtype=torch.int64), ("a",)),
    ],
    ids=["always 1", "0 and 1", "one label", "one sample", "one class"],
)
def test_an_answer_that_never_changes_needs_no_edge(task: str | dt.Dataset, tmp_path: Path) -> None:
    sculpture = dt.sculpt(task, [6], lr=0.05, **FEW)  # type: ignore[arg-type]
    assert (sculpture.outcome, sculpture.edges, sculpture.accuracy) == ("sculpted", 0, 1.0)
    assert "no edges" in sculpture.describe()
    assert sculpture.hierarchy.modules == ()
    assert len(sculpture.hierarchy.unused) == sum(sculpture.widths)
    again = open_sculpture(sculpture.save(tmp_path / "sculpture.safetensors"))
    assert again.hierarchy == sculpture.hierarchy
    sculpture.plot()
    sculpture.plot_history()
    sculpture.hierarchy.plot_metric()
    plt.close("all")


@pytest.mark.parametrize("inputs", [SAME, 0 * SAME], ids=["ones", "zeros"])
@pytest.mark.parametrize("threshold", [None, 1.0])
def test_inputs_that_never_change_teach_nothing(inputs: torch.Tensor, threshold: float | None) -> None:
    sculpture = dt.sculpt(data(inputs, LABELS), [6], threshold=threshold, **FEW)  # type: ignore[arg-type]
    assert sculpture.outcome == "not learned"
    assert "train it longer" in sculpture.describe()
    assert sculpture.accuracy <= 0.75
