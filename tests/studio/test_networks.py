"""The Networks view without a browser: which files it lists and opens, and what it says of them."""

from __future__ import annotations

import json
import pickle
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from torch import nn

import dovetail as dt
from dovetail.studio.networks import files as listing
from dovetail.studio.networks import files as opened
from dovetail.studio.networks import limits
from dovetail.studio.networks.network import Network
from dovetail.studio.networks.reading import read_network

from .conftest import ClientOf
from .sculptures import save_run, sculpture
from .strange_folder import damaged_archive


def asked(client: TestClient, file: str, **options: Any) -> dict[str, Any]:
    answer = client.get("/api/networks/open", params={"file": file, **options})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def without(client: TestClient, **wish: Any) -> dict[str, Any]:
    answer = client.post("/api/networks/without", json=wish)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


class Trap:
    """Something whose unpickling leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder with a network of every kind, and files that cannot be opened."""
    whole = save_run(tmp_path / "run").read_bytes()
    (tmp_path / "cut.safetensors").write_bytes(whole[: len(whole) // 2])
    torch.save(nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)).state_dict(), tmp_path / "plain.pt")
    (tmp_path / "cut.pt").write_bytes((tmp_path / "plain.pt").read_bytes()[:600])
    torch.save({"a": torch.zeros(2), "b": Trap(tmp_path / "ran")}, tmp_path / "trap.pt")
    (tmp_path / "old.pt").write_bytes(pickle.dumps(Trap(tmp_path / "ran")))
    with (tmp_path / "huge.safetensors").open("wb") as file:
        file.truncate(2**30)
    (tmp_path / "notes.json").write_text("{}")
    (tmp_path / "text.safetensors").write_text("no weights")
    return tmp_path


def test_the_list_tells_what_can_be_opened_and_why_others_cannot(mixed: Path, client: ClientOf) -> None:
    found = client(mixed).get("/api/networks/files").json()
    kinds = {file["name"]: file["kind"] for file in found["files"]}
    assert (kinds["run/seed0.safetensors"], kinds["run/seed0.json"]) == ("sculpture", "modules")
    assert "notes.json" not in kinds
    problems = {file["name"]: file["problem"] for file in found["files"] if file["problem"]}
    assert problems.keys() == {"cut.safetensors", "cut.pt", "trap.pt", "huge.safetensors", "text.safetensors"}
    assert "1,024 MiB" in problems["huge.safetensors"]
    assert "objects" in problems["trap.pt"]
    assert found["complete"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cut.safetensors", "cut short"),
        ("cut.pt", "damaged"),
        ("trap.pt", "Python objects"),
        ("old.pt", "no file of weights"),
        ("huge.safetensors", "MB"),
        ("text.safetensors", "not a safetensors file"),
        ("notes.json", "schema"),
    ],
)
def test_what_cannot_be_opened_is_refused_and_never_run(
    mixed: Path, client: ClientOf, name: str, reason: str
) -> None:
    answer = client(mixed).get("/api/networks/open", params={"file": name})
    assert answer.status_code == 400
    assert reason in answer.json()["error"]
    assert str(mixed) not in answer.json()["error"]
    assert not (mixed / "ran").exists()


def test_files_elsewhere_and_things_that_are_not_there(mixed: Path, client: ClientOf) -> None:
    ask = client(mixed)
    assert ask.get("/api/networks/open", params={"file": "../secret.pt"}).status_code == 400
    assert ask.get("/api/networks/open", params={"file": "none.pt"}).status_code == 404
    file = {"file": "run/seed0.safetensors"}
    assert ask.get("/api/networks/unit", params={**file, "layer": 1, "unit": 24}).status_code == 404
    assert ask.get("/api/networks/unit", params={**file, "layer": -1, "unit": 0}).status_code == 422
    assert ask.post("/api/networks/without", json={**file, "module": 2}).status_code == 404
    assert ask.get("/shared/../page.py").status_code == 404
    assert "hierarchyView" in ask.get("/shared/hierarchy_view.js").text


def test_a_sculpture_shows_its_modules_layers_and_edges(mixed: Path, client: ClientOf) -> None:
    picture = asked(client(mixed), "run/seed0.safetensors")
    found = sculpture()
    assert picture["kind"] == "sculpture"
    assert picture["grouping"] == "modules"
    assert [module["name"] for module in picture["drawing"]["modules"]] == ["M1", "M2"]
    assert [layer["units"] for layer in picture["layers"]] == list(found.widths)
    assert [layer["used"] for layer in picture["layers"]] == list(found.units)
    masks = [mask for mask in found.masks.values() if mask.dim() == 2]
    assert [layer["edges"] for layer in picture["layers"]] == [None, *(int(mask.sum()) for mask in masks)]
    assert picture["layers"][1]["density"] == pytest.approx(float(masks[0].float().mean()))
    assert len(picture["drawing"]["edges"]) == 2 * found.edges
    says = [module["says"] for module in picture["drawing"]["modules"]]
    assert found.explanation is not None
    assert says == [found.explanation.of_module(number) for number in range(len(found.hierarchy.modules))]


