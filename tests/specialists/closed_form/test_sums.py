from __future__ import annotations

import copy
import itertools
import pickle
import random
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

import dovetail as dt
from dovetail.data import Dataset, Split
from dovetail.errors import DataError, DovetailWarning, MisfitError, SpecError
from dovetail.specialists import add_class
from dovetail.specialists.closed_form.basis import UNIT
from dovetail.specialists.closed_form.blueprint import joined_classes
from dovetail.specialists.closed_form.sums import Sums
from dovetail.specialists.closed_form.tuning import Tuning

from ..helpers import make_specialist
from .helpers import CLASSES, data_of, split_of, team_of

DATA = data_of()


def added(parts: list[Sums]) -> Sums:
    whole = reduce(add, parts)
    assert isinstance(whole, Sums)
    return whole


def same_to_the_bit(a: Sums, b: Sums) -> bool:
    """Whether sums, solutions and outputs are equal in every bit."""
    return (
        a == b
        and torch.equal(a.second_moment, b.second_moment)
        and torch.equal(a.first_moments, b.first_moments)
        and torch.equal(a.weights, b.weights)
        and torch.equal(a(DATA.test.x), b(DATA.test.x))
    )


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(5)), st.permutations(range(5)), st.integers(1, 4), st.booleans())
def test_order_never_matters_and_leaving_out_is_training_without(
    order: list[int], other: list[int], count: int, solved_before: bool
) -> None:
    team = team_of(DATA)
    whole = added([team[place] for place in order])
    if solved_before:  # moments are then subtracted, not added up
        whole.weights  # noqa: B018
    gone = other[:count]
    left = whole
    for place in gone:
        left = left - team[place]
    keep = [number for number in range(5) if number not in gone]
    rows = torch.isin(DATA.train.y, torch.tensor(keep))
    fresh = added(team_of(Dataset("fewer", DATA.train.where(rows), DATA.val, DATA.test, CLASSES)))
    assert same_to_the_bit(left, fresh)
    assert same_to_the_bit(whole.without(*gone), fresh)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 2), min_size=60, max_size=60), st.booleans())
def test_contributors_add_and_leave_without_a_trace(seed: int, owners: list[int], moments: bool) -> None:
    owner = torch.tensor(owners)
    shares = [DATA.train.where(owner == number) for number in range(3) if (owner == number).any()]
    parts = [
        added(
            team_of(
                Dataset("share", share, DATA.val, DATA.test, CLASSES),
                keep="moments" if moments else "samples",
            )
        )
        for share in shares
    ]
    random.Random(seed).shuffle(parts)
    whole = added(parts)
    assert same_to_the_bit(whole, added(team_of(DATA, keep="moments" if moments else "samples")))
    if len(parts) > 1:
        assert same_to_the_bit(whole - parts[0], added(parts[1:]))


def test_on_digits_leaving_out_is_training_without() -> None:
    data = dt.load("digits")
    team = dt.sums(data, features=400)
    whole = added(team)
    whole.weights  # noqa: B018
    for gone in (0, 3, 9):
        never = added([part for place, part in enumerate(team) if place != gone])
        left = whole.without(gone)
        assert left == never
        assert left.sums_digest == never.sums_digest
        assert torch.equal(left.weights, never.weights)
        assert left.evaluate(data.test).rewarded_accuracy > 0.95
    assert whole.evaluate(data.test).rewarded_accuracy > 0.95


@pytest.mark.parametrize("keep", ["samples", "moments"])
def test_single_samples_are_taken_out(keep: str) -> None:
    whole = added(team_of(DATA, keep=keep))
    gone, stay = torch.arange(60) < 13, torch.arange(60) >= 13
    left = whole.minus(DATA.train.where(gone))
    fresh = team_of(Dataset("fewer", DATA.train.where(stay), DATA.val, DATA.test, CLASSES), keep=keep)
    assert same_to_the_bit(left, added(fresh))
    assert left.samples == 47


def test_what_is_not_there_cannot_be_taken_out() -> None:
    team = team_of(DATA, keep="samples")
    changed = DATA.train.x.clone()
    changed[:25] += 1.0
    with pytest.raises(MisfitError, match="5 of these 12 samples are not in the sums"):
        added(team).minus(Split(changed, DATA.train.y))
    with pytest.raises(MisfitError, match="holds no class bee, so it cannot be taken out"):
        team[0] - team[1]
    with pytest.raises(MisfitError, match="holds no class bee, so it cannot be taken out"):
        team[0].without("bee")
    with pytest.raises(MisfitError, match="sums of nothing"):
        team[0].without("ant")


