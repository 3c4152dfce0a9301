from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

import dovetail as dt
from dovetail.data import Split
from dovetail.errors import DataError, DovetailError, MisfitError
from dovetail.specialists import Part
from dovetail.specialists.closed_form.combined import weighed
from dovetail.specialists.data_for import over_list

from ..helpers import make_team
from .helpers import CLASSES, data_of, split_of, team_of

DATA = data_of()
HARD = replace(
    DATA,
    val=Split(DATA.val.x + 3 * torch.randn(60, 6, generator=torch.Generator().manual_seed(0)), DATA.val.y),
)


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
    with pytest.raises(MisfitError, match="have different known classes"):
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


@settings(max_examples=8, deadline=None)
@given(st.permutations(CLASSES), st.booleans(), st.booleans())
def test_class_lists_in_another_order_are_joined_by_name(
    order: list[str], wider: bool, in_pair: bool
) -> None:
    """The second list in another order, with a name more or not, alone or in a combination of its own."""
    classes = (*order, *["fox"] * wider)
    nets = dt.compose(make_team(5, slots=True))
    first = dt.combine([nets, *team_of(DATA, features=6, seed=1)], HARD.val)
    own: list[Part] = [dt.compose(team_of(data)) for data in (DATA, over_list(DATA, classes))]
    if in_pair:
        own = [dt.combine([nets, sums], HARD) for sums in own]
    wanted, found = dt.combine([first, own[0]], HARD.val), dt.combine([first, own[1]], HARD)
    assert min(found.weights) > 0  # of samples as hard as these both have something to say
    assert found.weights == pytest.approx(wanted.weights, rel=1e-3)
    assert found.known == CLASSES
    assert found.classes == (*CLASSES, *["fox"] * wider)
    assert torch.allclose(found(DATA.test.x)[:, :5], wanted(DATA.test.x), rtol=1e-3, atol=1e-3)
    ours, theirs = found.answers(DATA.test), wanted.answers(DATA.test)
    assert np.allclose(ours.probabilities, theirs.probabilities, atol=1e-3)
    assert found.evaluate(DATA.test).rewarded_accuracy == wanted.evaluate(DATA.test).rewarded_accuracy
    # An id is of the joined list, a name is the same in all.
    assert set(found.without("cat").known) == {*CLASSES} - {"cat"} == set(found.without(2).known)
    assert np.allclose(
        found.without("cat").predict_proba(DATA.test), wanted.without(2).predict_proba(DATA.test), atol=1e-3
    )


def test_ids_that_could_mean_classes_of_either_list_are_refused() -> None:
    nets = dt.compose(make_team(5, slots=True))
    other = dt.compose(team_of(over_list(DATA, CLASSES[::-1])))
    with pytest.raises(MisfitError, match=r"different orders.*combine\(parts, data\)"):
        dt.combine([nets, other], DATA.val)
    # More names behind the same ones leave no doubt.
    longer = dt.compose(team_of(over_list(DATA, (*CLASSES, "fox"))))
    assert dt.combine([nets, longer], DATA.val).classes == (*CLASSES, "fox")
    some = data_of(0, ("bee", "ant"))
    assert dt.combine([nets, other], some).known == CLASSES  # samples of a few of the classes will do
    with pytest.raises(DataError, match="no samples of the classes"):
        dt.combine([nets, other], data_of(0, ("gnu", "hen")))


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
