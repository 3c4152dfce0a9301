"""Truth tables mean the same in arrays and in files: outputs alone, or inputs and outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import dovetail as dt
from dovetail.commands.task_file import read_task_file
from dovetail.data import BooleanTask
from dovetail.errors import DataError, DovetailError
from dovetail.sculpting.pruning.problem import problem_of, read_rows

TASK = dt.boolean_task([4, 2, 4])
ROWS = np.hstack([TASK.x.numpy(), TASK.y.numpy()]).astype(int)
XOR = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
FEW = {"unit_steps": [0.5], "edge_steps": [0.02], "progress": False, "device": "cpu"}


def from_file(folder: Path, rows: np.ndarray | list[list[int]], names: str = "") -> BooleanTask:
    file = folder / "table.csv"
    file.write_text("\n".join(([names] if names else []) + [",".join(map(str, row)) for row in rows]))
    return read_task_file(file)


def test_inputs_and_outputs_side_by_side_are_sculpted_as_such() -> None:
    sculpture = dt.sculpt(ROWS, [16], **FEW)  # type: ignore[arg-type]
    assert (sculpture.widths[0], sculpture.widths[-1]) == (4, 4)
    assert [(s.units, s.edges) for s in sculpture.history] == [
        (s.units, s.edges)
        for s in dt.sculpt(TASK, [16], epochs=60, lr=0.05, batch_size=16, **FEW).history  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        TASK.y.numpy().astype(int),
        XOR,
        [[0], [1], [1], [0]],
        [[1, 0], [1, 0]],
        [[0, 1], [1, 1]],
        ROWS[:, :4],
    ],
    ids=["8 columns", "outputs", "xor", "one output", "not inputs", "one input", "as many as inputs"],
)
def test_arrays_and_files_are_one(rows: np.ndarray | list[list[int]], tmp_path: Path) -> None:
    there, here = from_file(tmp_path, rows), read_rows(rows)
    assert (there.inputs, there.outputs) == (here.inputs, here.outputs)
    assert torch.equal(there.y, here.y)
    problem = problem_of(rows)
    assert (problem.inputs, problem.outputs) == (here.inputs, here.outputs)


def test_tables_that_may_be_either_are_refused(tmp_path: Path) -> None:
    shuffled = [XOR[place] for place in (3, 0, 2, 1)]
    for read in (read_rows, problem_of, lambda rows: from_file(tmp_path, rows)):
        with pytest.raises(DataError, match="may be inputs or outputs"):
            read(shuffled)
    outputs = BooleanTask.from_table(shuffled)
    assert problem_of(outputs).outputs == 3


def test_names_say_what_columns_are(tmp_path: Path) -> None:
    shuffled = [XOR[place] for place in (3, 0, 2, 1)]
    for task in (
        from_file(tmp_path, shuffled, "x1,x2,y1"),
        read_rows(shuffled, names=["x1", "x2", "y1"]),
    ):
        assert task.y.flatten().tolist() == [0, 1, 1, 0]
    frame = pd.DataFrame(shuffled, columns=["x1", "x2", "y1"])
    assert problem_of(frame).inputs == 2
    for task in (from_file(tmp_path, XOR, "y1,y2,y3"), read_rows(XOR, names=["y1", "y2", "y3"])):
        assert (task.inputs, task.outputs) == (2, 3)


@pytest.mark.parametrize("names", [["x1", "y1", "x2"], ["x1", "x2"], ["x1", "x2", "x3"], ["x1", "y1", "y2"]])
def test_names_that_do_not_fit_are_refused(names: list[str], tmp_path: Path) -> None:
    with pytest.raises(DovetailError):
        read_rows(XOR, names=names)
    with pytest.raises(DovetailError, match=r"table\.csv"):
        from_file(tmp_path, XOR, ",".join(names))