def test_the_solution_is_that_of_ridge_regression() -> None:
    whole = added(team_of(DATA)).with_tuning(ridge=2.0, temperature=0.5)
    basis = whole.blueprint.basis
    features = basis.features_of(basis.numbers(DATA.train.x)).double().numpy() / UNIT
    wanted = Ridge(alpha=2.0, fit_intercept=False, solver="svd").fit(
        features, np.eye(5)[DATA.train.y.numpy()]
    )
    np.testing.assert_allclose(whole.weights.numpy(), wanted.coef_.T, rtol=1e-7, atol=1e-9)
    rounded = basis.features_of(basis.numbers(DATA.test.x)).double().numpy() / UNIT
    # A network does not round features, which changes scores by a little.
    np.testing.assert_allclose(whole(DATA.test.x).numpy(), rounded @ wanted.coef_.T / 0.5, atol=0.1)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True), min_size=1, max_size=4)
)
def test_class_lists_are_joined_in_whatever_order_and_steps(lists: list[list[str]]) -> None:
    whole = joined_classes(lists)
    for order in itertools.permutations(lists):
        assert joined_classes(order) == whole
        assert reduce(lambda one, other: joined_classes([one, other]), order[1:], tuple(order[0])) == whole


def test_lists_of_classes_are_joined_by_name() -> None:
    theirs = data_of(1, ("fox", "cat", "gnu"))
    ours, other = added(team_of(DATA)), added(team_of(theirs))
    both = ours + other
    assert isinstance(both, Sums)
    assert both == other + ours
    assert both.classes == ("ant", "bee", "cat", "dog", "eel", "fox", "gnu")
    assert both.counts["cat"] == ours.counts["cat"] + other.counts["cat"]
    assert both.without("fox", "gnu").counts == {**ours.counts, "cat": both.counts["cat"]}
    everyone = data_of(2, both.classes, count=140)
    assert both.evaluate(everyone.test).rewarded_accuracy > 0.7
    assert set(both.predict(everyone.test.x)) <= set(both.classes)


@pytest.mark.parametrize("solved_before", [False, True])
def test_a_joined_list_stays_and_all_that_follows_from_samples_is_as_if_it_had_not_been(
    solved_before: bool,
) -> None:
    theirs, ours = added(team_of(data_of(1, ("fox", "cat", "gnu")))), added(team_of(DATA, keep="samples"))
    ours = ours.rename({"ant": "zebra"})  # so that the list is in another order than the joined one
    both = added([ours, theirs])
    if solved_before:
        both.weights  # noqa: B018
    left = both - theirs
    assert left.counts == ours.counts
    assert left.classes == ("bee", "cat", "dog", "eel", "fox", "gnu", "zebra") != ours.classes
    assert left != ours
    assert left.sums_digest == ours.sums_digest
    assert left.solution_digest == ours.solution_digest
    order = [left.known.index(name) for name in ours.known]
    assert torch.equal(left.weights[:, order], ours.weights)
    assert np.array_equal(left.predict(DATA.test.x), ours.predict(DATA.test.x))
    outputs = left(DATA.test.x)
    assert not outputs[:, [4, 5]].any()
    np.testing.assert_allclose(
        outputs[:, [left.classes.index(name) for name in ours.classes]], ours(DATA.test.x), atol=1e-5
    )


def test_renamed_classes_meet_those_of_that_name() -> None:
    ours = added(team_of(DATA))
    theirs = ours.rename({"cat": "Katze", "ant": "Ameise"})
    assert theirs.classes == ("Ameise", "bee", "Katze", "dog", "eel")
    assert torch.equal(theirs.weights, ours.weights[:, [0, 1, 2, 3, 4]])
    more = added(team_of(data_of(1)))
    again = more.rename({"cat": "Katze", "ant": "Ameise"})
    assert added([ours, again.rename({"Katze": "cat", "Ameise": "ant"})]) == added([ours, more])
    assert added([ours, again]).counts["bee"] == 24
    with pytest.raises(SpecError, match="several classes would be called 'dog'"):
        ours.rename({"cat": "dog"})
    with pytest.raises(SpecError, match="unknown class 'yak'"):
        ours.rename({"yak": "cow"})


def test_it_answers_as_other_parts_do() -> None:
    part = added(team_of(DATA)).tuned(DATA.val)
    three = part.without("ant", "eel").with_threshold(DATA.val, "10%")
    assert three.known == ("bee", "cat", "dog")
    probabilities = three.predict_proba(DATA.test)
    np.testing.assert_allclose(probabilities.sum(1), 1)
    assert probabilities.shape == (60, 3)
    score = three.evaluate(DATA.test)
    assert score.rewarded == (1, 2, 3)
    assert score.unknown_auroc is not None
    assert score.unknown_auroc > 0.6
    assert 0.7 < score.coverage < 1
    assert (three.predict(DATA.test, undecided=1.0) == "undecided").all()
    assert three.threshold is not None
    assert three.without("bee").threshold is None