def test_a_unit_of_a_truth_table_says_what_it_computes(mixed: Path, client: ClientOf) -> None:
    ask = client(mixed)
    explanation = sculpture().explain()
    units = [(1, int(one.name.partition("_")[2]) - 1, one) for one in explanation.units]
    for layer, unit, function in [*units, (2, 0, explanation.outputs[0])]:
        place = {"file": "run/seed0.safetensors", "layer": layer, "unit": unit}
        assert ask.get("/api/networks/unit", params=place).json()["computes"] == function.says()
    place = {"file": "plain.pt", "layer": 1, "unit": 0}
    assert ask.get("/api/networks/unit", params=place).json()["computes"] == ""


def test_a_unit_lists_its_weights_the_strongest_first(mixed: Path, client: ClientOf) -> None:
    weight = sculpture().network.state_dict()["output.weight"].numpy()
    found = client(mixed).get(
        "/api/networks/unit", params={"file": "run/seed0.safetensors", "layer": 2, "unit": 1}
    )
    inputs = found.json()["inputs"]
    order = np.argsort(-np.abs(weight[1]), kind="stable")[: int((weight[1] != 0).sum())]
    assert [one["unit"] for one in inputs["strongest"]] == order.tolist()
    assert [one["weight"] for one in inputs["strongest"]] == pytest.approx(weight[1][order].tolist())
    assert inputs["total"] == len(order)
    assert found.json()["outputs"] == {"strongest": [], "total": 0}


def test_a_unit_with_many_edges_tells_how_many_more_there_are(tmp_path: Path, client: ClientOf) -> None:
    torch.save(nn.Linear(100, 3).state_dict(), tmp_path / "wide.pt")
    facts = (
        client(tmp_path).get("/api/networks/unit", params={"file": "wide.pt", "layer": 1, "unit": 0}).json()
    )
    assert (len(facts["inputs"]["strongest"]), facts["inputs"]["total"]) == (limits.MOST_NEIGHBOURS, 100)


def rows_that_are_right(network: nn.Module, dead: set[tuple[int, int]]) -> list[float]:
    """Run a network with one hidden layer row by row, units forced to 0, against the truth table of [4,2,4]."""
    (first, bias), (second, last) = (
        (layer.weight.detach().numpy(), layer.bias.detach().numpy())
        for layer in network.modules()
        if isinstance(layer, nn.Linear)
    )
    task = dt.boolean_task([4, 2, 4])
    right = np.zeros(4)
    for x, y in zip(task.x.numpy(), task.y.numpy(), strict=True):
        alive = np.array([0 if (0, number) in dead else bit for number, bit in enumerate(x)])
        hidden = np.maximum(first @ alive + bias, 0)
        hidden[[unit for layer, unit in dead if layer == 1]] = 0
        right += ((second @ hidden + last > 0) == (y > 0.5)) / len(task.x)
    return right.tolist()


@pytest.mark.parametrize("module", [0, 1])
def test_taking_a_module_out_of_a_sculpture_breaks_its_outputs(
    mixed: Path, client: ClientOf, module: int
) -> None:
    piece = sculpture()
    found = without(client(mixed), file="run/seed0.safetensors", module=module)
    assert found["measure"] == "bits"
    dead = set(piece.hierarchy.modules[module])
    assert [output["before"] for output in found["outputs"]] == [1.0] * 4
    assert [output["after"] for output in found["outputs"]] == pytest.approx(
        rows_that_are_right(piece.network, dead)
    )
    own = piece.hierarchy.outputs_of(module)
    assert {number for number, output in enumerate(found["outputs"]) if output["broken"]} == own
    assert [output["reached"] for output in found["outputs"]] == [number in own for number in range(4)]


