"""Networks that others trained."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

import dovetail as dt
from dovetail.errors import DovetailError, SpecError
from dovetail.recipes import find_recipe, find_work
from dovetail.recipes.cluster.conditions import measure_settings

WORK = find_work("cluster/foreign")
CPU = torch.device("cpu")
SETTINGS = {
    "source": "timm",
    "model": "tiny.some_in1k",
    "measures": [measure_settings(k=2, shuffles=2, starts=100)],
}


def _network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3))


def _timm(create_model: Any) -> Any:
    config = SimpleNamespace(resolve_data_config=lambda _, model: {"input_size": (3, 9, 9)})
    return SimpleNamespace(create_model=create_model, data=config)


def test_a_published_network_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def create_model(name: str, *, pretrained: bool) -> nn.Module:
        asked.append((name, pretrained))
        return _network()

    monkeypatch.setitem(sys.modules, "timm", _timm(create_model))
    found = WORK.run(SETTINGS, CPU)["measures"][0]
    direct = dt.clusterability(
        _network(), k=2, shuffles=2, starts=100, example_input=torch.zeros(1, 3, 9, 9), progress=False
    )
    assert asked == [("tiny.some_in1k", True)]
    assert found["ncut"] == pytest.approx([direct.ncut], abs=1e-6)
    assert found["dist_ncut"] == pytest.approx([direct.null_mean], abs=1e-6)


def test_without_timm_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(SpecError, match=r"the package timm, .*pip install 'dovetail-nn\[vision\]'"):
        WORK.run(SETTINGS, CPU)


def test_weights_that_cannot_be_fetched_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def create_model(name: str, *, pretrained: bool) -> nn.Module:
        raise OSError("no route to host\nand more")

    monkeypatch.setitem(sys.modules, "timm", _timm(create_model))
    with pytest.raises(
        DovetailError, match=r"weights cannot be fetched .*no route to host\).*connection"
    ) as caught:
        WORK.run(SETTINGS, CPU)
    assert "and more" not in str(caught.value)


def test_a_load_is_all_clustering() -> None:
    loads = [WORK.workload(unit.settings) for unit in find_recipe("imagenet").units("paper")]
    assert all(not load.net and load.core_seconds > 10 for load in loads)