def test_tuning_follows_from_the_samples() -> None:
    whole = added(team_of(DATA))
    by_itself, on_val = whole.tuned(), whole.tuned(DATA.val)
    assert by_itself.tuning.chosen_on == "leave one out of 60"
    assert on_val.tuning.chosen_on == "60 validation samples"
    assert whole.without("cat").tuned() == by_itself.without("cat").tuned()
    assert by_itself.without("cat").tuning == by_itself.tuning
    # On samples of known classes alone.
    assert whole.without("cat").tuned(DATA.val).tuning.chosen_on == "48 validation samples"
    with pytest.raises(DataError, match="holds the moments of classes, not their samples"):
        whole.with_moments().tuned()
    assert whole.with_moments().tuned(DATA.val).tuning == on_val.tuning


def test_tuning_goes_along_and_clashes_are_refused() -> None:
    one, two, *_ = team_of(DATA)
    tuned = one.with_tuning(ridge=5.0)
    both = tuned + two
    assert isinstance(both, Sums)
    assert both.tuning == Tuning(ridge=5.0)
    assert both == two + tuned
    with pytest.raises(MisfitError, match=r"were tuned differently \(ridge 5"):
        tuned + two.with_tuning(ridge=7.0)


@pytest.mark.parametrize(
    ("tuning", "said"),
    [
        (
            {"ridge": -1},
            r"ridge must be above 0 and at most 1000000000.0, not -1: what is added to the diagonal",
        ),
        ({"ridge": "x"}, r"ridge must be a number, not 'x': what is added to the diagonal"),
        ({"ridge": float("nan"), "temperature": 1}, r"ridge must be a number, not nan: what is added"),
        ({"temperature": 0}, r"temperature must be from 0.02 to 2.0, not 0: what scores are divided by"),
    ],
)
def test_tuning_out_of_bounds_is_refused_with_its_bounds(tuning: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=rf"^{said}[a-z ]*$"):
        team_of(DATA)[0].with_tuning(**tuning)


def test_sums_of_other_features_are_refused() -> None:
    one = team_of(DATA)[0]
    for other, what in (
        (team_of(DATA, features=41)[1], "different features"),
        (team_of(DATA, seed=1)[1], "different features"),
        (team_of(DATA, length=2.0)[1], "different features"),
    ):
        with pytest.raises(MisfitError, match=what):
            one + other
    with pytest.raises(MisfitError, match=r"not made of sums.*dovetail\.combine"):
        one + make_specialist((1,))
    with pytest.raises(MisfitError, match=r"not made of specialists.*dovetail\.combine"):
        make_specialist((1,)) + one
    with pytest.raises(MisfitError, match=r"dovetail\.combine"):
        dt.compose([make_specialist((1,)), one])
    with pytest.raises(SpecError, match="sums are added"):
        dt.compose(team_of(DATA), "logits")


def test_compose_adds_whatever_it_is_given() -> None:
    team = team_of(DATA)
    assert dt.compose(team) == added(team)
    assert dt.compose(part for part in team) == added(team)
    assert dt.compose(team[0]) == team[0]
    assert [part.known for part in added(team)] == [(name,) for name in CLASSES]


def test_copies_and_pickles_are_the_same_and_hold_no_solution() -> None:
    whole = added(team_of(DATA)).tuned()
    before = len(pickle.dumps(whole))
    whole.weights  # noqa: B018
    assert len(pickle.dumps(whole)) <= before + 100
    for twin in (copy.deepcopy(whole), pickle.loads(pickle.dumps(whole))):
        assert same_to_the_bit(twin, whole)
    with pytest.raises(AttributeError, match="a Sums is frozen"):
        whole.tuning = Tuning()


def test_a_network_of_plain_layers(tmp_path: Path) -> None:
    whole = added(team_of(DATA)).without("bee")
    network = whole.module(known_only=True)
    assert network(DATA.test.x).shape == (60, 4)
    assert torch.equal(network(DATA.test.x), whole(DATA.test.x)[:, [0, 2, 3, 4]])
    found = whole.export(tmp_path / "four.pt2")
    assert found.outputs == ("ant", "cat", "dog", "eel")
    assert set(whole.state_dict()) == {"features.weight", "output.weight"}


