"""Groups of units, and networks without them: measured by other means, and for networks that are dense or large."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.graph.chain import layer_chain
from dovetail.specialists import open_file
from dovetail.studio.networks import yardstick
from dovetail.studio.networks.drawn import draw_groups, strongest_edges
from dovetail.studio.networks.grouping import Grouping, group_units
from dovetail.studio.networks.limits import MOST_EDGES, MOST_UNITS
from dovetail.studio.networks.network import Network
from dovetail.studio.networks.picture import picture_of
from dovetail.studio.networks.reading import read_network
from dovetail.studio.networks.taking_out import reached_outputs, without_module, without_units
from dovetail.studio.networks.yardstick import Yardstick, measured, of_nothing

from .bench_parts import save_team
from .conftest import ClientOf


def saved(folder: Path, tensors: dict[str, Any]) -> Path:
    torch.save(tensors, folder / "net.pt")
    return folder / "net.pt"


def test_units_that_only_weak_edges_use_are_not_called_unused(client: ClientOf, tmp_path: Path) -> None:
    torch.manual_seed(0)
    saved(tmp_path, dense().state_dict())
    opened = client(tmp_path)
    of = {"file": "net.pt", "grouping": "modules"}
    shown = {
        share: opened.get("/api/networks/open", params={**of, "strongest": share}).json()
        for share in (100, 5)
    }
    assert shown[100]["unused"] == ""
    left_out = 36 + 12 + 9 + 4 - len(shown[5]["drawing"]["units"]["name"])
    assert left_out > 0
    assert shown[5]["unused"] == f"{left_out} units on no path of these edges left out"


def dense() -> nn.Sequential:
    """Return a network of dense layers."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(36, 12), nn.ReLU(), nn.Linear(12, 9), nn.ReLU(), nn.Linear(9, 4)
    )


def convolutional() -> nn.Sequential:
    """Return a network with convolutions, batch norm, and a dense layer that reads flattened channels."""
    return nn.Sequential(
        nn.Conv2d(1, 5, 3), nn.BatchNorm2d(5), nn.ReLU(), nn.Conv2d(5, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(24, 4)
    )  # fmt: skip


@pytest.mark.parametrize("make", [dense, convolutional])
@pytest.mark.parametrize("units", [{(1, 0), (1, 3)}, {(2, 1), (2, 5)}, {(1, 2), (2, 0), (2, 4)}])
def test_units_are_set_to_0_as_lesions_do(
    make: Callable[[], nn.Sequential], units: set[tuple[int, int]]
) -> None:
    torch.manual_seed(1)
    whole = make().eval()
    for layer in whole:
        if isinstance(layer, nn.Linear | nn.Conv2d):
            nn.init.normal_(layer.weight)  # so that units say something, and not all samples get one answer
    tensors = dict(whole.state_dict())
    network = Network("checkpoint", "", {}, tensors, tuple(layer_chain(dict(whole.named_parameters()))))
    less = make().eval()
    less.load_state_dict(without_units(network, units))
    split = dt.Split(torch.randn(200, 1, 6, 6), torch.arange(200) % 4)
    graph = dt.network_graph(whole, split.x[:2], convention="mlp")
    places = zip(graph.group_of.tolist(), graph.unit_of.tolist(), strict=True)
    labels = [0 if place in units else -1 for place in places]
    lesions = dt.lesion(whole, labels, split, graph=graph, draws=1, progress=False)
    found = measured(whole, less, Yardstick("classes", "accuracy", split.x, split.y))
    assert found.before == pytest.approx(lesions.class_accuracy.tolist())
    assert found.after == pytest.approx(lesions.class_accuracies[0].tolist())
    assert found.after != found.before


def test_a_tie_is_no_right_answer() -> None:
    dead = nn.Linear(3, 2)
    nn.init.zeros_(dead.weight)
    nn.init.zeros_(dead.bias)
    found = measured(
        dead, dead, Yardstick("classes", "accuracy", torch.ones(4, 3), torch.tensor([0, 0, 1, 1]))
    )
    assert found.after == [0.0, 0.0]


def test_a_class_without_samples_has_no_accuracy() -> None:
    layer = nn.Linear(3, 3)
    found = measured(layer, layer, Yardstick("classes", "accuracy", torch.ones(2, 3), torch.tensor([0, 2])))
    assert found.after[1] is None


def test_movement_is_relative_to_how_much_an_output_varies(tmp_path: Path) -> None:
    weight = torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, 0.0]])
    network = read_network(saved(tmp_path, {"weight": weight, "bias": torch.tensor([0.0, 0.0, 7.0])}))
    assert network.build is not None
    whole, less = (network.build(tensors) for tensors in (network.tensors, without_units(network, {(0, 0)})))
    found = measured(whole, less, of_nothing((2,)))
    x = of_nothing((2,)).x.double().numpy()
    y = x @ weight.double().numpy().T
    expected = [1.0, 3 * np.sqrt((x[:, 0] ** 2).mean()) / y[:, 1].std(), 0.0]
    # The first output is all of x1, so it moves by as much as x1 is, which is not exactly how much it varies.
    assert found.after[1:] == pytest.approx(expected[1:], rel=1e-5)
    assert found.after[0] == pytest.approx(np.sqrt((x[:, 0] ** 2).mean()) / x[:, 0].std(), rel=1e-5)


