"""``dovetail reproduce``: the list, a run, a plan, and what can go wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dovetail.cli import app
from dovetail.recipes import recipes

from .engine.small import wait_for

runner = CliRunner()


def dovetail(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dovetail", *arguments], capture_output=True, text=True, check=False, cwd=cwd
    )


def test_without_a_name_it_lists_all_recipes() -> None:
    printed = runner.invoke(app, ["reproduce"]).stdout
    assert len(recipes()) == 43
    for recipe in recipes():
        assert recipe.name in printed
    listed = json.loads(runner.invoke(app, ["reproduce", "--json"]).stdout)
    assert [entry["name"] for entry in listed] == [recipe.name for recipe in recipes()]


def test_listing_waits_for_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom dovetail.recipes import recipes\nrecipes()\n"
        "print(sorted({'torch', 'pandas', 'matplotlib', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "[]"


def test_a_dry_run_does_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["reproduce", "k", "--scale", "paper", "--dry-run"])
    assert result.exit_code == 0, result.output
    assert "8 units, 8 to do: about" in " ".join(result.stdout.split())
    found = json.loads(
        runner.invoke(app, ["reproduce", "k", "--scale", "paper", "--dry-run", "--json"]).stdout
    )
    assert len(found["units"]) == 8
    assert found["seconds"]["8 GPUs"] < found["seconds"]["1 GPU"]
    assert list(tmp_path.iterdir()) == []


def test_typing_errors_get_one_line_and_a_way_out(tmp_path: Path) -> None:
    for arguments, message in {
        ("tabel4",): "error: unknown recipe 'tabel4'; did you mean 'table4'",
        ("table4", "--scale", "papre"): "error: unknown scale 'papre'; did you mean 'paper'",
        ("table4", "--engine", "rya"): "error: unknown engine 'rya'; did you mean 'ray'",
        ("table4", "--device", "cuda:77"): "error: this machine has no device 'cuda:77'",
    }.items():
        done = dovetail("reproduce", *arguments, cwd=tmp_path)
        assert done.returncode == 1
        assert done.stderr.startswith(message)
        assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


INTERRUPTED = """
import time
from dovetail.cli import main
from dovetail.engine import LocalEngine

usual = LocalEngine.run

def run(self, units):
    for outcome in usual(self, units):
        yield outcome
        time.sleep(3600)

LocalEngine.run = run
main()
"""
"""``dovetail``, which waits after the first unit until it is interrupted, however fast the machine is."""


@pytest.mark.slow
def test_a_run_that_is_interrupted_and_one_that_is_not_give_the_same(tmp_path: Path) -> None:
    command = ["reproduce", "mlp", "--jobs", "2", "--device", "cpu", "-o"]
    running = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *command, "broken"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    results = tmp_path / "broken" / "results.jsonl"
    wait_for(lambda: running.poll() is not None or (results.exists() and results.stat().st_size > 0))
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 130
    assert results.read_text().count("\n") == 1
    assert said == "1 units are safe in broken; the same command goes on with the others.\nstopped\n"
    before = results.read_text()
    (tmp_path / "elsewhere").mkdir()  # not beside it, so that nothing is taken over
    for folder in ("broken", "elsewhere/whole"):
        done = dovetail(*command, folder, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert results.read_text().startswith(before)
    first, second = (
        {line["key"]: line["row"] for line in map(json.loads, path.read_text().splitlines())}
        for path in (results, tmp_path / "elsewhere/whole/results.jsonl")
    )
    assert first == second
    assert (tmp_path / "broken/table.md").read_text() == (tmp_path / "elsewhere/whole/table.md").read_text()
    assert sorted((tmp_path / "broken/figures").iterdir())
