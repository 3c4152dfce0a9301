from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from sklearn.metrics import confusion_matrix

import dovetail as dt
from dovetail.errors import DataError, ShapeError
from dovetail.specialists import evaluate_all
from dovetail.specialists.evaluate import Score, score_logits

from .helpers import inputs, make_specialist, make_team


def plain_score(logits: np.ndarray, y: np.ndarray, rewarded: tuple[int, ...]) -> dict[str, float]:
    """The paper's definitions, sample by sample."""
    p = special.softmax(logits, axis=1)
    mine = np.isin(y, rewarded)
    bins = np.ceil(p.max(1) * 15).astype(int)
    error = 0.0
    for b in range(1, 16):
        chosen = mine & (bins == b)
        if chosen.any():
            error += (
                abs((p.argmax(1) == y)[chosen].mean() - p.max(1)[chosen].mean()) * chosen.sum() / mine.sum()
            )
    return {
        "accuracy": float((p.argmax(1) == y)[mine].mean()),
        "entropy": float(np.mean([stats.entropy(row) for row in p[~mine]])) if (~mine).any() else math.nan,
        "ece": float(error),
    }


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.data())
def test_scores_are_the_papers(seed: int, classes: int, data: st.DataObject) -> None:
    draw = torch.Generator().manual_seed(seed)
    y = torch.cat([torch.arange(classes), torch.randint(classes, (40,), generator=draw)])
    sets = [
        tuple(sorted(data.draw(st.sets(st.integers(0, classes - 1), min_size=1, max_size=classes))))
        for _ in range(3)
    ]
    logits = 3 * torch.randn(3, len(y), classes, generator=draw)
    names = [chr(97 + n) for n in range(classes)]
    for row, score in enumerate(score_logits(logits, y, sets, names)):
        by_hand = plain_score(logits[row].double().numpy(), y.numpy(), sets[row])
        assert score.rewarded_accuracy == pytest.approx(by_hand["accuracy"])
        assert score.calibration_error == pytest.approx(by_hand["ece"], abs=1e-9)
        if len(sets[row]) == classes:
            assert score.entropy is None
        else:
            assert score.entropy == pytest.approx(by_hand["entropy"])
        counts = confusion_matrix(y, logits[row].argmax(1), labels=range(classes))
        assert score.confusion.tolist() == counts.tolist()
        np.testing.assert_allclose(score.class_accuracy, counts.diagonal() / counts.sum(1))
        p = logits[row].double().softmax(1)
        for number in range(classes):
            if number in sets[row]:
                assert score.leakage[number].isnan()
            else:
                claimed = p[y == number][:, list(sets[row])].sum(1).mean() - len(sets[row]) / classes
                assert float(score.leakage[number]) == pytest.approx(float(claimed))
        json.dumps(score.to_dict(), allow_nan=False)
        assert len(score.per_class) == classes
        assert "R = {" in repr(score)


def test_a_uniform_network_leaks_nothing() -> None:
    (score,) = score_logits(torch.zeros(1, 6, 3), torch.tensor([0, 1, 2] * 2), [(0,)], "abc")
    assert score.entropy == pytest.approx(math.log(3))
    assert score.leakage[1:].tolist() == pytest.approx([0, 0])


def test_classes_without_samples_are_nan() -> None:
    (score,) = score_logits(torch.eye(3)[None, :2], torch.tensor([0, 1]), [(0,)], "abc")
    assert score.class_accuracy[2].isnan()
    assert score.per_class.loc[2, "samples"] == 0
    (empty,) = score_logits(torch.eye(3)[None, :2], torch.tensor([0, 1]), [(2,)], "abc")
    assert math.isnan(empty.rewarded_accuracy)


@pytest.mark.filterwarnings("ignore::dovetail.errors.CompatibilityWarning")
def test_measured_together_is_measured_alone() -> None:
    team = make_team(4)
    parts = [*team, team[0] + team[1], dt.compose(team, "logits"), make_specialist((4,), "mlp:7-3")]
    split = dt.Split(inputs(50), torch.arange(50) % 5)

    def key(score: Score) -> tuple[object, ...]:
        return score.rewarded, score.rewarded_accuracy, score.confusion.tolist()

    together, alone = evaluate_all(parts, split), [part.evaluate(split) for part in parts]
    assert [key(score) for score in together] == [key(score) for score in alone]
    # A GPU adds up in any order.
    assert [score.entropy for score in together] == pytest.approx(
        [score.entropy for score in alone], rel=1e-12
    )
    assert evaluate_all([], split) == []


def test_what_cannot_be_measured_is_said() -> None:
    part = make_specialist((0,))
    with pytest.raises(ShapeError, match=r"takes samples of shape \(6,\), not \(7,\)"):
        part.evaluate(dt.Split(torch.zeros(3, 7), torch.zeros(3, dtype=torch.int64)))
    with pytest.raises(DataError, match="class ids 0 to 9"):
        part.evaluate(dt.Split(torch.zeros(2, 6), torch.tensor([0, 9])))
    with pytest.raises(DataError, match="other targets"):
        part.evaluate(dt.Split(torch.zeros(2, 6), torch.zeros(2, 5)))
    other = make_specialist((0,), classes=("a", "b"))
    with pytest.raises(ShapeError, match="other classes"):
        evaluate_all([part, other], dt.Split(torch.zeros(2, 6), torch.zeros(2, dtype=torch.int64)))
