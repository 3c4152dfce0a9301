from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import SpecError
from dovetail.specialists import add_weights, mix_logits, scale_weights, ties_weights
from dovetail.specialists.blueprint import State, pack


def states(count: int, seed: int) -> list[State]:
    draw = torch.Generator().manual_seed(seed)
    made = []
    for _ in range(count):
        w = torch.randn(3, 4, generator=draw)
        made.append(
            {"w": torch.where(torch.rand(3, 4, generator=draw) < 0.5, w, 0), "n": torch.tensor(count)}
        )
    return made


def ties_by_hand(values: list[float]) -> float:
    """One entry, the way the TIES paper puts it in words."""
    sign = np.sign(sum(values))
    agreeing = [v for v in values if v != 0 and np.sign(v) == sign]
    return float(np.mean(agreeing)) if agreeing else 0.0


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(0, 999))
def test_merges_are_what_they_say(count: int, seed: int) -> None:
    given_states = states(count, seed)
    stack = np.stack([state["w"].numpy() for state in given_states])
    np.testing.assert_allclose(add_weights(given_states)["w"], stack.sum(0), rtol=1e-6, atol=1e-6)
    factors = [0.5 + n for n in range(count)]
    scaled = np.tensordot(factors, stack, 1)
    np.testing.assert_allclose(scale_weights(given_states, factors)["w"], scaled, rtol=1e-5, atol=1e-5)
    by_hand = np.apply_along_axis(lambda v: ties_by_hand(list(v)), 0, stack)
    np.testing.assert_allclose(ties_weights(given_states)["w"], by_hand, rtol=1e-5, atol=1e-6)
    assert int(add_weights(given_states)["n"]) == count


def test_ties_trims_to_the_largest() -> None:
    (merged,) = ties_weights([{"w": torch.tensor([1.0, -4.0, 2.0, 3.0])}], keep=0.5).values()
    assert merged.tolist() == [0.0, -4.0, 0.0, 3.0]
    (sparse,) = ties_weights([{"w": torch.tensor([0.0, -4.0, 0.0, 3.0])}], keep=0.5).values()
    assert sparse.tolist() == [0.0, -4.0, 0.0, 0.0]  # of what is not 0
    with pytest.raises(SpecError, match="above 0"):
        ties_weights([{"w": torch.ones(2)}], keep=0.0)


def test_merging_does_not_change_what_is_merged() -> None:
    given_states = states(3, 0)
    before = [state["w"].clone() for state in given_states]
    merges = [
        add_weights(given_states),
        add_weights(given_states[:1]),
        ties_weights(given_states),
        scale_weights(given_states, [1, 2, 3]),
    ]
    for merged in merges:
        merged["w"].fill_(7)
    assert all(torch.equal(state["w"], old) for state, old in zip(given_states, before, strict=True))


def test_mixed_logits_are_the_weighted_sum() -> None:
    logits = torch.arange(12.0).reshape(2, 3, 2)
    assert torch.equal(mix_logits(logits, [0.25, 0.75]), 0.25 * logits[0] + 0.75 * logits[1])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 999), st.lists(st.integers(1, 4), min_size=0, max_size=3))
def test_packing_keeps_what_the_mask_keeps(seed: int, shape: list[int]) -> None:
    draw = torch.Generator().manual_seed(seed)
    tensor, mask = torch.randn(shape, generator=draw), torch.rand(shape, generator=draw) < 0.5
    packed = pack(tensor, mask)
    assert torch.equal(packed.dense(), torch.where(mask, tensor, 0))
    assert torch.equal(packed.mask(), mask)
    assert packed.kept == int(mask.sum())
    if shape:
        assert torch.equal(packed.sparse().to_dense(), packed.dense())
    assert torch.equal(pack(tensor).dense(), tensor)
    assert pack(tensor).mask().all()
