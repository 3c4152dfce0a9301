"""Audits in the studio: the same numbers as the library's, told about as they come, and files that are no audits."""

from __future__ import annotations

import inspect
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app
from dovetail.errors import DovetailError, FileFormatError
from dovetail.studio.audit.job import run
from dovetail.studio.audit.settings import AuditSettings
from dovetail.studio.folder import StudioFolder
from dovetail.studio.networks import limits

from .audits import audit_folder, planted, save_audit
from .conftest import ClientOf

Told = list[dict[str, Any]]


def settings(folder: Path, output: str | None = None, **changed: Any) -> dict[str, Any]:
    asked = {"file": "planted.safetensors", "k": 3, "shuffles": 5, "output": output, **changed}
    path = str(folder / asked["file"])
    return {"asked": asked, "path": path, "output": output and str(folder / output)}


def listener(told: Told) -> Any:
    def tell(done: float, total: float | None, note: str = "", partial: Any = None) -> None:
        told.append({"done": done, "total": total, "partial": partial})

    return tell


def test_a_job_finds_what_the_library_finds(tmp_path: Path) -> None:
    told: Told = []
    result = run(settings(audit_folder(tmp_path), seed=4), listener(told))
    found = dt.clusterability(planted(), k=3, shuffles=5, seed=4, progress=False)
    assert result["audit"]["clusterability"] == found.to_dict()
    shown = result["shown"]
    assert shown["numbers"]["ncut"] == found.ncut
    assert shown["numbers"]["p_value"] == found.p_value
    assert shown["verdict"] == found.verdict()
    assert shown["sizes"] == found.composition().sum(axis=1).tolist()
    assert sum(shown["null"]["data"][0]["y"]) == 5
    json.dumps(result, allow_nan=False)


def test_a_job_tells_of_the_null_as_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.studio.audit.job._PAUSE", 0.0)
    told: Told = []
    run(settings(audit_folder(tmp_path)), listener(told))
    assert [(one["done"], one["total"]) for one in told] == [(0, 5), *((copies, 5) for copies in range(6))]
    bars = [one["partial"]["null"]["data"] for one in told[1:]]
    assert [sum(data[0]["y"]) for data in bars[1:]] == [1, 2, 3, 4, 5]
    assert bars[2][0]["name"] == "2 of 5 shuffled copies"
    assert told[0]["partial"]["asked"]["file"] == "planted.safetensors"


def test_a_specialist_is_audited_as_the_command_does(parts_folder: Path) -> None:
    file = min(parts_folder.glob("*.safetensors"))
    result = run(settings(parts_folder, file=file.name, shuffles=2), listener([]))
    printed = CliRunner().invoke(app, ["audit", str(file), "--k", "3", "--shuffles", "2", "--json"])
    assert json.loads(printed.stdout)["clusterability"] == result["audit"]["clusterability"]


def test_what_is_saved_is_what_the_command_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit_folder(tmp_path)
    asked = AuditSettings(file="planted.safetensors", k=3, shuffles=5, output="here")
    run(settings(tmp_path, output="here"), listener([]))
    monkeypatch.chdir(tmp_path)
    words = asked.command.replace("-o here", "-o there").split()
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    assert {path.name for path in Path("here").iterdir()} == {path.name for path in Path("there").iterdir()}
    here, there = (json.loads(Path(name, "audit.json").read_text()) for name in ("here", "there"))
    made = [audit["made"] for audit in (here, there)]
    for one in made:  # when it was, and how long it took, is each one's own
        assert one.pop("seconds") > 0
        assert one.pop("when")
    assert here == there
    assert set(made[0]) == {"dovetail", "torch", "python", "hardware"}


def test_networks_that_weights_do_not_describe_are_for_the_command_line(tmp_path: Path) -> None:
    torch.save({"a.weight": torch.ones(3, 4), "b.weight": torch.ones(2, 5)}, tmp_path / "odd.pt")
    with pytest.raises(DovetailError, match=r"dovetail audit package\.module:builder --weights FILE"):
        run(settings(tmp_path, file="odd.pt"), listener([]))


def test_a_network_that_would_fill_the_memory_is_not_audited(tmp_path: Path) -> None:
    few = torch.sparse_coo_tensor(torch.zeros(2, 1), torch.ones(1), (10**6, 10**6), check_invariants=True)
    torch.save({"fc.weight": few}, tmp_path / "sparse.pt")
    with pytest.raises(FileFormatError, match=r"'sparse.pt' has 1,000,000,000,000 weights"):
        run(settings(tmp_path, file="sparse.pt"), listener([]))
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data/0", bytes(limits.MOST_BYTES + 1))
    with pytest.raises(FileFormatError, match=r"'bomb.pt' holds 256 MiB"):
        run(settings(tmp_path, file="bomb.pt"), listener([]))


