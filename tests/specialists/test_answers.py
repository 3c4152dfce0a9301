from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from sklearn.metrics import roc_auc_score

import dovetail as dt
from dovetail.data.preparation import Numbers
from dovetail.errors import DataError, FileFormatError, MisfitError, SpecError
from dovetail.specialists import Blueprint, Specialist
from dovetail.specialists.composite import Composite
from dovetail.specialists.evaluate import auroc, score_logits
from dovetail.specialists.threshold import (
    STEPS,
    Threshold,
    confidence_of,
    fit_threshold,
    rate_of,
    read_threshold,
)

from .helpers import CLASSES, inputs, make_specialist, make_team


def split_of(count: int = 60, seed: int = 5) -> dt.Split:
    y = torch.arange(count) % len(CLASSES)
    return dt.Split(inputs(count, seed=seed), y)


def raw_twin(part: Specialist, preparation: Numbers) -> Specialist:
    """The same weights, for raw samples."""
    plan = part.blueprint
    prepared = Blueprint(plan.net, plan.input_shape, plan.classes, plan.temperature, preparation)
    return Specialist(prepared, part.rewarded, part.weights, part.provenance)


def test_answers_are_names_of_known_classes_only() -> None:
    part = sum(make_team(3)[1:], start=make_team(3)[0])
    x = inputs(50)
    answers = part.answers(x, undecided=0.0)
    assert answers.known == part.known == ("ant", "bee", "cat")
    logits = part(x)
    assert answers.names.tolist() == [CLASSES[n] for n in logits[:, :3].argmax(1).tolist()]
    by_hand = special.softmax(logits[:, :3].double().numpy(), axis=1)
    np.testing.assert_allclose(answers.probabilities, by_hand, rtol=1e-6)
    np.testing.assert_allclose(part.predict_proba(x), by_hand, rtol=1e-6)


def test_without_a_threshold_the_largest_output_of_all_decides() -> None:
    part = make_specialist((0, 2))
    x = inputs(200)
    largest = part(x).argmax(1)
    assert {0, 2} < set(largest.tolist())  # else nothing is tested
    wanted = [CLASSES[n] if n in (0, 2) else "undecided" for n in largest.tolist()]
    assert part.predict(x).tolist() == wanted


@pytest.mark.parametrize("kind", ["entropy", "maximum"])
def test_confidence_is_as_defined(kind: str) -> None:
    logits = 4 * torch.randn(30, 5)
    known = torch.tensor([True, False, True, False, False])
    p = special.softmax(logits.double().numpy(), axis=1)
    by_hand = 1 - stats.entropy(p, axis=1) / math.log(5) if kind == "entropy" else p[:, [0, 2]].max(1)
    np.testing.assert_allclose(confidence_of(logits, known, kind).numpy(), by_hand, atol=1e-12)


