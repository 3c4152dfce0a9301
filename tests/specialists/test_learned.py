from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from torch import Tensor

import dovetail as dt
from dovetail.errors import TrainingWarning
from dovetail.specialists.learned import constant_loss
from dovetail.specialists.objectives import objective

CLASSES = 5


@pytest.mark.parametrize("loss", ["me", "qme", "xe"])
@pytest.mark.parametrize("rewarded", [(0,), (1, 3), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_constant_answer_is_that_which_a_search_finds(
    loss: str, rewarded: tuple[int, ...], weighted: bool
) -> None:
    random = np.random.default_rng(len(rewarded))
    target = torch.from_numpy(random.integers(0, CLASSES, 60))
    weights = torch.from_numpy(random.random(60)) if weighted else torch.ones(60, dtype=torch.float64)
    if loss == "xe":
        weights = weights * torch.isin(target, torch.tensor(rewarded))
    mask = torch.zeros(CLASSES, dtype=torch.bool)
    mask[list(rewarded)] = True

    def of(logits: np.ndarray) -> float:
        answer = torch.from_numpy(logits).expand(60, -1)
        each = objective(loss, 1.0)(answer, target, mask)
        return float((each * weights).sum() / weights.sum())

    best = minimize(of, np.zeros(CLASSES), method="BFGS").fun
    assert constant_loss(loss, target, rewarded, CLASSES, weights) == pytest.approx(best, abs=2e-4)


def test_a_loss_of_ones_own_is_compared_with_equal_outputs() -> None:
    def count(logits: Tensor, target: Tensor, rewarded: Tensor) -> Tensor:
        return logits.sum(1) + rewarded[target].float() * 3

    assert constant_loss(count, torch.tensor([0, 1, 1, 1]), (0,), 2) == pytest.approx(0.75)


def test_what_learned_nothing_is_named() -> None:
    data = dt.load("digits")
    with pytest.warns(TrainingWarning, match=r"2 of 2 specialists learned nothing \(3; 8\).*it was 1e-09"):
        dt.train_specialists(data, "mlp:16", [3, 8], lr=1e-9, epochs=1, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dt.train_specialists(data, "mlp:16", [3, 8], sparsity=0, epochs=8, progress=False)


def test_what_is_told_to_try_is_what_was_unusual_in_the_training() -> None:
    x, y = torch.eye(3).repeat(30, 1), torch.arange(3).repeat(30)
    data = dt.Dataset.from_arrays(x + torch.randn(90, 3) / 2, y, name="small")
    with pytest.warns(TrainingWarning, match="learned nothing") as told:
        dt.train_specialists(data, "mlp:16", epochs=3, sparsity=0, progress=False)
    (text,) = [str(one.message) for one in told if "learned nothing" in str(one.message)]
    assert "3 epochs of 1 step are few, try epochs=500 or smaller batches, or look at the data" in text
    assert "lr" not in text
    assert "sparsity" not in text


def test_classes_without_others_beside_them_are_named() -> None:
    data = dt.load("digits")
    train, val, test = (split.where(split.y == 3) for split in data.splits.values())
    only = dt.Dataset("threes", train, val, test, data.classes)
    with pytest.warns(TrainingWarning, match="no training samples of classes other than 3"):
        dt.train_specialists(only, "mlp:16", [3], epochs=1, progress=False)