def test_files_and_settings_are_offered_with_the_defaults_of_the_library(
    client: ClientOf, tmp_path: Path
) -> None:
    (audit_folder(tmp_path) / "notes.txt").write_text("not a network")
    (tmp_path / "broken.pt").write_bytes(b"nothing")
    offer = client(tmp_path).get("/api/audit").json()
    assert [file["name"] for file in offer["files"]] == ["planted.safetensors"]
    defaults = {name: setting["default"] for name, setting in offer["settings"].items()}
    library = inspect.signature(dt.clusterability).parameters
    assert defaults == {name: library[name].default for name in ("k", "shuffles", "shuffle", "seed")}
    assert all(setting["description"] for setting in offer["settings"].values())


@pytest.mark.parametrize(
    "body",
    [
        {"file": "planted.safetensors", "k": 1},
        {"file": "planted.safetensors", "shuffles": 10**9},
        {"file": "planted.safetensors", "shuffle": "all"},
        {"file": "planted.safetensors", "unknown": 1},
        {"file": "../planted.safetensors"},
        {"file": "missing.safetensors"},
        {"file": "planted.safetensors", "output": "/tmp"},
        {"file": "planted.safetensors", "output": "busy"},
        {"file": "planted.safetensors", "output": "planted.safetensors"},
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(
    client: ClientOf, tmp_path: Path, body: dict[str, Any]
) -> None:
    busy = audit_folder(tmp_path) / "busy"
    busy.mkdir()
    (busy / "null.png").write_text("mine")
    studio = client(tmp_path)
    answer = studio.post("/api/audit", json=body)
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]
    assert studio.get("/api/jobs").json() == []


def test_folders_that_are_new_empty_or_an_audits_are_taken(tmp_path: Path) -> None:
    folder = StudioFolder(audit_folder(tmp_path))
    (tmp_path / "empty").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "audit.json").write_text("{}")
    for name in ("new/one", "empty", "old"):
        asked = AuditSettings(file="planted.safetensors", output=name)
        assert asked.check_files(folder) == (
            tmp_path.resolve() / "planted.safetensors",
            tmp_path.resolve() / name,
        )


def test_a_saved_audit_is_shown_again(client: ClientOf, tmp_path: Path) -> None:
    result = run(settings(audit_folder(tmp_path), output="kept"), listener([]))
    studio = client(tmp_path)
    assert studio.get("/api/audit/saved", params={"folder": "kept"}).json() == result["shown"]
    inside = client(tmp_path / "kept")
    assert inside.get("/api/audit/saved", params={"folder": "."}).json() == result["shown"]


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"checkpoint": 3}', '{"clusterability": {"ncut": NaN}}', "[" * 100_000, "null", '"\\ud800"'],
)  # fmt: skip
def test_a_file_that_is_no_audit_is_refused(client: ClientOf, tmp_path: Path, content: str) -> None:
    (tmp_path / "audit.json").write_text(content)
    answer = client(tmp_path).get("/api/audit/saved", params={"folder": "."})
    assert answer.status_code == 400
    assert "audit" in answer.json()["error"]


def test_an_audit_whose_parts_do_not_fit_is_refused(client: ClientOf, tmp_path: Path) -> None:
    audit = run(settings(audit_folder(tmp_path)), listener([]))["audit"]
    audit["clusterability"]["composition"].pop()
    (tmp_path / "audit.json").write_text(json.dumps(audit))
    answer = client(tmp_path).get("/api/audit/saved", params={"folder": "."})
    assert answer.status_code == 400
    assert "composition" in answer.json()["error"]


def test_saved_audits_are_listed_and_stand_side_by_side(client: ClientOf, tmp_path: Path) -> None:
    audit_folder(tmp_path)
    made = {name: save_audit(tmp_path, name, seed=seed) for seed, name in enumerate(("a/one", "two"))}
    studio = client(tmp_path)
    assert {one["folder"] for one in studio.get("/api/audit").json()["saved"]} == set(made)
    found = studio.get("/api/audit/compare", params={"of": [f"saved:{name}" for name in made]}).json()
    for shown, (name, audit) in zip(found["audits"], made.items(), strict=True):
        assert shown["name"] == name
        for key in ("ncut", "z_score", "p_value", "seed", "k", "components"):
            assert shown[key] == pytest.approx(audit["clusterability"][key]), key
        assert shown["copies"] == len(audit["clusterability"]["null"])
    assert found["chart"]["data"][1]["x"] == [audit["clusterability"]["ncut"] / 3 for audit in made.values()]


@pytest.mark.parametrize(
    ("name", "status", "says"),
    [
        ("saved:nothing", 404, "nothing/audit.json"),
        ("saved:../one", 400, "not in the studio's folder"),
        ("saved:damaged", 400, "audit again"),
        ("saved:other", 400, "leave it out, or audit again"),
        ("job:gone", 404, "there is no job 'gone'"),
        ("one", 400, "write saved:FOLDER or job:ID"),
    ],
)
def test_what_is_no_audit_stands_beside_none(
    client: ClientOf, tmp_path: Path, name: str, status: int, says: str
) -> None:
    for folder, content in (("damaged", "{"), ("other", "{}")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "audit.json").write_text(content)
    answer = client(tmp_path).get("/api/audit/compare", params={"of": name})
    assert answer.status_code == status
    assert says in answer.json()["error"]
