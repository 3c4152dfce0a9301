from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import dovetail as dt
from dovetail.errors import DataError, MisfitError, SpecError
from dovetail.specialists import audit_drop, hidden_activations, probe_accuracy
from dovetail.specialists.audit.retraining import retrained_composite
from dovetail.specialists.blueprint import Packed, State
from dovetail.specialists.merge import add_packed

from .helpers import inputs, make_specialist

DATA = dt.load("digits")


def test_hidden_activations_are_what_the_output_layer_reads() -> None:
    network = dt.build_net("mlp:7-5,dropout=0.5", (6,), 3, seed=0)
    x = inputs(2500)
    hidden = hidden_activations(network, x)
    assert hidden.shape == (2500, 5)
    torch.testing.assert_close(hidden @ network.output.weight.T, network.eval()(x))  # type: ignore[union-attr, operator]
    a, b = make_specialist((0,)), make_specialist((1,))
    both = dt.compose([a, b], "logits").module()
    assert torch.equal(hidden_activations(both, x)[:, :12], hidden_activations(a.module(), x))
    with pytest.raises(SpecError, match="runs no dense layer"):
        hidden_activations(torch.nn.ReLU(), x)


def test_a_probe_finds_what_is_there_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    y = torch.from_numpy(rng.integers(0, 5, 2000))
    told = torch.from_numpy(rng.normal(size=(2000, 3)))
    told[:, 1] += 4 * (y == 2)
    train, test = (dt.Split(told[part], y[part]) for part in (slice(0, 1000), slice(1000, None)))
    assert probe_accuracy(train, test, 2) > 0.95
    assert abs(probe_accuracy(train, test, 3) - 0.5) < 0.1
    with pytest.raises(DataError, match="one side only"):
        probe_accuracy(train, test, 7)


@pytest.mark.slow
def test_the_audit_compares_with_networks_that_never_had_the_class() -> None:
    team = dt.train_specialists(DATA, "mlp:50", slots=True, epochs=25, patience=None, progress=False)
    whole = dt.compose(team)
    found = audit_drop(whole, 3, DATA, progress=False)
    assert found.same_as_never_added
    rows = {str(row["network"]): row for row in found.to_frame().to_dict("records")}

    def value(network: str, column: str) -> float:
        return float(rows[network][column])

    assert value("composite with it", "accuracy on it") > 0.7
    assert value("generalist", "accuracy on it") > 0.7
    for name in ("composite without it", "composite that never saw it", "generalist retrained without it"):
        assert value(name, "accuracy on it") == 0
        assert value(name, "accuracy on the others") > 0.7
    assert value("composite without it", "entropy on it") > value("composite with it", "entropy on it")
    assert all(0.5 < value(name, "probe") <= 1 for name in rows)
    assert list(rows)[-2:] == ["untrained network", "raw inputs"]
    assert "unlearn" not in found.finding
    assert "no proof" in found.finding
    assert json.dumps(found.to_dict(), allow_nan=False)
    after = whole.without(3).evaluate(DATA.test)
    assert value("composite without it", "accuracy on it") == float(after.class_accuracy[3])
    assert value("composite without it", "accuracy on the others") == pytest.approx(after.rewarded_accuracy)


def test_an_audit_needs_the_data_of_the_specialists() -> None:
    team = dt.train_specialists(DATA, "mlp:20", [0, (1, 2)], slots=True, epochs=1, progress=False)
    other = dt.Dataset("digits", DATA.train.where(torch.arange(500)), DATA.val, DATA.test, DATA.classes)
    with pytest.raises(DataError, match="trained on other data than this digits"):
        audit_drop(dt.compose(team), 0, other)
    with pytest.raises(MisfitError, match="together with"):
        audit_drop(dt.compose(team), 1, DATA)


def test_an_audit_takes_nothing_but_settings_from_a_file(tmp_path: Path) -> None:
    team = dt.train_specialists(DATA, "mlp:20", [0, 1], slots=True, epochs=1, progress=False)
    for extra in ({"folder": str(tmp_path / "victim"), "replace": True}, {"warm_start": 3}, {"lr": "1"}):
        provenance = replace(team[0].provenance, training={**team[0].provenance.training, **extra})
        forged = dt.Specialist(team[0].blueprint, (0,), team[0].weights, provenance)
        with pytest.raises(SpecError, match=r"settings of a training|lr must be a number"):
            audit_drop(dt.compose([forged, team[1]]), 1, DATA, progress=False)
    assert not list(tmp_path.iterdir())


def test_several_classes_weighted_logits_and_specialists_that_saw_nothing() -> None:
    team = dt.train_specialists(
        DATA, "mlp:30", [0, 1, (2, 3)], loss="xe", slots=True, epochs=8, progress=False
    )
    found = audit_drop(dt.compose(team, "logits", weights=[3, 2, 1]), ["2", 3], DATA, progress=False)
    assert found.dropped == ("2", "3")
    assert found.same_as_never_added
    assert "never saw a sample of it" in found.finding
    assert "no proof" not in found.finding
    row = found.to_frame().to_dict("records")[1]
    score = found.scores["composite without it"]
    assert row["accuracy on it"] == pytest.approx(
        int(score.confusion[[2, 3], [2, 3]].sum()) / int(score.confusion[2:4].sum())
    )


