from __future__ import annotations

import itertools

import pytest
import torch

import dovetail as dt
from dovetail.errors import MisfitError, ShapeError
from dovetail.specialists.blueprint import State
from dovetail.specialists.composing import path_separation

from .helpers import inputs, make_specialist, make_team


def enumerated_separation(states: list[State], layers: list[str]) -> float:
    """Walk every path, taking at each layer the weight of some network: pure paths over all paths."""
    pure = total = 0.0
    sizes = [states[0][layers[0]].shape[1], *(states[0][name].shape[0] for name in layers)]
    for units in itertools.product(*(range(size) for size in sizes)):
        for owners in itertools.product(range(len(states)), repeat=len(layers)):
            strength = 1.0
            for number, (name, owner) in enumerate(zip(layers, owners, strict=True)):
                strength *= float(states[owner][name][units[number + 1], units[number]]) ** 2
            total += strength
            pure += strength if len(set(owners)) == 1 else 0.0
    return pure / total


@pytest.mark.parametrize("count", [2, 3])
def test_separation_counts_every_path(count: int) -> None:
    parts = [make_specialist((n,), "mlp:3-4", shape=(2,), density=0.7) for n in range(count)]
    states = [part.state for part in parts]
    by_hand = enumerated_separation(states, ["dense1.weight", "dense2.weight", "output.weight"])
    assert path_separation(states) == pytest.approx(by_hand)
    assert 0 < by_hand < 1
    assert dt.compatibility(parts).separation == pytest.approx(by_hand)


@pytest.mark.parametrize(("net", "shape"), [("mlp:15-10", (6,)), ("lenet:10-10-5", (1, 6, 6))])
def test_slots_are_wholly_separate(net: str, shape: tuple[int, ...]) -> None:
    team = [make_specialist((n,), net, slots=True, shape=shape) for n in range(5)]
    found = dt.compatibility(team, inputs=inputs(20, shape))
    assert found.separation == pytest.approx(1)
    assert found.interference == pytest.approx(0, abs=1e-4)
    assert found.mask_overlap == 0
    plain = [make_specialist((n,), net, shape=shape) for n in range(5)]
    assert dt.compatibility(plain).score < 0.5


def test_overlap_and_conflicts_count_entries() -> None:
    a, b = make_team(2)
    both = either = against = 0
    for name, mask in a.masks.items():
        shared = mask & b.masks[name]
        both += int(shared.sum())
        either += int((mask | b.masks[name]).sum())
        against += int((shared & (a.state[name].sign() != b.state[name].sign())).sum())
    found = dt.compatibility([a, b])
    assert found.mask_overlap == pytest.approx(both / either)
    assert found.sign_conflicts == pytest.approx(against / both)
    assert found.interference is None
    assert "mask overlap" in repr(found)


def test_interference_is_what_merging_changes() -> None:
    a, b = make_team(2)
    x = inputs(30)
    apart, merged = a(x) + b(x), (a + b)(x)
    gap, wanted = (t - t.mean(1, keepdim=True) for t in (merged - apart, apart))
    found = dt.compatibility([a, b], inputs=x)
    assert found.interference == pytest.approx(float(gap.norm() / wanted.norm()), rel=1e-4)


def test_agreement_weighs_inputs_by_what_is_claimed() -> None:
    a, b = make_specialist((0,)), make_specialist((1, 3))
    x = inputs(30)
    said = (a + b)(x).argmax(1)
    agreed = claimed = 0.0
    for part in (a, b):
        probability = part(x).softmax(1)
        for number in part.rewarded:
            for row in range(30):
                claim = max(0.0, (float(probability[row, number]) - 0.2) / 0.8)
                claimed += claim
                agreed += claim * (int(said[row]) == number)
    found = dt.compatibility([a, b], inputs=x)
    assert found.score == found.agreement == pytest.approx(agreed / claimed, rel=1e-5)
    assert 0 < found.score < 1


def test_networks_that_form_no_chain_have_no_separation() -> None:
    parts = [make_specialist((n,), "resnet18", shape=(1, 2, 2), density=0.05) for n in (0, 1)]
    found = dt.compatibility(parts)
    assert found.separation is None
    assert found.score == pytest.approx(1 - found.mask_overlap)


def test_what_cannot_be_compared_is_said() -> None:
    a, b = make_team(2)
    with pytest.raises(ShapeError, match="two specialists or more; got 1"):
        dt.compatibility([a])
    with pytest.raises(MisfitError, match="different networks"):
        dt.compatibility([a, make_specialist((1,), "mlp:13")])
    assert dt.compatibility([a + b, make_specialist((2,))]).mask_overlap > 0
    assert torch.isfinite(
        torch.tensor(dt.compatibility([a, make_specialist((0,), density=1.1)], force=True).score)
    )
