"""Profiles and function: networks in which it is planted which classes each unit costs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import dovetail as dt
from dovetail.cluster import Profiles
from dovetail.cluster.function import explained
from dovetail.data import Split
from dovetail.errors import DataError, ShapeError, SpecError

CLASSES, COPIES = 6, 4


def planted() -> nn.Sequential:
    """Return a network in which each hidden unit passes on one class, four units for each, in two layers."""
    network = nn.Sequential(
        nn.Linear(CLASSES, CLASSES * COPIES), nn.ReLU(),
        nn.Linear(CLASSES * COPIES, CLASSES * COPIES), nn.ReLU(),
        nn.Linear(CLASSES * COPIES, CLASSES),
    )  # fmt: skip
    of_class = torch.arange(CLASSES * COPIES) % CLASSES
    same = (of_class[:, None] == of_class).float()
    into = torch.eye(CLASSES)[of_class]
    with torch.no_grad():
        for place, weight in ((0, into), (2, same / COPIES), (4, into.T)):
            layer: Any = network[place]
            layer.weight.copy_(weight + 1e-4)
            layer.bias.zero_()
    return network


def samples(each: int = 6) -> Split:
    y = torch.arange(CLASSES).repeat(each)
    noise = torch.rand(len(y), CLASSES, generator=torch.Generator().manual_seed(0))
    return Split(torch.eye(CLASSES)[y] + 0.2 * noise, y)


def profiles() -> Profiles:
    return dt.lesion_profiles(planted(), samples(), progress=False)


def of_class(graph: dt.NetworkGraph) -> NDArray[np.int64]:
    return np.asarray(graph.unit_of % CLASSES)


def test_each_unit_costs_its_class() -> None:
    found = profiles()
    assert found.costs.shape == (2 * CLASSES * COPIES, CLASSES)
    assert found.costs.argmax(1).tolist() == [number % CLASSES for number in range(CLASSES * COPIES)] * 2
    assert found.names[CLASSES * COPIES] == "2 0"
    assert found.reliability > 0.95
    assert found.to_frame().loc["0 3", 3] == pytest.approx(found.costs[3, 3])
    assert json.loads(found.to_json())["names"][1] == "0 1"


def test_costs_are_those_of_the_network_written_out() -> None:
    network, split = planted(), samples()
    found = dt.lesion_profiles(network, split, progress=False)

    def losses(without: int | None) -> Tensor:
        hidden = network[:4](split.x)
        if without is not None:
            hidden = hidden.clone()
            hidden[:, without] = 0
        return nn.functional.cross_entropy(network[4](hidden), split.y, reduction="none")

    with torch.no_grad():
        for unit in (0, 7, 23):
            rise = losses(unit) - losses(None)
            by_class = [float(rise[split.y == number].mean()) for number in range(CLASSES)]
            assert found.costs[CLASSES * COPIES + unit] == pytest.approx(by_class, abs=1e-5)


def test_clusters_that_are_what_units_do_explain_all() -> None:
    found = profiles()
    beside = dt.function_of_clusters(found, of_class(found.graph), permutations=199)
    assert beside.by_clusters > 0.95
    assert beside.agreement == pytest.approx(1)
    assert beside.p_value == beside.p_agreement == beside.p_anywhere == 1 / 200
    assert "better than depth alone" in beside.verdict()


def test_clusters_of_weights_find_what_was_planted() -> None:
    network = planted()
    found = dt.clusterability(network, k=CLASSES, shuffles=0, progress=False)
    beside = dt.function_of_clusters(
        dt.lesion_profiles(network, samples(), graph=found.graph, progress=False), found
    )
    assert beside.p_value == 1 / 1000
    assert beside.agreement > 0.9


def test_bands_of_depth_tell_nothing_beyond_depth() -> None:
    found = profiles()
    beside = dt.function_of_clusters(found, found.graph.group_of, permutations=99)
    assert beside.p_value == beside.p_agreement == 1
    assert beside.gain == pytest.approx(0)
    assert "no more than depth" in beside.verdict()


def test_clusters_at_random_are_seldom_called_better() -> None:
    found = profiles()
    rng = np.random.default_rng(0)
    values = [
        dt.function_of_clusters(
            found, rng.integers(0, 4, len(found.graph)), permutations=19, seed=seed
        ).p_value
        for seed in range(80)
    ]
    assert 0.35 < np.mean(values) < 0.65
    assert np.mean(np.array(values) <= 0.1) < 0.2


def test_explained_is_the_share_of_sums_of_squares() -> None:
    rng = np.random.default_rng(1)
    points, groups = rng.normal(size=(30, 3)), rng.integers(0, 4, 30)
    within = sum(((points[groups == one] - points[groups == one].mean(0)) ** 2).sum() for one in range(4))
    assert explained(points, groups) == pytest.approx(1 - within / ((points - points.mean(0)) ** 2).sum())
    assert explained(np.ones((4, 2)), np.arange(4)) == 0


class Attending(nn.Module):
    """Two heads over one token each of two; the first passes on classes 0 and 1, the second 2 and 3."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Linear(4, 4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True, bias=False)
        self.output = nn.Linear(4, 4)
        with torch.no_grad():
            self.embed.weight.copy_(torch.eye(4))
            self.attention.in_proj_weight[8:].copy_(torch.eye(4))
            self.attention.out_proj.weight.copy_(torch.eye(4))
            self.output.weight.copy_(4 * torch.eye(4))

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x)[:, None].expand(-1, 2, -1)
        mixed, _ = self.attention(x, x, x, need_weights=False)
        logits: Tensor = self.output(mixed[:, 0])
        return logits


def test_heads_are_taken_out_whole() -> None:
    y = torch.arange(4).repeat(4)
    found = dt.lesion_profiles(Attending(), Split(torch.eye(4)[y], y), remove="heads", progress=False)
    assert [name.rpartition(" ")[2] for name in found.names] == ["0", "1"]
    first, second = found.costs
    assert min(first[:2]) > 0.5 > 0.1 > max(first[2:])
    assert min(second[2:]) > 0.5 > 0.1 > max(second[:2])


def test_what_cannot_be_compared_is_refused_with_the_way_out() -> None:
    network, split = planted(), samples()
    with pytest.raises(SpecError, match="no heads of attention; remove='units'"):
        dt.lesion_profiles(network, split, remove="heads", progress=False)
    with pytest.raises(SpecError, match="unknown thing to remove 'unit'; did you mean 'units'"):
        dt.lesion_profiles(network, split, remove="unit", progress=False)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="unknown layer '1'"):
        dt.lesion_profiles(network, split, layers=["1"], progress=False)
    with pytest.raises(DataError, match="two samples at least of each of two classes"):
        dt.lesion_profiles(network, split.where(split.y == 0), progress=False)
    with pytest.raises(DataError, match="this split has 0 such classes"):
        dt.lesion_profiles(network, samples(1), progress=False)
    found = profiles()
    with pytest.raises(ShapeError, match=r"measure profiles with graph=found\.graph"):
        dt.function_of_clusters(found, np.zeros(3, dtype=int))
    with pytest.raises(SpecError, match="there must be two clusters"):
        dt.function_of_clusters(found, np.zeros(len(found.graph), dtype=int))
    with pytest.raises(SpecError, match="permutations must be a whole number"):
        dt.function_of_clusters(found, of_class(found.graph), permutations=0)


def test_some_layers_are_enough() -> None:
    found = dt.lesion_profiles(planted(), samples(), layers=["2"], progress=False)
    assert {name.partition(" ")[0] for name in found.names} == {"2"}
    assert len(found.names) == CLASSES * COPIES