@pytest.mark.slow
def test_specialists_of_one_class_and_two_seeds_are_retrained_each_with_its_own() -> None:
    team = dt.train_specialists(DATA, "mlp:10", [0, 1], seeds=[0, 1], epochs=1, progress=False, device="cpu")
    twins = dt.compose([team[0], team[1], team[2]], "logits", force=True)
    again = retrained_composite(twins, DATA, "cpu", progress=False)
    assert again == twins  # on the same data it is the same training


def test_only_those_that_are_left_count_as_having_seen_the_class() -> None:
    options: dict[str, Any] = {"slots": True, "epochs": 1, "progress": False}
    strict = dt.train_specialists(DATA, "mlp:20", [0, 1], loss="xe", **options)
    (open_minded,) = dt.train_specialists(DATA, "mlp:20", [2], loss="me", **options)
    whole = dt.compose([*strict, open_minded])
    assert not audit_drop(whole, 2, DATA, progress=False).seen
    assert audit_drop(whole, 1, DATA, progress=False).seen


def test_noise_in_the_merging_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said to be the same bit for bit is compared bit for bit."""
    team = dt.train_specialists(DATA, "mlp:20", [0, 1, 2], slots=True, epochs=1, progress=False)
    whole = team[0] + team[1] + team[2]
    assert (whole - team[1]) + team[1] == whole

    def noisy(packed: Sequence[Mapping[str, Packed]]) -> State:
        return {name: tensor + 1e-6 * torch.rand(()) for name, tensor in add_packed(packed).items()}

    monkeypatch.setattr("dovetail.specialists.composite.add_packed", noisy)
    whole = team[0] + team[1] + team[2]
    assert (whole - team[1]) + team[1] != whole
    assert not audit_drop(whole, 1, DATA, progress=False).same_as_never_added


SUMS = dt.compose(dt.sums(DATA, features=60))


def test_sums_without_a_class_are_proven_and_cannot_be_told_from_those_that_never_had_it() -> None:
    found = audit_drop(SUMS, "3", DATA, progress=False)
    assert found.kind == "sums"
    assert found.same_as_never_added
    assert not found.seen
    for numbers in (found.relearning, found.membership, found.probes):
        assert numbers[found.without] == numbers[found.unseen]
    assert torch.equal(found.scores[found.without].confusion, found.scores[found.unseen].confusion)
    assert (
        "bit for bit those of the other classes added up, and those of the data's samples" in found.proven[0]
    )
    assert "are, bit for bit, what the data without its samples gives" in found.finding
    assert "no proof" not in found.finding
    rows = {str(row["network"]): row for row in found.to_frame().to_dict("records")}
    whole, left = rows["sums with it"], rows["sums without it"]
    assert float(left["accuracy on it"]) == 0
    assert float(whole["accuracy on it"]) > 0.7
    level = 0.9 * (float(whole["accuracy on it"]) + float(whole["accuracy on the others"])) / 2
    assert found.level == pytest.approx(level)
    assert left["steps to relearn"] == found.relearning[found.unseen].steps_until(level)
    assert json.loads(found.to_json())["membership"]["sums with it"]["members"] == int(
        (DATA.train.y == 3).sum()
    )


def test_sums_of_other_samples_than_the_data_has_are_refused() -> None:
    few = DATA.train.where(torch.arange(3))
    with pytest.raises(DataError, match="holds other samples than these"):
        audit_drop(SUMS.minus(few), "3" if 3 not in few.y else "9", DATA, progress=False)


def test_a_combination_says_of_each_part_what_holds_of_it() -> None:
    team = dt.train_specialists(DATA, "mlp:20", slots=True, epochs=2, progress=False)
    whole = dt.combine([*team, *dt.sums(DATA, features=60)], DATA.val)
    found = audit_drop(whole, 3, DATA, progress=False)
    assert found.kind == "combination"
    assert found.same_as_never_added
    assert found.seen
    said, not_said = " ".join(found.proven), " ".join(found.not_proven)
    assert "sums without 3, made by subtracting" in said
    assert "the composite is, bit for bit, one to which the specialist of 3 was never added" in said
    assert "what each part counts knows nothing of 3" in not_said
    assert "9 of 9 specialists saw its samples" in not_said
    assert not_said.count("stays in the class list") == 1
    assert set(found.relearning) == {found.without, found.unseen}
    assert whole.without(3).weights == whole.weights


def test_specialists_that_saw_only_their_own_samples_are_said_so_and_trunks_are_not_forgotten() -> None:
    network = dt.build_net("mlp:12", DATA.input_shape, DATA.outputs, seed=0)
    features = dt.trunk(network, name="small").features(DATA, progress=False)
    options: dict[str, Any] = {"loss": "xe", "slots": True, "epochs": 1, "progress": False}
    team = dt.train_specialists(features, "mlp:20", [0, 1, 2], **options)
    found = audit_drop(dt.compose(team), 2, features, progress=False)
    assert any("had a training sample of 2" in text for text in found.proven)
    assert any(text.startswith("That the trunk (small") for text in found.not_proven)
    assert any("features are scaled by the mean and variance of all" in text for text in found.not_proven)
    assert list(found.probes)[-1] == "the trunk's features"


def test_what_classes_cannot_be_taken_out_of_is_refused() -> None:
    with pytest.raises(MisfitError, match="composites, sums and combinations, not of a value of type str"):
        audit_drop("parts/", 3, DATA)  # type: ignore[arg-type]
    with pytest.raises(MisfitError, match=r"not of Specialist\(.*dovetail.compose"):
        audit_drop(make_specialist((0,)), 0, DATA)  # type: ignore[arg-type]
