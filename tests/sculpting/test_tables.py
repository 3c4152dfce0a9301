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


HALF = "a b | sum carry\n0 0 | 0 0\n0 1 | 1 -\n1 1 | 0 1\n"


def test_rows_and_bits_that_do_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "half.txt"
    file.write_text(HALF)
    task = read_task_file(file)
    assert (task.input_names, task.output_names) == (("a", "b"), ("sum", "carry"))
    nan = float("nan")
    expected = [[0, 0], [1, nan], [nan, nan], [0, 1]]
    np.testing.assert_array_equal(task.y.numpy(), expected)
    assert "3 of 4 rows" in task.describe()
    shuffled = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 1, nan]])
    again = read_rows(shuffled, names=["a", "b", "|", "sum", "carry"])
    np.testing.assert_array_equal(again.y.numpy(), expected)
    assert torch.equal(task.rows_that_matter.x, torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    with pytest.raises(DataError, match="only some outputs matter"):
        task.dataset()
    whole = read_rows([[0, 0, 0], [1, 1, 1]], names=["x1", "x2", "y1"])
    assert len(whole.dataset().train) == 2


def test_what_does_not_matter_is_not_learned_and_not_counted() -> None:
    nan = float("nan")
    task = BooleanTask.from_table(np.array([[0], [nan], [nan], [1]]))
    sculpture = dt.sculpt(task, [6], **FEW)  # type: ignore[arg-type]
    assert (sculpture.accuracy, sculpture.outcome) == (1.0, "sculpted")
    assert sculpture.edges == 2  # a wire does: x1, or x2
    explained = sculpture.explain(task)
    assert not explained.whole
    assert explained.reproduced == explained.samples == 2
    assert explained.outputs[0].formula in ("x1", "x2")


def test_gradients_of_bits_that_do_not_matter_are_those_of_autograd() -> None:
    from dovetail.sculpting.pruning.perceptrons import Perceptrons

    weights = [torch.randn(2, 5, 3, dtype=torch.float64), torch.randn(2, 2, 5, dtype=torch.float64)]
    biases = [torch.randn(2, 5, dtype=torch.float64), torch.randn(2, 2, dtype=torch.float64)]
    stack = Perceptrons.from_matrices(weights, biases, "some bits")
    x = torch.randn(6, 3, dtype=torch.float64)
    y = torch.tensor(
        [[0, 1], [torch.nan, 1], [1, torch.nan], [torch.nan, torch.nan], [0, 0], [1, 1]]
    ).double()
    stack.values.requires_grad_()
    logits = stack.logits(x)
    matters = ~y.isnan()
    losses = torch.nn.functional.binary_cross_entropy_with_logits(
        logits[:, matters], y[matters].expand(2, -1), reduction="none"
    )
    (losses.sum() / y.numel()).backward()
    expected = stack.values.grad
    found = torch.zeros_like(stack.values)
    with torch.no_grad():
        stack.gradients(x, y, found)
        wrong, loss = stack.measure(x, y)
    assert expected is not None
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(loss, losses.sum(1).detach() / y.numel())
    assert wrong.tolist() == ((logits[:, matters] > 0) != (y[matters] > 0.5)).sum(1).tolist()


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        (["a", "|", "b"], [[0, 1], [0, 1]]),
        (["a", "|", "b"], [[np.nan, 1], [0, 1]]),
        (["a", "b", "|"], [[0, 1], [1, 1]]),
        (["|", "a", "b"], [[0, 1], [1, 1]]),
        (["a", "|", "b", "c"], [[0, 1, np.nan], [1, 1, np.nan]]),
    ],
    ids=[
        "a row twice",
        "an input that does not matter",
        "no outputs",
        "no inputs",
        "an output that never matters",
    ],
)
def test_incomplete_tables_that_make_no_sense_are_refused(names: list[str], rows: list[list[float]]) -> None:
    if names[0] == "|":  # all columns are outputs then, as in counting order
        assert read_rows(rows, names=names).inputs == 1
        return
    with pytest.raises(DataError):
        read_rows(rows, names=names)


def test_a_bar_alone_is_a_formula_and_minus_one_is_no_bit(tmp_path: Path) -> None:
    from dovetail.commands.task_file import is_task_file

    file = tmp_path / "or.txt"
    file.write_text("x1 | x2")
    assert read_task_file(file).y.flatten().tolist() == [0, 1, 1, 1]
    (tmp_path / "votes.csv").write_text("a,b\n-1,1\n1,0\n")
    assert not is_task_file(tmp_path / "votes.csv")


def test_an_incomplete_table_on_the_command_line(tmp_path: Path) -> None:
    from tests.test_commands import run

    file = tmp_path / "half.txt"
    file.write_text(HALF)
    few = ("--hidden", "8", "--unit-steps", "50", "--edge-steps", "5", "--device", "cpu")
    printed = run("sculpt", file, *few, "--explain", "-o", tmp_path / "run")
    assert "on 3 samples" in printed
    assert "carry = " in printed
    assert run("sculpt", file, *few, "-o", tmp_path / "run")  # the same task: kept
