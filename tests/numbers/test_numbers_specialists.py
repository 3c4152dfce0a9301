"""Odd numbers and odd data for what trains, composes and measures specialists."""

from __future__ import annotations

import math

import pytest
import torch

import dovetail as dt
from dovetail.data import Dataset, Split
from dovetail.errors import DataError, MisfitError, ShapeError, TrainingError
from dovetail.specialists import Specialist, Team
from dovetail.specialists.blueprint import pack
from dovetail.specialists.evaluate import score_logits

from .odd_data import FEATURES, INF, NAN, constant_columns, data, one_sample, split


def trained(given: Dataset, rewarded: list[int] | None = None) -> Team:
    return dt.train_specialists(
        given, "mlp:8", rewarded, epochs=1, rounds=1, sparsity=0.2, device="cpu", progress=False
    )


@pytest.fixture(scope="module")
def team() -> Team:
    return trained(data())


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_data_that_is_not_finite_is_refused_wherever_it_comes_in(bad: float, team: Team) -> None:
    inputs = split(4, 3).x
    inputs[2, 1] = bad
    wrong = Split(inputs, torch.arange(4) % 3)
    with pytest.raises(DataError, match="odd, val split: inputs hold NaN or infinity"):
        Dataset("odd", split(4, 3), wrong, split(4, 3), ("a", "b", "c"))
    for measure in (lambda: team[0].evaluate(wrong), lambda: dt.connectivity([team[0], team[1]], wrong)):
        with pytest.raises(TrainingError, match="inputs of the given split hold NaN or infinity"):
            measure()
    with pytest.raises(DataError, match="inputs hold NaN or infinity"):
        dt.compatibility(team, inputs=inputs)
    with pytest.raises(DataError, match="inputs hold NaN or infinity"):
        dt.compose(team, "calibrated", inputs=inputs)


@pytest.mark.parametrize("bad", [NAN, INF])
def test_weights_that_are_not_finite_make_no_specialist(bad: float, team: Team) -> None:
    part = team[0]
    weights = {name: pack(tensor, None) for name, tensor in part.state.items()}
    weights["dense1.bias"].values[3] = bad
    with pytest.raises(DataError, match=r"weights 'dense1.bias' of a specialist hold NaN or infinity"):
        Specialist(part.blueprint, part.rewarded, weights, part.provenance)


def test_outputs_that_overflow_are_not_scored() -> None:
    with pytest.raises(DataError, match="outputs are NaN or infinite and cannot be scored"):
        score_logits(torch.full((1, 2, 3), NAN), torch.tensor([0, 1]), [(0,)], ["a", "b", "c"])


def test_training_that_diverges_is_told() -> None:
    with pytest.raises(TrainingError, match=r"networks diverged in round 1 .* lower lr"):
        dt.train_specialists(
            data(x=torch.tensor(3e38)), "mlp:8", lr=1e30, epochs=1, device="cpu", progress=False
        )


def test_one_class_is_always_right() -> None:
    only = data(1)
    (part,) = trained(only)
    score = part.evaluate(only.test)
    assert score.rewarded_accuracy == 1
    assert "undefined, all classes are rewarded" in repr(score)
    with pytest.raises(ShapeError, match="two specialists or more; got 1"):
        dt.compatibility([part])


def test_one_sample() -> None:
    one = one_sample()
    given = Dataset("one", one, one, one, ("a", "b"))
    (part,) = trained(given, [0])
    score = part.evaluate(one)
    assert score.samples == 1
    assert score.rewarded_accuracy in (0, 1)
    assert "undefined, there are no samples of other classes" in repr(score)
    with pytest.raises(DataError, match="one has no training samples of class b"):
        trained(given)


def test_no_sample(team: Team) -> None:
    none = Split(torch.zeros(0, FEATURES), torch.zeros(0, dtype=torch.int64))
    for measure in (lambda: team[0].evaluate(none), lambda: dt.connectivity([team[0], team[1]], none)):
        with pytest.raises(TrainingError, match="the given split has no samples"):
            measure()
    with pytest.raises(DataError, match="inputs hold no sample"):
        dt.compatibility(team, inputs=none.x)
    with pytest.raises(DataError, match="odd, test split: no samples"):
        Dataset("odd", split(4, 3), split(4, 3), none, ("a", "b", "c"))


@pytest.mark.parametrize(("name", "called"), [("train", "training"), ("val", "validation")])
def test_a_rewarded_class_that_a_split_lacks_is_named(name: str, called: str) -> None:
    with pytest.raises(DataError, match=f"odd has no {called} samples of class c2"):
        trained(data(missing={name: 2}))


def test_other_classes_may_lack() -> None:
    given = data(missing={"train": 2, "val": 2, "test": 1})
    for part in trained(given, [0, 1]):
        score = part.evaluate(given.test)
        assert score.class_accuracy.isnan().tolist() == [False, True, False]
        assert math.isnan(score.rewarded_accuracy) == (part.rewarded == (1,))


def test_labels_outside_the_classes(team: Team) -> None:
    for label in (-1, 3):
        wrong = Split(split(2, 2).x, torch.tensor([0, label]))
        with pytest.raises(DataError, match=r"class ids .* in the split"):
            team[0].evaluate(wrong)


def test_classes_of_the_same_name_are_refused() -> None:
    with pytest.raises(DataError, match="odd: several outputs are called a; give each a name of its own"):
        data(names=("a", "b", "a"))


def test_a_class_twice_among_parts(team: Team) -> None:
    with pytest.raises(MisfitError, match="both have class c0"):
        dt.compatibility([team[0], team[0]])
    with pytest.raises(MisfitError, match="both have class c0"):
        dt.compose([team[0], team[0]])


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_data_without_variance_gives_what_a_guess_gives(value: float) -> None:
    flat = data(x=torch.tensor(value))
    for part in trained(flat):
        score = part.evaluate(flat.test)
        # All samples look alike, so that a class is always or never right.
        assert sorted(set(score.class_accuracy.tolist())) in ([0.0], [0.0, 1.0])
        assert math.isfinite(score.loss)


def test_columns_without_variance_do_no_harm() -> None:
    flat = constant_columns()
    team = trained(flat)
    assert math.isfinite(team[0].evaluate(flat.test).loss)
    assert 0 <= dt.compatibility(team, inputs=flat.train.x).score <= 1
    assert dt.connectivity([team[0], team[1]], flat.test).relative.isfinite().all()


def test_the_calibrated_sum_takes_one_sample_and_constant_ones(team: Team) -> None:
    for inputs in (split(1, 1).x, torch.zeros(5, FEATURES)):
        composite = dt.compose(team, "calibrated", inputs=inputs)
        assert all(math.isfinite(weight) for weight in composite.weights)


def test_a_path_without_loss_is_connected(team: Team) -> None:
    nothing = [
        Specialist(
            part.blueprint,
            part.rewarded,
            {name: pack(torch.zeros_like(tensor), None) for name, tensor in part.state.items()},
            part.provenance,
        )
        for part in team[:2]
    ]
    undecided = Split(torch.zeros(4, FEATURES), torch.full((4,), 2))  # neither end's class: uniform is right
    found = dt.connectivity([nothing[0], nothing[1]], undecided)
    assert found.loss.abs().max() < 1e-12
    assert found.barrier == 0
    assert found.connected
