"""Relearning: how fast a class is learnt again, against a loop written out and networks of which the order is known."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import dovetail as dt
from dovetail.errors import DataError, SpecError
from dovetail.specialists import relearn

DATA = dt.load("digits")
KEPT = [0, 1, 2, 4]


def learned(classes: list[int]) -> nn.Module:
    """Return a small network that learned some classes, with a plain loop."""
    network = dt.build_net("mlp:40,dropout=0", DATA.input_shape, DATA.outputs, seed=0)
    rows = torch.isin(DATA.train.y, torch.tensor(classes))
    x, y = DATA.train.x[rows], DATA.train.y[rows]
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        cross_entropy(network(x), y).backward()
        optimizer.step()
    return network.eval()


def test_a_class_whose_output_alone_was_cut_is_learnt_again_sooner_than_one_never_seen() -> None:
    knew, never = learned([*KEPT, 3]), learned(KEPT)
    with torch.no_grad():
        knew.get_parameter("output.weight")[3] = never.get_parameter("output.weight")[3]
    before = copy.deepcopy(knew.state_dict())
    fast, slow = (
        relearn(network, DATA.train, DATA.test, [3], KEPT, samples=[1, 50], steps=range(0, 60, 2), lr=1e-2)
        for network in (knew, never)
    )
    level = 0.9
    assert (fast.steps_until(level) or 1000) < (slow.steps_until(level) or 1000)
    assert sum(fast.accuracy[0]) > sum(slow.accuracy[0])  # from a single sample, too
    assert fast.samples_until(level) is not None
    for name, weights in knew.state_dict().items():
        assert torch.equal(weights, before[name])  # a copy was taught


def test_what_is_measured_is_the_mean_of_both_sides() -> None:
    network = learned([*KEPT, 3])
    found = relearn(network, DATA.train, DATA.test, [3], KEPT, samples=[5], steps=[0])
    with torch.no_grad():
        right = network(DATA.test.x).argmax(1) == DATA.test.y
    sides = [right[torch.isin(DATA.test.y, torch.tensor(ids))].double().mean() for ids in ([3], KEPT)]
    assert found.accuracy[0] == pytest.approx((sum(map(float, sides)) / 2,))
    assert found.steps_until(0.9) == 0


def test_all_samples_of_a_class_are_a_training_on_both_halves() -> None:
    """With as many samples as there are it learns as a loop does that draws half of each batch from each side."""
    found = relearn(learned(KEPT), DATA.train, DATA.test, [3], KEPT, samples=[10**6], steps=[0, 60], lr=1e-2)
    assert found.accuracy[0][0] < 0.6
    assert found.accuracy[0][1] > 0.95


def test_the_same_again_and_in_any_order() -> None:
    network = learned(KEPT)
    first = relearn(network, DATA.train, DATA.test, [3, 8], KEPT, samples=[5, 1], steps=[4, 0])
    again = relearn(network, DATA.train, DATA.test, [3, 8], KEPT, samples=[1, 5], steps=[0, 4])
    assert first == again
    assert first.samples == (1, 5)
    assert first.steps == (0, 4)


def test_what_cannot_be_learned_is_refused() -> None:
    network = learned(KEPT)
    without = DATA.train.where(DATA.train.y != 3)
    with pytest.raises(DataError, match="training samples of each class that is gone"):
        relearn(network, without, DATA.test, [3], KEPT)
    with pytest.raises(DataError, match="needs test samples"):
        relearn(network, DATA.train, DATA.test.where(DATA.test.y != 3), [3], KEPT)
    with pytest.raises(SpecError, match=r"from 1 and of steps from 0, not \[0\]"):
        relearn(network, DATA.train, DATA.test, [3], KEPT, samples=[0])
