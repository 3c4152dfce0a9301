"""``dovetail data``: what data there is, and what is in it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dovetail.cli import app
from dovetail.commands.own_data import say_what_was_read, what_was_read
from dovetail.data import open_data
from dovetail.errors import DataError

ROWS = pd.DataFrame(
    {
        "width": np.random.default_rng(0).normal(size=60).round(5),
        "colour": ["red", "blue", None] * 20,
        "kind": ["cat", "dog", "[bold]emu\x1b[31m"] * 20,
    }
)


def run(*arguments: str | Path) -> str:
    """Run a command in this process; its errors come as they are."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def table(tmp_path: Path) -> Path:
    ROWS.to_csv(tmp_path / "pets.csv", index=False)
    return tmp_path / "pets.csv"


def test_a_check_says_what_is_in_a_file(table: Path) -> None:
    text = run("data", "check", f"{table}:target=kind")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "pets: 60 samples of 4 numbers, 3 classes"
    assert "class train val test" in lines
    assert "cat 13 3 4" in lines
    assert "colour levels 20" in lines
    assert "duplicates: none" in lines
    assert "[bold]emu\\x1b[31m" in text  # as it is written: neither markup nor codes for the terminal
    assert "\x1b" not in text


def test_a_check_for_machines_says_the_same(table: Path) -> None:
    found = json.loads(run("data", "check", f"{table}:target=kind,split=1/0/0", "--json"))
    assert found["samples"] == {"train": 60, "val": 60, "test": 60}
    assert found["columns"][1] == {"name": "colour", "kind": "levels", "missing": 20}
    assert len(found["notes"]) == 2
    assert json.loads(run("data", "check", "digits", "--json"))["preparation"] == "as they are"


def test_a_list_says_how_data_of_ones_own_is_named() -> None:
    assert "dovetail data check" in run("data", "list")


def test_what_was_read_is_said_of_own_data_only(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    say_what_was_read(open_data("digits"), "digits")
    assert capsys.readouterr().out == ""
    text = f"{table}:target=kind,split=1/0/0"
    data = open_data(text)
    say_what_was_read(data, text)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "pets: 3 classes; samples 60 train, 60 val, 60 test, of 4 numbers."
    assert lines[1].startswith("Prepared: 2 columns: ")
    assert [line[:6] for line in lines[2:]] == ["note: "] * len(data.notes)
    assert what_was_read(data)["classes"] == list(data.classes)


def test_a_pipe_does_not_hang_and_a_slip_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="a pipe, a socket or a device"):
        run("data", "check", tmp_path / "pipe.csv")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        DataError, match=r"no file or folder 'pip.csv'; did you mean 'pipe.csv'\? Known data sets: "
    ):
        run("data", "check", "pip.csv")