def test_on_a_trunk_from_raw_samples() -> None:
    data = dt.load("digits")
    draw = torch.Generator().manual_seed(0)
    first = torch.nn.Linear(64, 32)
    first.weight.data = torch.randn(32, 64, generator=draw) / 8
    trunk = dt.trunk(torch.nn.Sequential(torch.nn.Flatten(), first, torch.nn.ReLU(), torch.nn.Linear(32, 10)))
    features = trunk.features(data, scale=False, progress=False)
    whole = added(dt.sums(features, features=200))
    from_raw = whole.module(trunk)(data.test.x)
    assert torch.allclose(from_raw, whole(features.test.x), atol=1e-4)
    assert (whole.predict(data.test.x) == whole.predict(features.test)).all()


def test_linear_sums_and_tables() -> None:
    linear = added(team_of(DATA, features=None))
    assert linear.blueprint.basis.size == 7
    assert linear.evaluate(DATA.test).rewarded_accuracy > 0.6
    rows = DATA.train.x.double().numpy()
    table = Dataset.from_arrays(rows, [CLASSES[number] for number in DATA.train.y.tolist()])
    part = added(team_of(table))
    assert part.blueprint.basis.length == pytest.approx(6**0.5)
    assert part.predict(rows).shape == (60,)


def test_what_is_no_data_for_sums_is_refused() -> None:
    with pytest.raises(DataError, match="give a Dataset"):
        dt.sums([1, 2])  # type: ignore[arg-type]
    split = Split(torch.zeros(4, 2), torch.zeros(4, 1))
    with pytest.raises(DataError, match="sums need data with classes"):
        dt.sums(Dataset("values", split, split, split, ("height",), task="values"))
    some = DATA.train.where(DATA.train.y != 2)
    fewer = Dataset("fewer", some, DATA.val, DATA.test, CLASSES)
    with pytest.warns(
        DovetailWarning, match="fewer has no training samples of class cat, so there is no part of it"
    ):
        parts = dt.sums(fewer, features=5)
    assert [part.known for part in parts] == [("ant",), ("bee",), ("dog",), ("eel",)]
    with pytest.raises(DataError, match="fewer has no training samples of class cat"):
        dt.sums(fewer, ["cat"], features=5)
    with pytest.raises(DataError, match="class ids 0 to 9, and there are 5 classes"):
        added(team_of(DATA)).minus(Split(torch.zeros(10, 6), torch.arange(10)))
    (pair,) = dt.sums(DATA, [("ant", "eel")], features=5)
    assert pair.known == ("ant", "eel")


def test_splits_with_the_samples_of_a_class_twice_hold_them_twice() -> None:
    rows = split_of(10, 4)
    double = Split(torch.cat([rows.x, rows.x]), torch.cat([rows.y, rows.y]))
    one, two = (added(team_of(Dataset("d", s, DATA.val, DATA.test, CLASSES))) for s in (rows, double))
    assert two.samples == 2 * one.samples
    assert torch.equal(two.second_moment, 2 * one.second_moment)
    assert two - one == one


@pytest.mark.parametrize("keep", ["samples", "moments"])
def test_what_would_count_the_same_samples_twice_is_refused(keep: str) -> None:
    team = team_of(DATA, keep=keep)
    said = "hold the same samples of class cat, which would count twice"
    for parts in ([team[2], team[2]], [added(team), team[2]], [team[2], team[0], added(team[2:])]):
        with pytest.raises(MisfitError, match=said):
            dt.compose(parts)
        with pytest.raises(MisfitError, match=said):
            added(parts)
    with pytest.raises(SpecError, match=r"has a part of cat twice.*count twice; name it once"):
        dt.sums(DATA, ["cat", 0, 2], features=5)
    with pytest.raises(SpecError, match="has a part of ant, cat twice"):
        dt.sums(DATA, [("cat", "ant"), (0, 2)], features=5)
    overlapping = dt.sums(DATA, [("cat", "ant"), ("cat", "bee")], features=5)
    with pytest.raises(MisfitError, match=said):
        dt.compose(overlapping)
    # Other samples of the same class, and just as many, are more samples.
    assert added([team[2], team_of(data_of(1), keep=keep)[2]]).samples == 24


def test_a_class_is_added_to_sums_without_training() -> None:
    whole = added(team_of(DATA)[:4])
    with pytest.raises(
        MisfitError, match=r"made of sums, which need no training.*dovetail\.sums\(data\).*with \+"
    ):
        add_class(whole, DATA, rewarded=["eel"])  # type: ignore[arg-type]
    (eel,) = dt.sums(DATA, ["eel"], features=40)
    assert whole + eel == added(team_of(DATA))
    for wrong in (team_of(DATA), make_specialist((1,)), None):
        with pytest.raises(MisfitError, match=f"not to a value of type {type(wrong).__name__}; dovetail"):
            add_class(wrong, DATA)  # type: ignore[arg-type]
