"""What would take hours is said beforehand, and begun only with --yes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app
from dovetail.commands.amount import check_training
from dovetail.errors import SpecError
from dovetail.specialists.settings import TrainingSettings

_WORK = {
    "train": "dovetail.specialists.train_specialists",
    "sculpt": "dovetail.sculpting.sculpt_seeds",
    "audit": "dovetail.cluster.clusterability",
}


class BegunError(Exception):
    """Work has begun."""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "digits", "--rounds", "1000000"), "10 networks with 1,000,020 epochs of "),
        (("train", "digits", "--epochs", str(10**12)), "epochs of"),
        (("train", "digits", "--seeds", "10000", "--epochs", "1000"), "100,000 networks with 2,000 epochs"),
        (("sculpt", "4,2,4", "--epochs", str(10**12)), "1 seeds with trainings of 1,000,000,000,000 epochs"),
        (
            ("audit", "w.safetensors", "--shuffles", str(10**9)),
            "1,000,000,000 shuffled copies take 12 days or more",
        ),
        (("audit", "w.safetensors", "--starts", str(10**9)), "with 1,000,000,000 starts each"),
        (("audit", "w.safetensors", "--stability", str(10**9)), "1,000,000,000 more clusterings"),
        (("audit", "w.safetensors", "--lesion", "digits", "--draws", str(10**8)), "100,000,000 random sets"),
    ],
)
def test_hours_of_work_are_begun_only_with_yes(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_file({"a.weight": torch.rand(64, 64), "b.weight": torch.rand(10, 64)}, "w.safetensors")

    def begin(*_: object, **__: object) -> None:
        raise BegunError

    monkeypatch.setattr(_WORK[words[0]], begin)
    command = [*words, "-o", "out", "--device", "cpu"]
    if words[0] == "audit" and "--lesion" not in words:
        command = [*words, "-o", "out"]
    refused = CliRunner().invoke(app, command).exception
    assert isinstance(refused, SpecError)
    assert said in str(refused)
    assert "ask for less, or say --yes" in str(refused)
    assert not (tmp_path / "out").exists()
    assert isinstance(CliRunner().invoke(app, [*command, "--yes"]).exception, BegunError)


def test_what_is_trained_beside_others_is_counted_with_its_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digits = dt.load("digits")
    few = digits.train.y < 3
    for name, own in (("old", few & (digits.train.y < 2)), ("new", few & (digits.train.y == 2))):
        rows = digits.train.x[own].flatten(1)
        np.savez(tmp_path / f"{name}.npz", x=rows.numpy(), y=digits.train.y[own].numpy())
    old = dt.read(tmp_path / "old.npz")
    team = dt.train_specialists(old, "mlp:6", epochs=1, folder=tmp_path / "parts", progress=False)

    def begin(*_: object, **__: object) -> None:
        raise BegunError

    monkeypatch.setattr(_WORK["train"], begin)
    out = tmp_path / "out"
    command = [
        "train", str(tmp_path / "new.npz"), "--beside", str(tmp_path / "parts"), "--epochs", str(10**9), "--seeds", "9",
        "-o", str(out), "--device", "cpu",
    ]  # fmt: skip
    refused = CliRunner().invoke(app, command).exception
    assert isinstance(refused, SpecError)
    new = dt.specialists.data_beside(team[0], str(tmp_path / "new.npz"))
    more = len(new.train) + 2 * len(
        new.train
    )  # of each class that is there already, as many as of the new one
    assert f"9 networks with 2,000,000,000 epochs of {more:,} samples take" in str(refused)
    assert not out.exists()
    assert isinstance(CliRunner().invoke(app, [*command, "--yes"]).exception, BegunError)


def test_what_is_usual_is_not_asked_about() -> None:
    check_training(dt.load("digits"), TrainingSettings(), 10, device="cpu")
