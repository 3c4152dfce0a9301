from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax
from sklearn.linear_model import Ridge

from dovetail.errors import DataError
from dovetail.specialists.closed_form.basis import UNIT
from dovetail.specialists.closed_form.ridge import best_temperature, chosen, left_out, solution


def drawn(count: int, size: int, classes: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Features as whole numbers, and classes that follow from them."""
    draw = torch.Generator().manual_seed(seed)
    features = torch.randint(0, 100, (count, size), generator=draw).float()
    return features, features[:, :classes].argmax(1)


def moments(features: torch.Tensor, ids: torch.Tensor, classes: int) -> tuple[torch.Tensor, torch.Tensor]:
    whole = features.double()
    return whole.T @ whole, whole.T @ torch.eye(classes, dtype=torch.float64)[ids]


@settings(max_examples=20, deadline=None)
@given(st.integers(3, 40), st.integers(3, 12), st.sampled_from([0.1, 1.0, 30.0]), st.integers(0, 10**6))
def test_the_solution_is_scikit_learns(count: int, size: int, ridge: float, seed: int) -> None:
    features, ids = drawn(count, size, 3, seed)
    wanted = Ridge(alpha=ridge, fit_intercept=False, solver="svd").fit(
        features.double().numpy() / UNIT, np.eye(3)[ids.numpy()]
    )
    found = solution(*moments(features, ids, 3), ridge)
    np.testing.assert_allclose(found.numpy(), wanted.coef_.T, rtol=1e-6, atol=1e-8)


@settings(max_examples=10, deadline=None)
@given(st.integers(6, 15), st.integers(3, 20), st.integers(0, 10**6))
def test_leaving_out_in_closed_form_is_leaving_out(count: int, size: int, seed: int) -> None:
    features, ids = drawn(count, size, 3, seed)
    ridges = [0.3, 3.0]
    batches = [(features[:4], ids[:4]), (features[4:], ids[4:])]
    found = left_out(batches, *moments(features, ids, 3), ridges)
    for row, ridge in enumerate(ridges):
        for place in range(count):
            others = [number for number in range(count) if number != place]
            without = solution(*moments(features[others], ids[others], 3), ridge)
            wanted = (features[place].double() / UNIT) @ without
            np.testing.assert_allclose(found[row, place].numpy(), wanted.numpy(), rtol=1e-5, atol=1e-7)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_the_temperature_is_the_best_of_a_fine_grid(seed: int) -> None:
    draw = np.random.default_rng(seed)
    ids = draw.integers(0, 4, 60)
    scores = 0.7 * np.eye(4)[ids] + draw.normal(0, 0.3, (60, 4))
    temperature, loss = best_temperature(torch.from_numpy(scores), torch.from_numpy(ids))
    grid = [-log_softmax(scores / one, 1)[range(60), ids].mean() for one in np.geomspace(0.02, 2, 400)]
    assert loss <= min(grid) + 1e-6
    assert loss == pytest.approx(-log_softmax(scores / temperature, 1)[range(60), ids].mean())


def test_fewest_errors_decide_and_then_the_log_loss() -> None:
    ids = torch.tensor([0, 1])
    right = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    wrong = torch.tensor([[1.0, 0.0], [1.0, 0.9]])
    surer = torch.tensor([[1.0, 0.0], [0.4, 0.5]])
    assert chosen([wrong, surer, right], ids, [1.0, 2.0, 3.0]).ridge == 3.0
    assert chosen([wrong, wrong], ids, [2.0, 1.0]).errors == 0.5


def test_what_has_no_solution_says_so() -> None:
    with pytest.raises(DataError, match="with ridge 1e-30 have no solution"):
        solution(torch.zeros(2, 2) - 1, torch.zeros(2, 1), 1e-30)
