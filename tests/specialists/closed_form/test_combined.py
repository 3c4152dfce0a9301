from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

import dovetail as dt
from dovetail.errors import DataError, DovetailError, MisfitError
from dovetail.specialists.closed_form.combined import weighed

from ..helpers import make_team
from .helpers import CLASSES, data_of, split_of, team_of

DATA = data_of()


def loss(logits: np.ndarray, ids: np.ndarray) -> float:
    return float(-log_softmax(logits, 1)[range(len(ids)), ids].mean())


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 3), st.floats(0.01, 3))
def test_weights_are_the_best_of_a_fine_grid(seed: int, first: float, second: float) -> None:
    draw = np.random.default_rng(seed)
    ids = draw.integers(0, 3, 50)
    parts = np.stack([np.eye(3)[ids] + draw.normal(0, noise, (50, 3)) for noise in (first, second)])
    weights, losses = weighed(torch.from_numpy(parts), torch.from_numpy(ids))
    assert min(weights) >= 0
    assert losses[-1] == pytest.approx(loss(np.einsum("p,pnc->nc", weights, parts), ids), abs=1e-9)
    assert losses[-1] <= min(losses)
    # Where parts make no error larger weights are ever better, and the search ends near a loss of 0.
    near = 1e-4
    grid = np.concatenate([[0], np.geomspace(0.01, 30, 40)])
    assert losses[-1] <= min(loss(a * parts[0] + b * parts[1], ids) for a in grid for b in grid) + near
    for place in range(2):
        assert losses[place] <= min(loss(a * parts[place], ids) for a in grid) + near


def test_both_kinds_answer_together_and_noise_gets_nothing() -> None:
    nets, sums = make_team(5, slots=True), team_of(DATA)
    both = dt.combine([*nets, *sums], DATA.val)
    assert both.known == CLASSES
    alone = dt.compose(sums)
    assert both.losses[-1] <= min(both.losses)
    assert both.evaluate(DATA.test).rewarded_accuracy >= alone.evaluate(DATA.test).rewarded_accuracy - 0.05
    x = DATA.test.x
    wanted = both.weights[0] * dt.compose(nets)(x) + both.weights[1] * alone(x)
    assert torch.allclose(both(x), wanted, atol=1e-5)
    ready = both.with_threshold(DATA.val)
    assert ready.weights == both.weights
    assert set(ready.predict(x)) <= {*CLASSES, "undecided"}


def test_what_cannot_answer_together_is_refused() -> None:
    sums = dt.compose(team_of(DATA))
    with pytest.raises(MisfitError, match="combine takes parts of both kinds"):
        dt.combine([sums], DATA.val)
    with pytest.raises(MisfitError, match="have different known classes"):
        dt.combine([*make_team(4, slots=True), sums], DATA.val)
    with pytest.raises(MisfitError, match="have different class lists"):
        dt.combine([*make_team(5, slots=True), dt.compose(team_of(data_of(0, ("a", "b"))))], DATA.val)
    pair = dt.combine([*make_team(5, slots=True), sums], DATA.val)
    with pytest.raises(DovetailError, match="has no file of its own; save its parts"):
        pair.save("pair.safetensors")
    with pytest.raises(MisfitError, match="was weighed on validation samples as it is"):
        pair + sums
    two = dt.combine([*make_team(2, slots=True), sums.without("cat", "dog", "eel")], DATA.val)
    assert two.known == ("ant", "bee")
    others = split_of(10, 0)
    with pytest.raises(DataError, match="no samples of the classes that these parts know"):
        dt.combine(two.parts, others.where(others.y > 1))


def test_what_is_no_list_of_parts_is_refused() -> None:
    sums = dt.compose(team_of(DATA))
    with pytest.raises(MisfitError, match=r"a list of parts of both kinds, not Sums\(ant, bee"):
        dt.combine(sums, DATA.val)
    for nothing in (None, 3):
        with pytest.raises(
            MisfitError, match=f"a list of parts of both kinds, not .*{type(nothing).__name__}"
        ):
            dt.combine(nothing, DATA.val)  # type: ignore[arg-type]
    for wrong in (3, None, torch.nn.Linear(6, 5), "ten.safetensors", [sums]):
        with pytest.raises(MisfitError, match=f"not a value of type {type(wrong).__name__}; dovetail.open"):
            dt.combine([sums, wrong], DATA.val)  # type: ignore[list-item]
    with pytest.raises(MisfitError, match="not a value of type str; dovetail"):
        dt.combine("ten.safetensors", DATA.val)  # type: ignore[arg-type]
