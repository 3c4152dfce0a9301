"""Modules and exports of parts with their trunk: the same answers as by way of features."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.data.dataset import Dataset
from dovetail.errors import DovetailError, ShapeError, SpecError


@pytest.fixture(scope="module")
def data() -> Dataset:
    return dt.load("digits")


@pytest.fixture
def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 30), nn.ReLU(inplace=True), nn.Linear(30, 10))


class Several(nn.Module):
    """Gives a tensor among others."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return (self.inner(x), x)


class Branches(nn.Module):
    """Changes in place what one of its modules gives in a tuple."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Several(nn.Sequential(nn.Flatten(), nn.Linear(64, 30)))
        self.head = nn.Linear(30, 10)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.stem(x)[0].mul_(-2).relu_())
        return logits


@pytest.mark.parametrize("cut", ["1", "before 2", "before 3", "stem"])
def test_what_comes_after_the_cut_works_in_place(
    model: nn.Module, data: Dataset, cut: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    trunk = dt.trunk(Branches() if cut == "stem" else model, cut=cut)
    features = trunk.features(data, progress=False)
    team = dt.train_specialists(features, "mlp:16", [3, 8], epochs=15, progress=False)
    part = team[0] + team[1]
    x = data.test.x[:50]
    with torch.no_grad():
        wanted = part.module()(features.test.x[:50])
        torch.testing.assert_close(part.module(trunk)(x), wanted, rtol=1e-4, atol=1e-5)
    assert len(set(part.predict(features.test)[:50])) > 1
    assert np.array_equal(part.with_trunk(trunk).predict(x), part.predict(features.test)[:50])
    assert part.export(tmp_path / "part.pt2", trunk=trunk).difference < 1e-5
    exported = torch.export.load(tmp_path / "part.pt2").module()
    torch.testing.assert_close(exported(x), wanted[:, list(part.rewarded)], rtol=1e-4, atol=1e-5)


def test_an_export_is_compared_with_predictions(
    model: nn.Module, data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    trunk = dt.trunk(model)
    features = trunk.features(data, progress=False)
    (three,) = dt.train_specialists(features, "mlp:16", [3], epochs=1, progress=False)
    right = dt.Trunk.layer
    monkeypatch.setattr(dt.Trunk, "layer", lambda self: nn.Sequential(right(self), nn.Tanh()))
    with pytest.raises(DovetailError, match="so it was not kept"):
        three.export(tmp_path / "three.pt2", trunk=trunk)
    assert not (tmp_path / "three.pt2").exists()


def test_samples_stay_as_they_are_when_a_network_begins_in_place() -> None:
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    before = x.clone()
    found = dt.trunk(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(6, 2))).compute(x)
    assert torch.equal(found, before.relu())
    assert torch.equal(x, before)


@pytest.mark.parametrize(
    ("given", "what"),
    [(nn.Linear(2, 3), "a Linear"), ("nets:small", "the text 'nets:small'"), (True, "a bool")],
)
def test_what_is_no_trunk_is_refused(
    model: nn.Module, data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: object, what: str
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    features = dt.trunk(model).features(data, progress=False)
    (three,) = dt.train_specialists(features, "mlp:4", [3], epochs=1, progress=False)
    path = three.save(tmp_path / "three.safetensors")
    says = f"{what} is none, dovetail.trunk\\(...\\) makes one of it"
    ways: list[Callable[[Any], object]] = [
        three.with_trunk,
        three.module,
        lambda trunk: three.export(tmp_path / "three.pt2", trunk=trunk),
        lambda trunk: dt.open(path, trunk=trunk),
    ]
    for way in ways:
        with pytest.raises(SpecError, match=says):
            way(given)


def test_a_split_of_raw_samples_is_refused_with_the_way_out(
    model: nn.Module, data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    features = dt.trunk(model).features(data, progress=False)
    (three,) = dt.train_specialists(features, "mlp:4", [3], epochs=1, progress=False)
    for way in (three.predict, three.evaluate, three.with_threshold):
        with pytest.raises(ShapeError, match=r"give trunk.features\(data\).test, or data.test.x"):
            way(data.test)
    with pytest.raises(ShapeError, match=r"not \(29,\)$"):
        three(features.test.x[:, 1:])
    assert np.array_equal(three.predict(data.test.x), three.predict(features.test))
