"""Specialists of networks of one's own: trained, composed, saved by name, and opened with their code at hand."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from torch import Tensor, nn

import dovetail as dt
from dovetail.data import Dataset
from dovetail.errors import DovetailError, DovetailWarning, SpecError
from dovetail.nets import OwnNet
from dovetail.specialists import Blueprint, Team


class Small(nn.Module):
    """Two dense layers and a number that is no weight."""

    def __init__(self, width: int = 20) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(64, width), nn.Linear(width, 10)
        self.gain = torch.tensor(2.0)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.last((self.gain * self.first(x.flatten(1))).relu())
        return logits


QUICK: dict[str, Any] = {"epochs": 3, "progress": False, "device": "cpu"}


@pytest.fixture(scope="module")
def data() -> Dataset:
    return dt.load("digits")


@pytest.fixture(scope="module")
def team(data: Dataset) -> Team:
    return dt.train_specialists(data, Small, [3, 8], sparsity=0.5, **QUICK)


def test_it_learns_what_the_same_network_by_spec_learns(data: Dataset) -> None:
    def spec() -> nn.Module:
        return dt.build_net("mlp:16,dropout=0", data.input_shape, data.outputs)

    own = dt.train_specialists(data, spec, [3, 8], sparsity=0.5, **QUICK)
    for part in own:
        network = part.module()
        assert isinstance(part.blueprint.net, OwnNet)
        with torch.no_grad():
            torch.testing.assert_close(network(data.test.x[:4]), part(data.test.x[:4]))
    score = own[0].evaluate(data.test)
    assert score.entropy is not None
    assert score.entropy > 2.0


def test_half_of_each_layer_is_pruned_and_a_quarter_of_the_last(team: Team) -> None:
    kept = {name: float(mask.float().mean()) for name, mask in team[0].masks.items()}
    assert kept["first.weight"] == pytest.approx(0.5, abs=0.01)
    # A rate of .293 a round, and half of that in the output layer.
    assert kept["last.weight"] == pytest.approx((1 - 0.2929 / 2) ** 2, abs=0.01)


def test_they_are_composed_dropped_and_saved(team: Team, data: Dataset, tmp_path: Path) -> None:
    pair = dt.compose(team)
    assert pair - team[0] == dt.compose([team[1]])
    pair.save(tmp_path / "pair.safetensors")
    again = dt.open(tmp_path / "pair.safetensors", dt.Composite, build=Small)
    assert again == pair
    with torch.no_grad():
        assert torch.equal(again(data.test.x), pair(data.test.x))


def test_a_file_names_the_code_and_nothing_is_imported_on_its_word(
    team: Team,
    data: Dataset,
    tmp_path: Path,
) -> None:
    path = team[0].save(tmp_path / "three.safetensors")
    with safe_open(path, framework="pt") as file:
        manifest = json.loads(file.metadata()["dovetail"])
    assert manifest["net"].startswith(f"{__name__}:Small#")
    with pytest.raises(
        DovetailError, match=r"code of your own.*build=Small.*trust=\[.*dovetail --trust \S+ COMMAND"
    ):
        dt.open(path)
    package = __name__.partition(".")[0]
    assert dt.open(path, trust=[package]) == team[0]
    assert dt.open(path, trust=package) == team[0]  # one, not its letters
    with pytest.raises(DovetailError, match="code of your own"):
        dt.open(path, trust=[package[:-1]])


def test_code_that_a_file_names_is_not_run(team: Team, tmp_path: Path) -> None:
    (tmp_path / "evil_module.py").write_text("raise SystemExit('run')")
    evil = OwnNet("evil_module:Net#12345678")
    with pytest.raises(SpecError, match="code of your own"):
        Blueprint(evil, (1, 8, 8), team[0].classes, 5.0).builder()
    assert "evil_module" not in sys.modules


def test_code_that_has_changed_is_told(team: Team, tmp_path: Path) -> None:
    class Small(nn.Module):
        """The same shapes, and other answers."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(64, 20), nn.Linear(20, 10)

        def forward(self, x: Tensor) -> Tensor:
            logits: Tensor = self.last(self.first(x.flatten(1)).tanh())
            return logits

    path = team[0].save(tmp_path / "three.safetensors")
    with pytest.warns(DovetailWarning, match="is not what it was when the file was made"):
        dt.open(path, build=Small)
    with pytest.raises(DovetailError, match="cannot be used"):
        dt.open(path, build=functools.partial(globals()["Small"], 21))


def test_settings_are_part_of_the_name() -> None:
    names = [OwnNet.of(functools.partial(Small, width)).name for width in (20, 21, 20)]
    assert names[0] == names[2] != names[1]
    assert "Small(20)" in names[0]


def test_in_slots_they_add_up_exactly_and_drop_exactly(data: Dataset) -> None:
    team = dt.train_specialists(data, Small, [0, 1, 2], slots=True, **QUICK)
    whole = dt.compose(team)
    with torch.no_grad():
        torch.testing.assert_close(whole(data.test.x), sum(part(data.test.x) for part in team))
    assert whole.without(1) == dt.compose([team[0], team[2]])


def test_without_slots_logits_are_averaged(team: Team, data: Dataset) -> None:
    with torch.no_grad():
        wanted = (team[0](data.test.x) + team[1](data.test.x)) / 2
        torch.testing.assert_close(dt.compose(team, "logits")(data.test.x), wanted)


def test_a_folder_is_gone_on_with(data: Dataset, tmp_path: Path) -> None:
    first = dt.train_specialists(data, Small, [3], folder=tmp_path, **QUICK)
    again = dt.train_specialists(data, Small, [3, 8], folder=tmp_path, **QUICK)
    assert again[0] == first[0]
    assert len(again.histories[0].values["loss"][0]) == 1


class Wrong(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


@pytest.mark.parametrize(
    ("net", "says"),
    [
        (Small(), "each specialist starts from a network of its own"),
        (functools.partial(nn.Linear, 3), "is called without arguments, and takes some"),
        (functools.partial(nn.Linear, 3, 10), "does not take samples of shape"),
        (Wrong, r"must give \(2, 10\)"),
        (lambda: 5, "gives int, not a torch.nn.Module"),
        (12, "a spec such as 'mlp:512', or a class or function"),
        ("nowhere.at.all:Net", "there is no module"),
    ],
)
def test_what_is_refused(data: Dataset, net: Callable[[], nn.Module], says: str) -> None:
    with pytest.raises(DovetailError, match=says):
        dt.train_specialists(data, net, [3], **QUICK)


def test_by_name_as_on_the_command_line(team: Team, data: Dataset) -> None:
    again = dt.train_specialists(data, f"{__name__}:Small", [3, 8], sparsity=0.5, **QUICK)
    assert [part.digest for part in again] == [part.digest for part in team]