@settings(max_examples=40)
@given(st.integers(1, 400), st.floats(0, 0.99), st.integers(0, 10**6))
def test_a_threshold_leaves_the_wanted_share_of_validation_samples(
    count: int, rate: float, seed: int
) -> None:
    sure = torch.rand(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    threshold = fit_threshold(sure, rate=rate, confidence="entropy")
    left = float((sure < threshold.value()).double().mean())
    assert abs(left - rate) <= 1 / count + 1 / STEPS + 1e-9
    assert read_threshold(json.loads(threshold.model_dump_json())) == threshold


def test_rates_that_are_asked_for_are_met_and_kept_in_the_file(tmp_path: Path) -> None:
    part = make_team(3)[0] + make_team(3)[2]
    split = split_of(500)
    chosen = part.with_threshold(split, "10%")
    assert chosen == part  # the same network
    known = split.where((split.y == 0) | (split.y == 2))
    left = (chosen.predict(known) == "undecided").mean()
    assert left == pytest.approx(0.1, abs=0.01)
    opened = dt.open(chosen.save(tmp_path / "pair.safetensors"), Composite)
    assert opened.threshold == chosen.threshold
    assert opened.predict(known).tolist() == chosen.predict(known).tolist()
    assert (opened.predict(known, undecided="50%") == "undecided").mean() == pytest.approx(0.5, abs=0.01)
    assert "undecided" not in opened.predict(known, undecided="0%")
    assert set(opened.predict(known, undecided=1.0)) == {"undecided"}


def test_other_members_need_another_threshold() -> None:
    a, b, c = make_team(3)
    pair = (a + b).with_threshold(split_of())
    assert (pair + c).threshold is None
    assert pair.without("ant").threshold is None
    assert a.with_threshold(split_of()).threshold is not None


def test_scores_say_what_would_be_answered() -> None:
    part = (make_team(4)[0] + make_team(4)[3]).with_threshold(split_of(300), "20%")
    split = split_of(400, seed=9)
    score = part.evaluate(split)
    names = part.predict(split)
    truth = np.array(CLASSES, dtype=object)[split.y.numpy()]
    known = np.isin(truth, part.known)
    decided = names != "undecided"
    assert score.coverage == pytest.approx(decided[known].mean())
    assert score.decided_accuracy == pytest.approx((names == truth)[known & decided].mean())
    assert score.refused == pytest.approx(1 - decided[~known].mean())
    sure = part.answers(split).confidence
    assert score.unknown_auroc == pytest.approx(roc_auc_score(known, sure))
    assert json.loads(json.dumps(score.to_dict()))["coverage"] == score.coverage


@settings(max_examples=40)
@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_auroc_is_scikit_learns(above: list[int], below: list[int]) -> None:
    wanted = roc_auc_score([1] * len(above) + [0] * len(below), above + below)
    assert auroc(torch.tensor(above) / 5, torch.tensor(below) / 5) == pytest.approx(wanted)


def test_where_all_classes_are_known_nothing_is_unknown() -> None:
    (score,) = score_logits(torch.randn(1, 10, 3), torch.arange(10) % 3, [(0, 1, 2)], ["a", "b", "c"])
    assert (score.refused, score.unknown_auroc) == (None, None)
    assert score.coverage == 1
    assert score.decided_accuracy == pytest.approx(score.rewarded_accuracy)


def test_raw_samples_are_prepared_and_splits_are_not(tmp_path: Path) -> None:
    raw = np.random.default_rng(0).normal(50, 9, (40, 6))
    preparation = Numbers.fitted(raw)
    plain = make_specialist((1, 2))
    part = raw_twin(plain, preparation)
    wanted = plain.answers(preparation(raw)).probabilities
    opened = dt.open(part.save(tmp_path / "part.safetensors"), Specialist)
    assert opened.preparation == preparation
    for given_raw in (raw, raw.tolist(), torch.from_numpy(raw)):
        np.testing.assert_array_equal(opened.answers(given_raw).probabilities, wanted)
    split = dt.Split(preparation(raw), torch.zeros(40, dtype=torch.int64))
    np.testing.assert_array_equal(opened.answers(split).probabilities, wanted)
    network = opened.module(raw=True, known_only=True)
    assert not network.training
    np.testing.assert_allclose(
        network(torch.from_numpy(raw).float()).softmax(1).detach().numpy(), wanted, atol=1e-6
    )


def test_parts_of_other_preparations_do_not_fit() -> None:
    raw = np.random.default_rng(0).normal(50, 9, (40, 6))
    a = raw_twin(make_specialist((1,)), Numbers.fitted(raw))
    b = raw_twin(make_specialist((2,)), Numbers.fitted(raw * 2))
    with pytest.raises(MisfitError, match="preparations of raw samples"):
        a + b
    assert (a + raw_twin(make_specialist((2,)), Numbers.fitted(raw))).known == ("bee", "cat")


def test_only_known_outputs() -> None:
    part = make_specialist((3, 1))
    network, x = part.module(known_only=True), inputs(4)
    torch.testing.assert_close(network(x), part(x)[:, list(part.rewarded)])
    assert set(network.state_dict()) == {f"network.{name}" for name in part.module().state_dict()}


@pytest.mark.parametrize("undecided", ["5", "a%", "100%", "-1%", True, math.nan])
def test_what_is_no_rate_is_refused(undecided: object) -> None:
    part = make_specialist((0,)).with_threshold(split_of())
    with pytest.raises(SpecError, match="such as '5%'"):
        part.predict(inputs(), undecided=undecided)  # type: ignore[arg-type]


def test_refusals_name_the_way_out() -> None:
    part = make_specialist((0,))
    with pytest.raises(SpecError, match="with_threshold"):
        part.predict(inputs(), undecided="5%")
    with pytest.raises(DataError, match="no samples of the classes"):
        part.with_threshold(split_of().where(split_of().y == 1))
    with pytest.raises(SpecError, match="did you mean 'entropy'"):
        part.with_threshold(split_of(), confidence="entropie")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="NaN or infinity"):
        part.predict(np.full((2, 6), np.nan))
    with pytest.raises(SpecError):
        rate_of("5 percent")
    with pytest.raises(SpecError, match=r"got 0\.05, which as a share is '5%'$"):
        part.with_threshold(split_of(), 0.05)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        {"rate": 1.5},
        {"quantiles": [0.0]},
        {"quantiles": ["x"] * (STEPS + 1)},
        {"confidence": "x"},
        {"more": 1},
    ],
)
def test_damaged_thresholds_are_refused(change: dict[str, object]) -> None:
    whole = fit_threshold(torch.rand(9), rate=0.05, confidence="entropy").model_dump(mode="json")
    assert isinstance(read_threshold(whole), Threshold)
    with pytest.raises(FileFormatError, match=next(iter(change))):
        read_threshold(whole | change)


def test_answers_as_table_and_json() -> None:
    answers = make_specialist((0, 1)).answers(inputs(5))
    frame = answers.to_frame()
    assert list(frame) == ["answer", "confidence", "p(ant)", "p(bee)"]
    assert json.loads(answers.to_json())["answers"] == list(answers) == frame["answer"].tolist()
    assert "5 samples" in repr(answers)