def test_large_networks_are_measured_on_some_samples_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yardstick, "_MOST_MULTIPLICATIONS", 600)
    layer = nn.Linear(3, 2)  # 6 multiplications for a sample
    found = measured(layer, layer, Yardstick("movement", "how far", torch.ones(150, 3)))
    assert "on the first 100 of 150 samples" in found.text


def test_paths_lead_over_edges_only(tmp_path: Path) -> None:
    first, second = torch.tensor([[1.0, 0], [0, 1.0]]), torch.tensor([[1.0, 0], [0, 1.0], [1.0, 1.0]])
    network = read_network(saved(tmp_path, {"a.weight": first, "b.weight": second}))
    assert reached_outputs(network, [(0, 0)]) == {0, 2}
    assert reached_outputs(network, [(1, 1)]) == {1, 2}
    found = without_module(network, group_units(network, "modules"), 2)
    assert found.units == "It has outputs only, which nothing reads."
    assert not any(output.broken for output in found.outputs)


@pytest.mark.parametrize("percent", [50.0, 10.0, 1.0])
def test_the_strongest_edges_are_those_with_the_largest_weights(percent: float) -> None:
    matrix = np.random.default_rng(0).normal(size=(20, 30)).astype(np.float32)
    matrix[:, ::3] = 0
    (kept,) = strongest_edges([matrix], [matrix != 0], percent)
    assert kept.sum() == round(percent / 100 * 400)
    assert not kept[matrix == 0].any()
    assert np.abs(matrix[kept]).min() >= np.abs(matrix[~kept]).max()


def test_a_dense_network_is_shown_in_clusters_and_says_why(tmp_path: Path) -> None:
    halves = torch.block_diag(torch.ones(8, 6), torch.ones(8, 6)) + 0.01
    ends = torch.block_diag(torch.ones(1, 8), torch.ones(1, 8)) + 0.01
    network = read_network(saved(tmp_path, {"a.weight": halves, "b.weight": ends}))
    groups = group_units(network, clusters=2)
    assert groups.grouping == "clusters"
    assert "audit" in groups.note
    left = {(0, unit) for unit in range(6)} | {(1, unit) for unit in range(8)} | {(2, 0)}
    assert left in groups.modules  # the two sides that strong weights connect
    assert "cannot be read off" in group_units(network, "modules").note


def test_a_large_network_is_drawn_with_its_strongest_edges_or_not_at_all(
    tmp_path: Path, client: ClientOf
) -> None:
    torch.manual_seed(0)
    for name, widths in (("large", (784, 512, 10)), ("larger", (3000, 400, 2000))):
        layers = [nn.Linear(before, after) for before, after in pairwise(widths)]
        torch.save(nn.Sequential(*layers).state_dict(), tmp_path / f"{name}.pt")
    ask = client(tmp_path)
    begun = time.process_time()
    picture = ask.get("/api/networks/open", params={"file": "large.pt"}).json()
    assert time.process_time() - begun < 10  # a second or so; tests may share the machine
    assert picture["strongest"] < 100
    assert len(picture["drawing"]["edges"]) <= 2 * MOST_EDGES
    assert len(picture["drawing"]["units"]["x"]) <= MOST_UNITS
    picture = ask.get("/api/networks/open", params={"file": "larger.pt"}).json()
    assert picture["drawing"] is None
    assert "too many to draw" in picture["note"]
    assert [layer["edges"] for layer in picture["layers"]] == [None, 1_200_000, 800_000]


def test_a_composite_in_slots_falls_into_its_specialists(
    parts_folder: Path, tmp_path: Path, client: ClientOf
) -> None:
    parts = [open_file(path) for path in sorted(parts_folder.glob("*.safetensors"))[:4]]
    dt.compose(parts).save(tmp_path / "four.safetensors")
    ask = client(tmp_path)
    picture = ask.get("/api/networks/open", params={"file": "four.safetensors"}).json()
    assert picture["grouping"] == "specialists"
    assert [module["name"] for module in picture["drawing"]["modules"]] == ["0", "1", "2", "3", "inputs"]
    wish = {"file": "four.safetensors", "module": 2}
    outputs = ask.post("/api/networks/without", json=wish).json()["outputs"]
    assert [output["name"] for output in outputs if output["broken"]] == ["2"]
    test = dt.load("digits").test
    after = dt.compose([*parts[:2], *parts[3:]]).evaluate(test).class_accuracy
    assert [output["after"] for output in outputs] == pytest.approx(after.nan_to_num().tolist(), abs=1e-9)


