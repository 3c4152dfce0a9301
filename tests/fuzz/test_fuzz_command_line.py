"""The command line: every verb with any of its options, good and bad values, good and damaged files."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import typer
from hypothesis import strategies as st

from dovetail import cli
from dovetail.errors import DovetailError
from dovetail.sculpting import detect_modules

from ..specialists.helpers import make_specialist
from .many import fuzz
from .small_data import use_small_data

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

COMMAND: Any = typer.main.get_command(cli.app)
FILES = ["three.safetensors", "eight.safetensors", "both.safetensors", "other.safetensors", "cut.safetensors", "empty",
         "noise.bin", "net.pt", "plain.safetensors", "deep.safetensors", "modules.json", "table.txt", "formulas.txt",
         "folder", "nowhere", "nowhere/file", "\udcff", "data"]  # fmt: skip
TEXTS = ["", " ", "0", "1", "3", "-1", "2.5", "1e-3", "nan", "inf", "-inf", "9" * 30, "9" * 5000, "x", "ä",
         "🦜", "\udcff",
         "[4,2,4]", "[4,2", "y1 = x1 ^ x2", "y1 = ", "digits", "lines", "har:features=time", "lines:seed=",
         "mnist:val=2",
         "mlp:8", "mlp:", "lenet", "net:mlp:8", "timm:", "no.module:build", "cpu", "cuda:99", "meta", "smoke", "paper",
         "table4", "3,8", "0,0", "24-24", "3x32x32", "8x8", "1x8x8", "64", "25,50", "out.json", "out.html",
         "out.svg", "out.txt",
         "dense1.weight", "sum", "logits", "ties", "calibrated", "single", "ward", "jaccard", "euclidean",
         "silhouette", "l2",
         "induced", "cnn", "layer-nonzero", "leiden", "xe", "rewarded_accuracy", "global", "local", "--",
         "-", "--json", "x" * 3000]  # fmt: skip
FEW = ["-1", "0", "1", "2", "x", "nan", "1.5", "9" * 30, ""]
"""For options that say how much work to do: what is accepted must be little."""
WORK = {
    "epochs",
    "round_epochs",
    "rounds",
    "seeds",
    "shuffles",
    "draws",
    "samples",
    "jobs",
    "k",
    "batch_size",
}
PLACES = {"device": ["cpu", "cuda:99", "x", "", "meta"]}
VERBS = [
    *((name,) for name in COMMAND.commands if name != "data"),
    ("data", "list"),
    ("data", "get"),
    ("data",),
]


GOOD = [["inspect", "three.safetensors"], ["inspect", "both.safetensors", "--json"], ["data", "list"]]


def command_of(verb: tuple[str, ...]) -> Any:
    found = COMMAND
    for name in verb:
        found = found.commands[name]
    return found


def value_for(name: str) -> st.SearchStrategy[str]:
    if name in WORK:
        return st.sampled_from(FEW)
    if name in PLACES:
        return st.sampled_from(PLACES[name])
    if name in ("files", "file", "checkpoint", "path", "weights", "network", "output", "folder"):
        return st.sampled_from(FILES) | st.sampled_from(FILES) | st.sampled_from(TEXTS)
    return st.sampled_from(TEXTS) | st.sampled_from(FILES) | words


words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=10)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """Return a verb with some of its arguments and options, and perhaps what does not belong there."""
    if draw(st.integers(0, 19)) == 0:  # some must go through, however few and strange the others are
        return draw(st.sampled_from(GOOD))
    verb = draw(st.sampled_from(VERBS))
    line: list[str] = []
    for parameter in getattr(command_of(verb), "params", []):
        value = value_for(parameter.name)
        if parameter.param_type_name == "argument":
            wanted = draw(st.sampled_from([1, 1, 1, 1, 0, 2]))
            line += [draw(value) for _ in range(wanted)]
        elif parameter.required or draw(st.integers(0, 4)) == 0:
            option = draw(st.sampled_from([*parameter.opts, *parameter.secondary_opts]))
            line += [option] if parameter.is_flag else [option, draw(value)]
    if draw(st.integers(0, 9)) == 0:
        line.insert(draw(st.integers(0, len(line))), draw(st.sampled_from(TEXTS) | words))
    return [*verb, *line] if draw(st.integers(0, 19)) else line


def make_files(folder: Path) -> None:
    """Write what the command lines name: parts for digits, damaged ones, weights, hierarchies, tables, formulas."""
    classes = tuple(str(number) for number in range(10))
    three, eight = (
        make_specialist((number,), "mlp:8", shape=(1, 8, 8), classes=classes) for number in (3, 8)
    )
    content = three.save(folder / "three.safetensors").read_bytes()
    eight.save(folder / "eight.safetensors")
    (three + eight).save(folder / "both.safetensors")
    make_specialist((1,)).save(folder / "other.safetensors")
    (folder / "cut.safetensors").write_bytes(content[:-9])
    (folder / "empty").touch()
    (folder / "noise.bin").write_bytes(bytes(range(256)))
    torch.save(
        torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 2)).state_dict(), folder / "net.pt"
    )
    from safetensors.torch import save_file

    tensors = {"a.weight": torch.eye(3), "b.weight": torch.ones(2, 3)}
    save_file(tensors, folder / "plain.safetensors")
    save_file(tensors, folder / "deep.safetensors", {"dovetail": "[" * 10_000})
    (folder / "modules.json").write_text(detect_modules([np.eye(2)]).to_json())
    (folder / "table.txt").write_text("0\n1\n1\n0\n")
    (folder / "formulas.txt").write_text("y1 = x1 & x2\n")
    (folder / "folder").mkdir()


def refuse(*_: object, **__: object) -> Any:
    raise DovetailError("the work itself is not done here")


def leave_work_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop every verb where its work would begin: all checks are done by then."""
    monkeypatch.setattr("dovetail.demo.run_demo", refuse)
    monkeypatch.setattr("dovetail.specialists.train.train_rounds", refuse)
    monkeypatch.setattr("dovetail.specialists.audit_drop", refuse)
    monkeypatch.setattr("dovetail.sculpting.sculpt_seeds", refuse)
    monkeypatch.setattr("dovetail.engine.reproduce", refuse)
    monkeypatch.setattr("dovetail.studio.serve", refuse)
    monkeypatch.setattr("dovetail.commands.audit_source.from_timm", refuse)


def outcome(arguments: list[str]) -> tuple[int, str]:
    """Run a command as the shell would, and return its status and what it printed as an error."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    sys.argv = ["dovetail", *arguments]
    with redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        out.flush()
        err.flush()
    return status, err.buffer.getvalue().decode()


def reader(folder: Path) -> Callable[[list[str]], None]:
    def read(arguments: list[str]) -> None:
        status, error = outcome(arguments)
        assert status in (0, 1, 2), status
        assert "internal error" not in error, error
        assert "Traceback" not in error, error
        if status:
            raise DovetailError("refused")

    return read


def test_no_command_line_ends_in_a_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_data(tmp_path, monkeypatch)
    make_files(tmp_path)
    leave_work_out(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the command has its own
    monkeypatch.setattr(cli, "app", COMMAND)  # made once, not for every line
    assert outcome(["inspect", "three.safetensors"])[0] == 0
    fuzz("command line", command_lines(), reader(tmp_path))
