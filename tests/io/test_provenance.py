"""What is written beside numbers: versions, hardware, time."""

from __future__ import annotations

import json
import platform
import time
from pathlib import Path

import pytest
import torch

import dovetail
from dovetail.engine.run_folder import RunFolder, read_config
from dovetail.io.provenance import commit, hardware, provenance, versions
from dovetail.recipes import find_recipe


def test_versions_are_those_that_run() -> None:
    assert versions() == {
        "dovetail": dovetail.__version__, "torch": torch.__version__, "python": platform.python_version(),
    }  # fmt: skip


def test_it_can_be_written_as_json_and_counts_from_the_beginning() -> None:
    made = json.loads(json.dumps(provenance(time.perf_counter() - 5)))
    assert 5 <= made["seconds"] < 60


def test_hardware_has_a_name_also_where_the_system_tells_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(*_: object, **__: object) -> str:
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", unreadable)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "")
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert hardware() == "unknown processor, 1 cores"


def test_a_gpu_that_was_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"GPU {device.index}")
    assert hardware(torch.device("cuda", 1)).endswith(" cores; GPU 1")
    assert "GPU" not in hardware(torch.device("cpu"))


def test_a_new_run_keeps_the_versions(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", find_recipe("k"), "smoke"):
        pass
    config = read_config(tmp_path / "run")
    assert config == {"recipe": "k", "scale": "smoke", **versions()}


def test_the_commit_is_that_of_the_checkout_or_else_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "dovetail.io.provenance._git", lambda folder, *command: "c0ffee" if "HEAD" in command else ""
    )
    assert commit.__wrapped__() == "c0ffee"
    monkeypatch.setattr("dovetail.io.provenance._git", lambda folder, *command: "c0ffee")
    assert commit.__wrapped__() == "c0ffee+changes"

    def no_git(folder: Path, *command: str) -> str:
        raise FileNotFoundError("git")

    monkeypatch.setattr("dovetail.io.provenance._git", no_git)
    assert commit.__wrapped__() == dovetail.__version__