def test_a_task_without_a_name_is_measured_by_the_answers_of_the_whole_network(
    tmp_path: Path, client: ClientOf
) -> None:
    sculpture = dt.sculpt("y1 = x1 & x2", [4], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    sculpture.save(tmp_path / "and.safetensors")
    (output,) = without(client(tmp_path), file="and.safetensors", module=0)["outputs"]
    assert (output["before"], output["after"], output["broken"]) == (
        1.0,
        0.75,
        True,
    )  # always 0: wrong for one row


def test_modules_alone_tell_which_outputs_paths_lead_to(mixed: Path, client: ClientOf) -> None:
    found = without(client(mixed), file="run/seed0.json", module=1)
    assert found["measure"] is None
    assert [output["broken"] for output in found["outputs"]] == [False, False, True, True]
    unit = (
        client(mixed)
        .get("/api/networks/unit", params={"file": "run/seed0.json", "layer": 2, "unit": 0})
        .json()
    )
    assert unit["inputs"]["strongest"][0]["weight"] is None


def test_a_file_that_changes_is_read_again(tmp_path: Path, client: ClientOf) -> None:
    ask = client(tmp_path)
    for width in (5, 7):
        torch.save(nn.Linear(6, width).state_dict(), tmp_path / "net.pt")
        assert [layer["units"] for layer in asked(ask, "net.pt")["layers"]] == [6, width]


def test_an_altered_hierarchy_is_refused(mixed: Path, client: ClientOf) -> None:
    content = json.loads((mixed / "run/seed0.json").read_text())
    for sizes in ([4, 24], [10**5, 10**5], ["a"], [True, 2], [-1, 4]):
        (mixed / "other.json").write_text(json.dumps(content | {"sizes": sizes}))
        answer = client(mixed).get("/api/networks/open", params={"file": "other.json"})
        assert answer.status_code == 400, sizes


def test_a_sculpture_that_claims_to_be_huge_is_refused_before_it_is_made(
    tmp_path: Path, client: ClientOf
) -> None:
    from safetensors.torch import save_file

    for widths in ([10**6, 10**6, 2], [4, "x", 2], None):
        content = {"schema": "dovetail.sculpture/1", "widths": widths}
        save_file({"a": torch.zeros(1)}, tmp_path / "claim.safetensors", {"dovetail": json.dumps(content)})
        answer = client(tmp_path).get("/api/networks/open", params={"file": "claim.safetensors"})
        assert answer.status_code == 400


def test_a_damaged_archive_spoils_neither_the_list_nor_the_server(tmp_path: Path, client: ClientOf) -> None:
    damaged_archive(tmp_path / "damaged.pt")
    ask = client(tmp_path)
    (file,) = ask.get("/api/networks/files").json()["files"]
    assert "'damaged.pt' is damaged" in file["problem"]
    for answer in (
        ask.get("/api/networks/open", params={"file": "damaged.pt"}),
        ask.post("/api/networks/without", json={"file": "damaged.pt", "module": 0}),
    ):
        assert answer.status_code == 400
        assert "damaged" in answer.json()["error"]


@pytest.mark.parametrize("comment", [b"", b"a comment"])
@pytest.mark.parametrize("long", [False, True])
def test_an_archive_with_far_too_many_entries_is_refused_by_its_last_bytes(
    tmp_path: Path, client: ClientOf, monkeypatch: pytest.MonkeyPatch, comment: bytes, long: bool
) -> None:
    path = tmp_path / "many.pt"
    if long:  # the record of archives that are larger than the short one can say
        monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = comment
        for number in range(80):  # few, so that the test is fast, but with long names
            archive.writestr(zipfile.ZipInfo(f"{number:060000}"), b"")
    if long:  # which then counts, so the short one may say nothing
        content = bytearray(path.read_bytes())
        short = len(content) - len(comment) - 22
        content[short + 12 : short + 16] = bytes(4)
        path.write_bytes(content)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # which would go through all entries
    (file,) = client(tmp_path).get("/api/networks/files").json()["files"]
    assert "more entries than a network has tensors" in file["problem"]


def test_files_that_have_not_changed_are_not_looked_at_again(
    mixed: Path, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def looking(path: Path) -> None:
        looked.append(path.name)
        limits.check_bytes(path)

    monkeypatch.setattr(listing, "check_bytes", looking)
    ask = client(mixed)
    first = ask.get("/api/networks/files").json()
    assert "plain.pt" in looked
    looked.clear()
    assert ask.get("/api/networks/files").json() == first
    assert not looked
    torch.save(nn.Linear(3, 4).state_dict(), mixed / "plain.pt")
    ask.get("/api/networks/files")
    assert looked == ["plain.pt"]


def test_a_file_that_many_ask_for_at_once_is_read_once(
    mixed: Path, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Path] = []
    all_asked = threading.Barrier(4)

    def slow(path: Path) -> Network:
        reads.append(path)
        time.sleep(0.2)  # so that the others ask meanwhile
        return read_network(path)

    def ask_now(_: int) -> int:
        all_asked.wait()
        status: int = ask.get("/api/networks/open", params={"file": "plain.pt"}).status_code
        return status

    monkeypatch.setattr(opened, "read_network", slow)
    ask = client(mixed)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask_now, range(4))) == [200] * 4
    assert len(reads) == 1


@pytest.mark.parametrize(
    "kind", [torch.uint16, torch.uint64, torch.bool, torch.int8, torch.bfloat16, torch.float8_e4m3fn], ids=str
)
def test_numbers_of_any_type_can_be_taken_out(tmp_path: Path, client: ClientOf, kind: torch.dtype) -> None:
    tensors = {"0.weight": torch.eye(4)[:3], "1.weight": torch.eye(3)}
    torch.save({name: tensor.to(kind) for name, tensor in tensors.items()}, tmp_path / "net.pt")
    ask = client(tmp_path)
    assert asked(ask, "net.pt")["kind"] == "checkpoint"
    assert without(ask, file="net.pt", module=0, grouping="modules")["outputs"]


def test_a_type_that_can_only_be_stored_is_named(tmp_path: Path, client: ClientOf) -> None:
    torch.save({"fc.weight": torch.ones(3, 2, dtype=torch.uint8).view(torch.bits8)}, tmp_path / "net.pt")
    answer = client(tmp_path).get("/api/networks/open", params={"file": "net.pt"})
    assert answer.status_code == 400
    assert "torch.bits8 in 'fc.weight'" in answer.json()["error"]
