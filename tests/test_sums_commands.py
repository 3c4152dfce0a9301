"""``dovetail sums``, and what other commands do with its files."""

from __future__ import annotations

import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app
from dovetail.data.preparation import Features
from dovetail.errors import DovetailError
from dovetail.specialists import Certificate
from dovetail.specialists.closed_form.settings import SumsSettings


def run(*arguments: str | Path) -> str:
    """Return what a command prints; its error is raised."""
    done = CliRunner().invoke(app, [*map(str, arguments)])
    if done.exception is not None:
        raise done.exception
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sums") / "parts"
    run("sums", "digits", "--features", "150", "-o", path)
    return path


def test_signature_and_command_line_have_every_setting_with_its_default() -> None:
    parameters = inspect.signature(dt.sums).parameters
    found = typer.main.get_command(app).commands["sums"]  # type: ignore[attr-defined]
    options: dict[str, Any] = {option.name: option for option in found.params}
    for name, field in SumsSettings.model_fields.items():
        assert parameters[name].default == field.default
        assert f"--{name}" in options[name].opts
        assert options[name].default == field.default


def test_a_file_for_each_class(folder: Path) -> None:
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"sums-digits-{n}-seed0.safetensors" for n in range(10)]
    team = dt.sums(dt.load("digits"), features=150)
    assert [dt.open(file) for file in files] == team


def test_parts_that_are_there_stay_and_others_are_in_the_way(folder: Path, tmp_path: Path) -> None:
    command = ("sums", "digits", "--features", "150", "-o", tmp_path)
    for file in sorted(folder.iterdir())[:4]:  # as where it was stopped
        shutil.copy(file, tmp_path)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    run(*command)
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        file.name: file.read_bytes() for file in folder.iterdir()
    }
    with pytest.raises(DovetailError, match="is in the way"):
        run("sums", "digits", "--features", "140", "-o", tmp_path)
    (tmp_path / "sums-digits-3-seed0.safetensors").write_bytes(b"something else")
    with pytest.raises(DovetailError, match=r"sums-digits-3-seed0\.safetensors is in the way"):
        run(*command)
    run(*command, "--force")
    assert dt.open(tmp_path / "sums-digits-3-seed0.safetensors") == dt.open(
        folder / "sums-digits-3-seed0.safetensors"
    )


def test_the_same_part_twice_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        DovetailError, match=r"rewarded has a part of 3 twice.*would count twice; name it once"
    ):
        run("sums", "digits", "--features", "150", "-r", "3", "-r", "3", "-o", tmp_path / "parts")
    assert not (tmp_path / "parts").exists()
    one, copy = folder / "sums-digits-3-seed0.safetensors", tmp_path / "three.safetensors"
    copy.write_bytes(one.read_bytes())
    with pytest.raises(DovetailError, match="hold the same samples of class 3, which would count twice"):
        run("compose", one, copy, "-o", tmp_path / "twice.safetensors")


def test_composing_with_a_certificate(folder: Path, tmp_path: Path) -> None:
    nine, paper = tmp_path / "nine.safetensors", tmp_path / "without-3.json"
    said = run(
        "compose", folder, "--without", "3", "--certificate", paper, "--audit", "digits",
        "--evaluate", "digits", "-o", nine,
    )  # fmt: skip
    assert "Proven: without 3 sums and solution are, to the bit" in said
    assert "Not proven: that the name is gone" in said
    assert "What is left of class 3" in said
    assert "are, bit for bit, what the data without its samples gives" in " ".join(said.split())
    part = dt.open(nine, dt.Sums)
    assert "3" not in part.known
    found = Certificate.open(paper)
    assert found.holds
    assert found.fresh is not None
    assert found.check(part, dt.load("digits"))
    answer = json.loads(run("compose", nine, "--tune", "leave-one-out", "--threshold", "digits", "--json"))
    assert answer["tuning"]["chosen_on"] == "leave one out of 1,032"


def test_inspecting_and_predicting(folder: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.safetensors"
    run("compose", folder, "--tune", "digits", "-o", whole)
    said = run("inspect", whole)
    assert "sums of 1,149 samples, of 150 random features, seed 0" in said
    assert "288 validation samples" in said
    assert json.loads(run("inspect", whole, "--json"))["kind"] == "sums"
    answers = json.loads(run("predict", whole, "digits", "--json"))
    assert answers["answers"] == dt.open(whole, dt.Sums).predict(dt.load("digits").test).tolist()
    assert json.loads(run("predict", folder, "digits", "--json"))["known"] == [str(n) for n in range(10)]


def test_options_that_are_for_the_other_kind_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match="--method is for specialists; these parts are sums"):
        run("compose", folder, "--method", "logits")
    with pytest.raises(DovetailError, match="--certificate is about classes that were taken out"):
        run("compose", folder, "--certificate", tmp_path / "c.json")
    run("train", "digits", "--net", "mlp:8", "--epochs", "1", "-r", "3", "-o", tmp_path / "nets")
    with pytest.raises(DovetailError, match="--tune is for sums"):
        run("compose", tmp_path / "nets", "--tune", "digits")
    with pytest.raises(DovetailError, match="cannot be added to such"):
        run("compose", folder, tmp_path / "nets")


def test_one_part_for_several_classes(tmp_path: Path) -> None:
    run(
        "sums",
        "digits",
        "--features",
        "0",
        "-r",
        "3,8",
        "-r",
        "5",
        "--keep",
        "moments",
        "-o",
        tmp_path / "some",
    )
    pair, five = (dt.open(file, dt.Sums) for file in sorted((tmp_path / "some").iterdir()))
    assert (pair.known, five.known) == (("3", "8"), ("5",))
    assert str(pair.blueprint.basis) == "linear"


def test_features_of_a_trunk_are_not_scaled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_trunk.py").write_text(
        "import torch\n\n"
        "def net():\n"
        "    torch.manual_seed(0)\n"
        "    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 12), torch.nn.ReLU(),\n"
        "                               torch.nn.Linear(12, 10))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    run("sums", "digits", "--trunk", "own_trunk:net", "--features", "100", "-o", tmp_path / "parts")
    run("compose", tmp_path / "parts", "-o", tmp_path / "whole.safetensors")
    part = dt.open(tmp_path / "whole.safetensors", dt.Sums)
    assert isinstance(part.preparation, Features)
    assert (part.preparation.shift, part.preparation.scale) == ((0.0,), (1.0,))
    found = run("predict", tmp_path / "whole.safetensors", "digits", "--trunk", "own_trunk:net", "--json")
    assert len(json.loads(found)["answers"]) == 360


def test_nothing_is_trained_beside_sums(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match="--beside takes specialists; sums need nothing beside them"):
        run("train", "digits", "--net", "mlp:20", "--beside", folder, "-o", tmp_path / "grown")
    assert not (tmp_path / "grown").exists()
