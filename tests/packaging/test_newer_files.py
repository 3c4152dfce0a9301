"""A file that needs a newer version is refused wherever it is opened, and the message says which version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from safetensors import safe_open
from safetensors.torch import save_file

import dovetail as dt
from dovetail.errors import FileFormatError
from dovetail.io.checkpoint import load_checkpoint
from dovetail.report import build_report
from dovetail.sculpting import Hierarchy, open_sculpture

RELEASED = Path(__file__).with_name("released")


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """Return a folder with the kept files, as the version after next might have written them."""
    for name in ("composite", "sculpture"):
        with safe_open(RELEASED / f"{name}.safetensors", framework="pt") as file:
            manifest = json.loads(file.metadata()["dovetail"])
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        manifest |= {"schema": manifest["schema"].replace("/1", "/3"), "dovetail": "3.1.0"}
        save_file(tensors, tmp_path / f"{name}.safetensors", {"dovetail": json.dumps(manifest)})
    for name in ("modules", "audit"):
        text = (RELEASED / f"{name}.json").read_text("utf-8")
        (tmp_path / f"{name}.json").write_text(
            text.replace("y/1", "y/2").replace("0.1.0.dev0", "3.1.0"), "utf-8"
        )
    return tmp_path


@pytest.mark.parametrize("read", [dt.open, load_checkpoint, build_report])
def test_parts(newer: Path, read: object) -> None:
    assert callable(read)
    with pytest.raises(FileFormatError, match=r"'dovetail/3'.*install dovetail-nn 3\.1\.0 or later"):
        read(newer / "composite.safetensors")


@pytest.mark.parametrize("read", [open_sculpture, load_checkpoint, build_report])
def test_sculpted_networks(newer: Path, read: object) -> None:
    assert callable(read)
    with pytest.raises(
        FileFormatError, match=r"'dovetail\.sculpture/3'.*install dovetail-nn 3\.1\.0 or later"
    ):
        read(newer / "sculpture.safetensors")


def test_modules(newer: Path) -> None:
    text = (newer / "modules.json").read_text("utf-8")
    for read in (lambda: Hierarchy.from_json(text), lambda: build_report(newer / "modules.json")):
        with pytest.raises(FileFormatError, match=r"'dovetail\.hierarchy/2'.*install a newer one"):
            read()


def test_audits(newer: Path) -> None:
    with pytest.raises(
        FileFormatError, match=r"'dovetail\.clusterability/2'.*install dovetail-nn 3\.1\.0 or later"
    ):
        build_report(newer / "audit.json")


def test_lesions_in_an_audit(tmp_path: Path) -> None:
    text = (RELEASED / "audit.json").read_text("utf-8")
    newer = tmp_path / "audit.json"
    newer.write_text(text.replace("lesions/2", "lesions/3"), "utf-8")
    with pytest.raises(FileFormatError, match=r"'dovetail\.lesions/3'.*install dovetail-nn"):
        build_report(newer)