SHARES = (None, 50, 25, 10, 5, 2, 1)


@pytest.mark.parametrize("dropped", [0, 3])
def test_taking_out_a_slot_is_dropping_the_specialist_on_the_bench_whatever_is_drawn(
    dropped: int, parts_folder: Path, tmp_path: Path, client: ClientOf
) -> None:
    files = sorted(parts_folder.glob("*.safetensors"))[:5]
    for file in files:
        shutil.copy(file, tmp_path)
    dt.compose([open_file(file) for file in files]).save(tmp_path / "whole.safetensors")
    ask = client(tmp_path)
    left = [file.name for number, file in enumerate(files) if number != dropped]
    ticked = {"files": left, "method": "sum"}
    measured = ask.post("/api/bench/measure", json=ticked).json()
    while measured["samples"] < measured["total"]:
        measured = ask.post("/api/bench/measure", json=ticked).json()
    bench = [value or 0.0 for value in measured["class_accuracy"]]
    assert bench[dropped] < 0.5
    names = set()
    for share in SHARES:
        look = {"file": "whole.safetensors"} | ({} if share is None else {"strongest": share})
        picture = ask.get("/api/networks/open", params=look).json()
        assert picture["grouping"] == "specialists"
        names.add(tuple(group["name"] for group in picture["groups"]))
        wish = {"file": "whole.safetensors", "grouping": "specialists", "module": dropped}
        outputs = ask.post("/api/networks/without", json=wish).json()["outputs"]
        assert [output["after"] for output in outputs] == pytest.approx(bench, abs=1e-9)
    assert len(names) == 1


@pytest.mark.parametrize("grouping", ["modules", "clusters"])
def test_groups_are_of_the_whole_network_whatever_is_drawn(grouping: Grouping, tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = read_network(saved(tmp_path, dense().state_dict()))
    groups = group_units(network, grouping)
    pictures = [picture_of(network, groups, share) for share in (100, 10, 2)]
    assert all(
        [group.text for group in picture.groups] == [group.text for group in pictures[0].groups]
        for picture in pictures
    )
    for share in (100, 10, 2):
        drawn = draw_groups(network, groups, share)
        for number, units in zip(drawn.numbers, drawn.hierarchy.modules, strict=True):
            assert units <= groups.modules[number]


def test_a_specialist_with_an_output_bias_is_left_out_with_it(tmp_path: Path) -> None:
    team = save_team(tmp_path, "lenet", count=3, slots=True)
    whole = dt.compose(team)
    network = read_network(whole.save(tmp_path / "whole.safetensors"))
    without = network.slots[team[1].knows].tensors_without
    assert without is not None
    expected = dt.compose([team[0], team[2]]).state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in without().items())


def test_averaged_logits_are_no_one_network(parts_folder: Path, tmp_path: Path, client: ClientOf) -> None:
    parts = [open_file(path) for path in sorted(parts_folder.glob("*.safetensors"))[:2]]
    dt.compose(parts, method="logits").save(tmp_path / "average.safetensors")
    picture = client(tmp_path).get("/api/networks/open", params={"file": "average.safetensors"}).json()
    assert picture["drawing"] is None
    assert "averages the logits" in picture["doubt"]


def foreign() -> list[tuple[dict[str, Tensor], str]]:
    """Return weights of networks that the view cannot run, and what it should say."""
    return [
        (nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(16, 2)).state_dict(), "cannot be run"),
        (nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).state_dict(), "cannot be run"),
        ({"a.weight": torch.zeros(4, 3), "b.weight": torch.zeros(2, 5)}, "cannot be put in order"),
        ({"a.weight": torch.full((2, 2), torch.nan)}, "not finite"),
        ({"step": torch.zeros(())}, "no layer"),
        ({"a.weight": torch.zeros(0, 3)}, "no layer"),
    ]


@pytest.mark.parametrize(("tensors", "doubt"), foreign())
def test_foreign_weights_are_shown_as_far_as_they_can_be(
    tmp_path: Path, client: ClientOf, tensors: dict[str, Tensor], doubt: str
) -> None:
    saved(tmp_path, tensors)
    ask = client(tmp_path)
    answer = ask.get("/api/networks/open", params={"file": "net.pt"})
    assert answer.status_code == 200
    assert doubt in answer.json()["doubt"]
    wish = {"file": "net.pt", "module": 0, "grouping": "modules"}
    answer = ask.post("/api/networks/without", json=wish)
    if doubt == "cannot be run":
        assert answer.json()["measure"] is None
        assert all(output["reached"] for output in answer.json()["outputs"])
    else:
        assert answer.status_code == 400
