"""The bench over HTTP: composites measured and saved, code to copy, and what is refused."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app as command_line
from dovetail.specialists import Composite, open_file
from dovetail.specialists.composite import compose_quietly
from dovetail.studio.bench import demo_job
from dovetail.studio.draw.preparations import prepared

from .bench_parts import DIGITS, digit_specialist, names, save_team
from .conftest import ClientOf
from .scripted_drawings import scripted_drawings


def answer(client: TestClient, path: str, status: int = 200, **body: Any) -> Any:
    got = client.post(f"/api/bench/{path}", json=body)
    assert got.status_code == status, got.text
    return got.json()


def measured(client: TestClient, path: str = "measure", **body: Any) -> Any:
    found = answer(client, path, **body)
    while found["samples"] < found["total"]:
        found = answer(client, path, **body)
    return found


def test_lists_groups_composites_and_other_files(client: ClientOf, tmp_path: Path) -> None:
    team = save_team(tmp_path, count=3)
    (tmp_path / "deeper").mkdir()
    compose_quietly(team, "logits").save(tmp_path / "deeper" / "three.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"no")
    parts = client(tmp_path).get("/api/bench/parts").json()
    (group,) = parts["groups"]
    assert group["title"] == "digits, mlp:12, seed 0"
    assert [method["name"] for method in group["methods"]] == ["sum", "logits", "ties", "calibrated"]
    assert [card["classes"] for card in group["specialists"]] == [["0"], ["1"], ["2"]]
    assert group["specialists"][0]["sparsity"] == pytest.approx(team[0].sparsity, abs=1e-6)
    assert group["specialists"][0]["entropy"] == 1.5
    assert [(part["file"], part["method"]) for part in parts["composites"]] == [
        ("deeper/three.safetensors", "logits")
    ]
    assert [bad["file"] for bad in parts["unusable"]] == ["bad.safetensors"]


def test_an_empty_folder(client: ClientOf, tmp_path: Path) -> None:
    parts = client(tmp_path).get("/api/bench/parts").json()
    assert parts["groups"] == parts["composites"] == parts["unusable"] == []


def test_the_cost_of_each_method(client: ClientOf, tmp_path: Path) -> None:
    team = save_team(tmp_path, slots=True)
    opened = client(tmp_path)
    for method in ("sum", "logits"):
        cost = answer(opened, "cost", files=names(0, 2), method=method)
        network = compose_quietly([team[0], team[2]], method).module()
        assert cost["weights"] == sum(int(value.count_nonzero()) for value in network.parameters())
        assert cost["milliseconds"] > 0


def test_what_nobody_knows_is_said(client: ClientOf, tmp_path: Path) -> None:
    team = save_team(tmp_path, slots=True, count=10)
    found = measured(client(tmp_path), files=names(*range(9)), method="logits")
    score = compose_quietly(team[:9], "logits").evaluate(DIGITS.test)
    right = f"{100 * score.rewarded_accuracy:.1f} % of {int((DIGITS.test.y != 9).sum())} right"
    assert found["headline"] == f"9 specialists with averaged logits: {right}. Nobody knows 9."
    assert found["unknown_auroc"] == pytest.approx(score.unknown_auroc, abs=1e-6)


def test_measures_with_charts(client: ClientOf, tmp_path: Path) -> None:
    team = save_team(tmp_path, slots=True)
    found = measured(client(tmp_path), files=names(0, 2), method="sum")
    expected = Composite([team[0], team[2]]).evaluate(DIGITS.test)
    assert found["accuracy"] == pytest.approx(expected.rewarded_accuracy)
    assert found["entropy"] == pytest.approx(expected.entropy, abs=1e-5)
    assert found["knows"] == ["0", "2"]
    assert found["samples"] == found["total"] == len(DIGITS.test)
    assert found["confusion"]["data"][0]["text"] == expected.confusion.tolist()
    assert found["per_class"]["data"]


@pytest.mark.parametrize("method", ["sum", "logits", "ties", "calibrated"])
@pytest.mark.filterwarnings("ignore::dovetail.errors.CompatibilityWarning")
def test_the_copied_code_does_the_same(
    client: ClientOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    save_team(folder)
    found = measured(client(folder), files=names(0, 1, 3), method=method)
    monkeypatch.chdir(tmp_path)
    names_in_code: dict[str, Any] = {}
    exec(found["python"], names_in_code)
    composite = names_in_code["composite"]
    assert composite.evaluate(DIGITS.test).rewarded_accuracy == pytest.approx(found["accuracy"])
    assert open_file("composite.safetensors") == composite
    Path("composite.safetensors").unlink()  # the command replaces nothing unless it is told to
    words = shlex.split(found["command"].replace("\\\n", ""))
    done = CliRunner().invoke(command_line, words[1:])
    assert words[0] == "dovetail"
    assert done.exit_code == 0, done.output
    assert f"rewarded accuracy {found['accuracy']:.4f}" in done.stdout
    assert open_file("composite.safetensors") == composite


def test_the_code_for_a_composite_does_the_same(client: ClientOf, tmp_path: Path) -> None:
    compose_quietly(save_team(tmp_path), "logits").save(tmp_path / "all.safetensors")
    found = measured(client(tmp_path), "look", file="all.safetensors")
    done = CliRunner().invoke(command_line, shlex.split(found["command"].replace("\\\n", ""))[1:])
    assert f"rewarded accuracy {found['accuracy']:.4f}" in done.stdout
    names_in_code: dict[str, Any] = {}
    exec(found["python"], names_in_code)
    assert names_in_code["composite"].method == "logits"


def test_saves_once(client: ClientOf, tmp_path: Path) -> None:
    team = save_team(tmp_path)
    opened = client(tmp_path)
    body: dict[str, Any] = {"files": names(0, 1), "method": "logits", "name": "pair.safetensors"}
    assert answer(opened, "save", **body) == {"file": "pair.safetensors"}
    assert open_file(tmp_path / "pair.safetensors") == compose_quietly(team[:2], "logits")
    before = (tmp_path / "pair.safetensors").read_bytes()
    refused = answer(opened, "save", 400, **{**body, "files": names(2, 3)})
    assert "there already" in refused["error"]
    assert (tmp_path / "pair.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    "name",
    [
        "../out.safetensors",
        "/out.safetensors",
        "pair.pt",
        "",
        "no-folder/pair.safetensors",
        ".pair.safetensors",
    ],
)
def test_saves_nowhere_else(client: ClientOf, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    save_team(folder)
    assert "error" in answer(client(folder), "save", 400, files=names(0), method="sum", name=name)
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    assert len(list(folder.iterdir())) == 4


@pytest.mark.parametrize("name", ["", "  "])
def test_a_name_to_save_under_is_asked_for(client: ClientOf, tmp_path: Path, name: str) -> None:
    save_team(tmp_path)
    refused = answer(client(tmp_path), "save", 400, files=names(0), method="sum", name=name)
    assert refused["error"] == "a name is missing; name a file relative to the studio's folder"


def test_refuses_with_reasons(client: ClientOf, tmp_path: Path) -> None:
    save_team(tmp_path)
    digit_specialist((0,), seed=1).save(tmp_path / "other.safetensors")
    opened = client(tmp_path)
    assert "θ0" in answer(opened, "measure", 400, files=["1.safetensors", "other.safetensors"])["error"]
    assert "no file" in answer(opened, "measure", 404, files=["gone.safetensors"])["error"]
    assert "error" in answer(opened, "measure", 400, files=["../0.safetensors"])
    assert "error" in answer(opened, "measure", 422, files=[])
    assert "error" in answer(opened, "measure", 422, files=names(0), method="guess")


@pytest.mark.usefixtures("held_jobs")
def test_training_goes_on_once(client: ClientOf, tmp_path: Path) -> None:
    opened = client(tmp_path)
    job = answer(opened, "demo")
    assert answer(opened, "demo")["id"] == job["id"]
    assert opened.delete(f"/api/jobs/{job['id']}").json()["state"] == "cancelled"


@pytest.mark.slow
def test_the_demo_job_trains_ten_and_keeps_them(tmp_path: Path) -> None:
    told: list[tuple[float, float | None]] = []
    curves: list[int] = []

    def tell(done: float, total: float | None, note: str = "", partial: Any = None) -> None:
        told.append((done, total))
        if partial is not None and partial["curves"] is not None:
            curves.append(len(partial["curves"]["data"]))

    found = demo_job.run({"folder": str(tmp_path / "parts")}, tell)
    assert found["specialists"] == 10
    assert curves == [4, 8, 12, 16, 20]  # in training and on validation data, of each
    files = sorted((tmp_path / "parts").iterdir())
    team = [open_file(file) for file in files]
    assert len(team) == 10
    assert dt.compose(team).evaluate(DIGITS.test).rewarded_accuracy > 0.9
    drawings = scripted_drawings("choose")
    images = torch.cat([prepared(one.ink, "digits") for one in drawings])
    said = dt.compose(team)(images).argmax(1)
    assert int((said == torch.tensor([one.digit for one in drawings])).sum()) >= 108
    assert told == [(done, 10) for done in (0, 2, 2, 4, 4, 6, 6, 8, 8, 10)]
    written = [file.stat().st_mtime_ns for file in files]
    assert demo_job.run({"folder": str(tmp_path / "parts")}, tell) == {"specialists": 10, "curves": None}
    assert [file.stat().st_mtime_ns for file in files] == written
