"""`dovetail.open`: everything that Dovetail writes is opened by what it says about itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import dovetail as dt
from dovetail.cluster.saved_audit import SavedAudit
from dovetail.engine import Run
from dovetail.errors import FileFormatError, SpecError
from dovetail.opening import kind_of

RELEASED = Path(__file__).parent / "packaging" / "released"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("specialist.safetensors", dt.Specialist),
        ("composite.safetensors", dt.Composite),
        ("sculpture.safetensors", dt.Sculpture),
        ("modules.json", dt.Hierarchy),
        ("audit.json", SavedAudit),
        ("run", Run),
    ],
)
def test_each_kind_is_opened(name: str, kind: type) -> None:
    assert type(dt.open(RELEASED / name)) is kind
    assert type(dt.open(str(RELEASED / name), kind)) is kind


def test_what_was_saved_is_what_is_opened(tmp_path: Path) -> None:
    piece = dt.sculpt("y1 = x1 & x2", [4], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    again = dt.open(piece.save(tmp_path / "and.safetensors"), dt.Sculpture)
    assert (again.hierarchy, again.history) == (piece.hierarchy, piece.history)
    (tmp_path / "modules.json").write_text(piece.hierarchy.to_json())
    assert dt.open(tmp_path / "modules.json") == piece.hierarchy


def test_an_audit_is_opened_by_its_folder_or_under_another_name(tmp_path: Path) -> None:
    shutil.copy(RELEASED / "audit.json", tmp_path)
    shutil.copy(RELEASED / "audit.json", tmp_path / "mine.json")
    for path in (tmp_path, tmp_path / "mine.json"):
        audit = dt.open(path, SavedAudit)
        assert audit.ncut == json.loads((RELEASED / "audit.json").read_text())["clusterability"]["ncut"]
        assert str(audit.k) in audit.verdict


def test_another_kind_than_wanted_is_refused() -> None:
    with pytest.raises(FileFormatError, match="holds a Specialist, not a Composite"):
        dt.open(RELEASED / "specialist.safetensors", dt.Composite)


def test_what_is_not_there_or_not_ours_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="there is no file or folder"):
        dt.open(tmp_path / "none.safetensors")
    save_file({"fc.weight": torch.ones(2, 3)}, tmp_path / "foreign.safetensors")
    torch.save({"fc.weight": torch.ones(2, 3)}, tmp_path / "foreign.pt")
    (tmp_path / "notes.json").write_text('{"schema": "notes/1"}')
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for name in ("foreign.safetensors", "foreign.pt", "notes.json", "bytes.json"):
        assert kind_of(tmp_path / name) is None
        with pytest.raises(FileFormatError, match="no file that dovetail wrote"):
            dt.open(tmp_path / name)
    with pytest.raises(FileFormatError, match=r"is a folder; name a file in it: foreign.safetensors"):
        dt.open(tmp_path)
    with pytest.raises(FileFormatError, match="dovetail report"):
        dt.open(RELEASED / "run" / "config.yaml")


@pytest.mark.parametrize(
    "name",
    [
        "specialist.safetensors",
        "composite.safetensors",
        "sculpture.safetensors",
        "modules.json",
        "audit.json",
    ],
)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_files_that_were_cut_short_are_refused(name: str, share: float, tmp_path: Path) -> None:
    content = (RELEASED / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileFormatError, match=name):
        dt.open(tmp_path / name)


def test_files_of_a_newer_version_say_what_to_install(tmp_path: Path) -> None:
    for name, schema in (("specialist", "dovetail/1"), ("sculpture", "dovetail.sculpture/1")):
        path = RELEASED / f"{name}.safetensors"
        with safe_open(path, framework="pt") as file:
            manifest = json.loads(file.metadata()["dovetail"])
        manifest |= {"schema": schema.replace("/1", "/7"), "dovetail": "9.1.0"}
        newer = tmp_path / path.name
        save_file(load_file(path), newer, {"dovetail": json.dumps(manifest)})
        with pytest.raises(FileFormatError, match=r"install dovetail-nn 9\.1\.0 or later"):
            dt.open(newer)
    for name, schema in (("modules.json", "dovetail.hierarchy/"), ("audit.json", "dovetail.clusterability/")):
        text = (RELEASED / name).read_text().replace(f'"{schema}1"', f'"{schema}7"')
        (tmp_path / name).write_text(text)
        with pytest.raises(FileFormatError, match="install"):
            dt.open(tmp_path / name)


def test_what_is_no_path_and_what_makes_no_network_is_refused() -> None:
    path = RELEASED / "specialist.safetensors"
    no_paths: list[Any] = [None, 3, b"x"]
    for odd in no_paths:
        with pytest.raises(SpecError, match=r"path is that of a file or folder .*; got "):
            dt.open(odd)
    no_builds: list[Any] = ["mlp:40", 40, torch.nn.Linear(2, 2)]
    for odd in no_builds:
        with pytest.raises(SpecError, match="build is the class or function that makes the network, not"):
            dt.open(path, build=odd)
    no_packages: list[Any] = [True, [True], None]
    for odd in no_packages:
        with pytest.raises(SpecError, match=r"trust names packages, such as trust=\['models'\]"):
            dt.open(path, trust=odd)
    assert dt.open(path, trust="models") == dt.open(path)
