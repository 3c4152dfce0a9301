"""A trunk cut in the middle: its features are maps, and parts are the rest of the network, in slots of a last stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.data import Dataset
from dovetail.errors import SpecError
from dovetail.population import Adam
from dovetail.specialists import Team
from dovetail.specialists.export import export

QUICK: dict[str, Any] = {"epochs": 6, "lr": 5e-3, "patience": None, "device": "cpu", "progress": False}


@pytest.fixture(scope="module")
def data() -> Dataset:
    return dt.load("digits")


@pytest.fixture(scope="module")
def model(data: Dataset) -> nn.Module:
    population = dt.Population(
        dt.net_builder("resnet18:4", data.input_shape, data.outputs), [0], device="cpu"
    )
    population.fit(data, epochs=4, optimizer=Adam(3e-3), schedule="one-cycle", progress=False)
    return population.member(0).eval()


@pytest.fixture(scope="module")
def trunk(model: nn.Module) -> dt.Trunk:
    return dt.trunk(model, cut="stage3", pool="none", name="three stages")


@pytest.fixture(scope="module")
def maps(trunk: dt.Trunk, data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return trunk.features(data, folder=tmp_path_factory.mktemp("maps"), progress=False)


class LastStage(nn.Module):
    """A last stage of one's own: a residual block whose shortcut is a layer, and a head over the mean."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(16, 30, 3, padding=1), nn.Conv2d(30, 30, 3, padding=1)
        self.shortcut, self.norm = nn.Conv2d(16, 30, 1), nn.BatchNorm2d(30)
        self.head = nn.Linear(30, 10)

    def forward(self, x: Tensor) -> Tensor:
        body = self.second(self.norm(self.first(x)).relu())
        logits: Tensor = self.head((body + self.shortcut(x)).relu().mean((2, 3)))
        return logits


NETS: dict[str, Any] = {"a spec": "resnet-stage:40", "one's own": LastStage}


@pytest.fixture(scope="module", params=NETS)
def team(maps: Dataset, request: pytest.FixtureRequest) -> Team:
    return dt.train_specialists(maps, NETS[request.param], slots=True, **QUICK)


def test_features_are_the_maps_of_three_stages(data: Dataset, model: nn.Module, maps: Dataset) -> None:
    assert maps.input_shape == (16, 2, 2)
    stages = nn.Sequential(*list(model.children())[:4])
    with torch.no_grad():
        torch.testing.assert_close(maps.test.x, stages(data.test.x), atol=1e-5, rtol=1e-4)


def test_each_class_has_a_share_of_the_last_stage(
    team: Team, data: Dataset, trunk: dt.Trunk, maps: Dataset
) -> None:
    whole = dt.compose(team)
    assert whole.evaluate(maps.test).rewarded_accuracy > 0.85
    with torch.no_grad():
        logits = torch.stack([part(maps.test.x) for part in team])
        torch.testing.assert_close(whole(maps.test.x), logits.sum(0), atol=1e-4, rtol=1e-4)
        # From raw pixels to logits it is one network: the stages of the trunk, then the last one.
        raw = whole.module(trunk)
        torch.testing.assert_close(raw(data.test.x), logits.sum(0), atol=1e-4, rtol=1e-4)
    assert whole.without(3) == dt.compose([part for part in team if part.rewarded != (3,)])


def test_shares_of_the_stage_are_channels(team: Team) -> None:
    first, second = team[0], team[1]
    for name in first.blueprint.parameter_names:
        if first.state[name].dim() == 4:
            kept = [part.masks[name].flatten(1).any(1) for part in (first, second)]
            assert not bool((kept[0] & kept[1]).any()), name
            assert int(kept[0].sum()) == len(kept[0]) // 10
    # The stage reads all maps of the trunk, by its shortcut too.
    shortcuts = [name for name in first.masks if "shortcut" in name and first.state[name].dim() == 4]
    assert len(shortcuts) == 1
    assert first.state[shortcuts[0]].shape[1] == 16
    assert bool(first.masks[shortcuts[0]].any(0).all())


@pytest.mark.filterwarnings("ignore:.*learned nothing")
def test_a_stage_as_wide_as_the_maps_reads_all_of_them(maps: Dataset) -> None:
    """Shapes would not tell here whether the shortcut reads the maps or the stage's own channels."""
    (part,) = dt.train_specialists(maps, "resnet-stage:16", [(0, 1)], slots=True, **{**QUICK, "epochs": 1})
    assert bool(part.masks["stage.block1.shortcut.conv.weight"].any(0).all())
    assert not bool(part.masks["stage.block2.body.conv1.weight"].any(0).all())


def test_it_is_exported_as_one_network(team: Team, trunk: dt.Trunk, tmp_path: Path) -> None:
    found = export(dt.compose(team), tmp_path / "whole.pt2", trunk=trunk)
    assert found.inputs == (1, 8, 8)
    assert len(found.outputs) == 10


@pytest.mark.filterwarnings("ignore:.*learned nothing")
def test_files_name_the_trunk(trunk: dt.Trunk, maps: Dataset, data: Dataset, tmp_path: Path) -> None:
    team = dt.train_specialists(maps, "resnet-stage:20", [0, 1], slots=True, **{**QUICK, "epochs": 1})
    pair = dt.compose(team)
    opened = dt.open(pair.save(tmp_path / "pair.safetensors"), dt.Composite)
    assert opened == pair
    assert opened.preparation is not None
    assert "three stages" in opened.preparation.describe()
    with torch.no_grad():
        assert torch.equal(opened.module(trunk)(data.test.x), pair.module(trunk)(data.test.x))


def test_a_shortcut_without_weights_from_the_maps_is_in_the_way_of_slots(maps: Dataset) -> None:
    def block() -> nn.Module:
        return nn.Sequential(Identity(), nn.Flatten(), nn.Linear(16 * 4, 10))

    class Identity(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(16, 16, 3, padding=1)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = (x + self.conv(x)).relu()
            return out

    with pytest.raises(SpecError, match="adds its units to the network's inputs, which are everybody's"):
        dt.train_specialists(maps, block, [0], slots=True, **QUICK)
