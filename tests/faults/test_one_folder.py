"""Several in one folder, at once or one after another: what is kept is what was asked for, or somebody is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app
from dovetail.cluster.audit_folder import write_audit
from dovetail.errors import DovetailError
from dovetail.io.lock import take_lock
from dovetail.io.write import write_together
from dovetail.specialists import files, open_file, train_specialists

from ..specialists.helpers import make_specialist

SCULPT = (
    "--hidden",
    "4",
    "--unit-steps",
    "50",
    "--edge-steps",
    "10",
    "--epochs",
    "1",
    "--threshold",
    "0.01",
    "--device",
    "cpu",
)
AND, XOR = "y1 = x1 & x2", "y1 = x1 ^ x2"


def do(*arguments: object) -> str:
    """Run a command in this process; its errors come as they are."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(done.exception, DovetailError | KeyboardInterrupt):
        raise done.exception
    return done.stdout


def sculpture_of(task: str, seed: int = 0) -> dt.Sculpture:
    return dt.sculpt(
        task, [4], seed=seed, unit_steps=[0.5], edge_steps=[0.1], epochs=1, threshold=0.01, progress=False
    )


def test_the_second_to_sculpt_into_a_folder_is_told(tmp_path: Path) -> None:
    with (
        take_lock(tmp_path),
        pytest.raises(
            DovetailError, match=r"another process is working in .*; wait for it, or take another folder"
        ),
    ):
        do("sculpt", AND, *SCULPT, "-o", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    do("sculpt", AND, *SCULPT, "-o", tmp_path)
    assert (tmp_path / "seed0.safetensors").exists()


@pytest.mark.parametrize("other", ["task", "seed", "settings"])
def test_a_network_that_is_not_what_the_folder_says_is_not_kept(other: str, tmp_path: Path) -> None:
    do("sculpt", XOR, *SCULPT, "-o", tmp_path)
    wrong = sculpture_of(AND) if other == "task" else sculpture_of(XOR, seed=1)
    if other == "settings":
        wrong = dt.sculpt(
            XOR, [4], unit_steps=[0.25], edge_steps=[0.1], epochs=1, threshold=0.01, progress=False
        )
    wrong.save(tmp_path / "seed0.safetensors")
    name = {"task": "fingerprint", "seed": "seed 1, not 0", "settings": r"unit_steps \[0.25\], not \[0.5\]"}[
        other
    ]
    with pytest.raises(DovetailError, match=rf"in the way: it was sculpted with {name}.*--force"):
        do("sculpt", XOR, *SCULPT, "-o", tmp_path)


def test_sculpting_anew_removes_the_network_before_what_belongs_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    do("sculpt", XOR, *SCULPT, "-o", tmp_path)
    assert {"seed0.safetensors", "seed0.png"} <= {path.name for path in tmp_path.iterdir()}
    gone = list[str]()
    remove = Path.unlink

    def killed(path: Path, missing_ok: bool = False) -> None:
        if path.parent == tmp_path and not path.name.endswith(".part"):
            if gone:
                raise KeyboardInterrupt
            gone.append(path.name)
        remove(path, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", killed)
        CliRunner().invoke(app, ["sculpt", XOR, *SCULPT, "-o", str(tmp_path), "--force"])
    assert gone == ["seed0.safetensors"]


def test_a_picture_that_somebody_removed_is_made_again(tmp_path: Path) -> None:
    do("sculpt", XOR, *SCULPT, "-o", tmp_path)
    before = (tmp_path / "seed0.safetensors").stat().st_mtime_ns
    (tmp_path / "seed0.png").unlink()
    do("sculpt", XOR, *SCULPT, "-o", tmp_path)
    assert (tmp_path / "seed0.png").exists()
    assert (tmp_path / "seed0.safetensors").stat().st_mtime_ns == before


def train(folder: Path, **options: Any) -> dt.Specialist:
    return train_specialists(
        dt.load("digits"),
        "mlp:4",
        [3],
        folder=folder,
        progress=False,
        **{"epochs": 1, "rounds": 1, **options},
    )[0]


def at_the_end(monkeypatch: pytest.MonkeyPatch, other: Callable[[], object]) -> None:
    """Let somebody else do something just before a trained specialist is saved."""
    keep = files.keep_trained

    def slow(*arguments: Any, **options: Any) -> None:
        monkeypatch.undo()
        other()
        keep(*arguments, **options)

    monkeypatch.setattr("dovetail.specialists.train.keep_trained", slow)


@pytest.mark.filterwarnings("ignore::dovetail.errors.TrainingWarning")
def test_a_training_beside_one_with_other_settings_is_told_and_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_the_end(monkeypatch, partial(train, tmp_path, lr=0.01))
    with pytest.raises(DovetailError, match=r"in the way \(it was trained otherwise: lr 0.01, not 0.001\)"):
        train(tmp_path)
    (path,) = tmp_path.glob("*.safetensors")
    assert open_file(path).specialists[0].provenance.training["lr"] == 0.01


@pytest.mark.filterwarnings("ignore::dovetail.errors.TrainingWarning")
def test_a_training_beside_its_like_ends_as_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_the_end(monkeypatch, partial(train, tmp_path))
    part = train(tmp_path)
    (path,) = tmp_path.glob("*.safetensors")
    assert open_file(path) == part


@pytest.mark.filterwarnings("ignore::dovetail.errors.TrainingWarning")
def test_the_second_to_train_anew_in_a_folder_is_told(tmp_path: Path) -> None:
    command = (
        *["train", "digits", "--net", "mlp:4", "-r", "3", "--epochs", "1", "--rounds", "1", "-o"],
        tmp_path,
    )
    do(*command)
    (path,) = tmp_path.glob("*.safetensors")
    before = path.stat().st_mtime_ns
    with take_lock(tmp_path):
        with pytest.raises(DovetailError, match=r"another process is working in .*; wait for it, or"):
            do(*command, "--force", "--lr", "0.01")
        do(*command)  # replaces nothing, and need not wait
    assert path.stat().st_mtime_ns == before
    do(*command, "--force", "--lr", "0.01")
    assert open_file(path).specialists[0].provenance.training["lr"] == 0.01


def test_a_specialist_is_not_put_in_the_place_of_another(tmp_path: Path) -> None:
    path = make_specialist((1,)).save(tmp_path / "part.safetensors", replace=False)
    with pytest.raises(DovetailError, match="in the way"):
        make_specialist((2,)).save(path, replace=False)
    assert open_file(path) == make_specialist((1,))


def audit_into(folder: Path, seed: int) -> None:
    torch.manual_seed(seed)
    found = dt.clusterability(
        [torch.rand(6, 6), torch.rand(6, 6)], k=2, shuffles=seed, seed=0, progress=False
    )
    write_audit(folder, found, None, {"seed": seed})


@pytest.mark.parametrize("at", range(1, 12))
def test_an_audit_over_an_older_one_is_whole_or_not_at_all(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["a.png", "b.png", "c.png", "audit.json"]

    def write(text: str, *, without: str = "") -> None:
        write_together(
            {
                tmp_path / name: None if name == without else (lambda path: path.write_text(text))
                for name in names
            }
        )

    write("old")
    steps = 0

    def counted(step: Callable[..., Any]) -> Callable[..., Any]:
        def stopped_at_one(*arguments: Any, **options: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps == at:
                raise KeyboardInterrupt
            return step(*arguments, **options)

        return stopped_at_one

    with monkeypatch.context() as patched:
        for name in ("replace", "write_text", "unlink"):
            patched.setattr(Path, name, counted(getattr(Path, name)))
        with suppress(KeyboardInterrupt):
            write("new", without="b.png")
    found = {name: (tmp_path / name).read_text() for name in names if (tmp_path / name).exists()}
    assert "audit.json" not in found or len(set(found.values())) == 1
    if found.get("audit.json") == "new":
        assert "b.png" not in found
    if found.get("audit.json") == "old":
        assert set(found) == set(names)


def test_an_audit_replaces_an_older_one_with_all_its_pictures(tmp_path: Path) -> None:
    audit_into(tmp_path, 2)
    assert (tmp_path / "null.png").exists()
    audit_into(tmp_path, 0)
    assert not (tmp_path / "null.png").exists()
    assert json.loads((tmp_path / "audit.json").read_text()) == {"seed": 0}
