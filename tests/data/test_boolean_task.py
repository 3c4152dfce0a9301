"""Boolean tasks as data, and tasks from bare truth tables."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dovetail.data.boolean import BooleanTask, boolean_task, evaluate_graph
from dovetail.errors import DataError, ShapeError, SpecError


def test_rows_count_up_with_x1_most_significant() -> None:
    task = boolean_task("y1 = x1", "y2 = x3")
    weights = torch.tensor([4.0, 2.0, 1.0])
    assert task.x.dtype == task.y.dtype == torch.float32
    assert torch.equal(task.x @ weights, torch.arange(8.0))
    assert torch.equal(task.y, task.x[:, [0, 2]])


def test_dataset_is_the_whole_table_three_times() -> None:
    task = boolean_task([4, 1, 2, 4])
    data = task.dataset()
    assert (data.name, data.task, data.classes) == ("[4,1,2,4]", "bits", ("y1", "y2", "y3", "y4"))
    for split in data.splits.values():
        assert torch.equal(split.x, task.x)
        assert torch.equal(split.y, task.y)


def test_table_and_graph_agree() -> None:
    task = boolean_task([6, 3, 2, 4])
    assert task.graph is not None
    assert torch.equal(evaluate_graph(task.graph, task.x), task.y)


def test_text_forms() -> None:
    task = boolean_task("y1 = x1 & x2 | x3")
    assert repr(task) == "BooleanTask('formulas', inputs=3, outputs=1, gates=2)"
    assert task.describe().splitlines()[1:] == [
        "  table    8 rows, 3 inputs, 1 outputs",
        "  graph    2 gates (1 and, 1 or), 5 edges",
    ]
    assert "gates" not in boolean_task("y1 = x1").describe().replace("0 gates, 1 edges", "")
    assert "planted" in boolean_task([4, 2, 4]).describe()


@pytest.mark.parametrize(
    "y",
    [
        [[0, 1], [1, 1], [1, 0], [0, 0]],
        np.array([[0, 1], [1, 1], [1, 0], [0, 0]], dtype=np.uint8),
        np.array([[0, 0], [1, 0], [1, 1], [0, 1]])[::-1],
        torch.tensor([[False, True], [True, True], [True, False], [False, False]]),
        torch.tensor([[0, 1], [1, 1], [1, 0], [0, 0.0]], requires_grad=True),
    ],
    ids=["list", "numpy", "reversed", "bool", "grad"],
)
def test_from_table(y: torch.Tensor) -> None:
    task = BooleanTask.from_table(y)
    assert (task.name, task.inputs, task.outputs, task.graph, task.planted) == ("table", 2, 2, None, None)
    assert task.y.tolist() == [[0, 1], [1, 1], [1, 0], [0, 0]]
    assert task.y.dtype == torch.float32
    assert repr(task) == "BooleanTask('table', inputs=2, outputs=2)"
    assert task.describe() == "table\n  table    4 rows, 2 inputs, 2 outputs"
    assert len(task.dataset().train) == 4


def test_from_table_keeps_its_own_copy() -> None:
    y = torch.zeros(4, 1)
    task = BooleanTask.from_table(y, name="mine")
    y.fill_(1)
    assert task.name == "mine"
    assert task.y.sum() == 0


@pytest.mark.parametrize(
    ("y", "error", "says"),
    [
        ([0, 1], ShapeError, r"not \[2\]"),
        (torch.zeros(3, 1), ShapeError, "3 rows"),
        (torch.zeros(1, 1), ShapeError, "1 rows"),
        (torch.zeros(0, 1), ShapeError, "0 rows"),
        (torch.zeros(4, 0), SpecError, "0 outputs"),
        (torch.zeros(2, 257), SpecError, "257 outputs"),
        (torch.zeros(2**21, 1), SpecError, "21 inputs"),
        (torch.full((2, 1), 0.5), DataError, "only 0 and 1"),
        (torch.tensor([[0.0], [float("inf")]]), DataError, "only 0 and 1"),
        (
            torch.tensor([[0.0, float("nan")], [1.0, float("nan")]]),
            DataError,
            "output 2 does not matter in any row",
        ),
        (torch.zeros(2, 1, dtype=torch.complex64), DataError, "only 0 and 1"),
        ([["a"], ["b"]], DataError, "cannot be read"),
        ([[0], [1, 0]], DataError, "cannot be read"),
        (None, DataError, "cannot be read"),
    ],
)
def test_bad_tables_are_explained(y: torch.Tensor, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        BooleanTask.from_table(y)
