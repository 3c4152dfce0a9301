from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

import dovetail as dt
from dovetail.errors import SpecError
from dovetail.specialists import private_cards
from dovetail.specialists.cards import Card
from dovetail.specialists.private_cards import SENSITIVITY, noise_scale, private_card, spent, statistics

from .test_cards import split_of, team_with_cards


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 30),
    st.integers(1, 6),
    st.floats(0.1, 10),
    st.floats(1e-3, 1e3),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_one_sample_moves_the_vector_by_no_more_than_the_sensitivity(
    count: int, numbers: int, clip: float, scale: float, products: bool, seed: int
) -> None:
    x = scale * torch.randn(count, numbers, generator=torch.Generator().manual_seed(seed))
    with_it, without = (statistics(some, clip, products=products) for some in (x, x[1:]))
    assert float((with_it - without).norm()) <= SENSITIVITY * (1 + 1e-9)
    parts = [slice(0, 1), slice(1, numbers + 1), slice(numbers + 1, None)]
    assert all(float((with_it - without)[part].norm()) <= 1 + 1e-9 for part in parts)


def test_the_sensitivity_is_reached() -> None:
    far = torch.tensor([[50.0, 0.0]])
    for products in (False, True):
        assert float(statistics(far, 1.0, products=products).norm()) == pytest.approx(SENSITIVITY)


def test_the_vector_is_made_of_numpys_moments() -> None:
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(1))
    found = statistics(x, 100.0, products=True).numpy()
    rows = x.double().numpy()
    second = rows.T @ rows / 100**2
    np.testing.assert_allclose(found[:4], [40, *(rows.sum(0) / 100)])
    assert np.linalg.norm(found[4:]) == pytest.approx(np.linalg.norm(second))
    np.testing.assert_allclose(found[[4, 7, 9]], np.diag(second))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-5), (1.0, 1e-2), (4.0, 1e-8)])
def test_noise_spends_what_was_asked_for(epsilon: float, delta: float) -> None:
    sigma = noise_scale(epsilon, delta)
    # Delta is the mass by which one normal density is above exp(epsilon) times the other, here integrated plainly.
    lost, _ = quad(
        lambda t: max(0.0, norm.pdf(t, 1, sigma) - math.exp(epsilon) * norm.pdf(t, 0, sigma)),
        0.5 + epsilon * sigma**2,
        0.5 + epsilon * sigma**2 + 40 * sigma,
        epsabs=delta * 1e-6,
        limit=500,
    )
    assert lost == pytest.approx(delta, rel=1e-3)
    assert spent(0.99 * sigma, epsilon) > delta >= spent(sigma, epsilon)


def test_many_samples_give_the_card_that_they_have_and_few_do_not() -> None:
    x = torch.randn(50_000, 4, generator=torch.Generator().manual_seed(0)) @ torch.diag(
        torch.tensor([2.0, 1, 1, 0.5])
    )
    x[:, 1] += x[:, 0]
    exact = Card.of(x, directions=4)
    for directions in (0, 4):
        card = private_card(x, epsilon=1.0, delta=1e-6, clip=12.0, directions=directions, seed=3)
        assert card.count == pytest.approx(50_000, abs=50)
        torch.testing.assert_close(card.mean, exact.mean, atol=0.01, rtol=0)
        torch.testing.assert_close(card.variance, exact.variance, atol=0.2, rtol=0)
    torch.testing.assert_close(card.covariance(), exact.covariance(), atol=0.2, rtol=0)
    few = private_card(x[:20], epsilon=0.5, delta=1e-6, clip=12.0, directions=4, seed=3)
    assert float(torch.linalg.eigvalsh(few.covariance().double()).min()) > -1e-3


def test_noise_is_another_each_time_unless_seeded() -> None:
    x = torch.randn(30, 2, generator=torch.Generator().manual_seed(0))
    one, two = (private_card(x, epsilon=1.0, delta=1e-5, clip=2.0) for _ in range(2))
    assert not torch.equal(one.mean, two.mean)
    one, two = (private_card(x, epsilon=1.0, delta=1e-5, clip=2.0, seed=4) for _ in range(2))
    assert torch.equal(one.mean, two.mean)


def test_parts_take_cards_with_noise() -> None:
    part = team_with_cards(1)[0]
    split = split_of(300)
    noisy = private_cards(part, split, epsilon=1.0, delta=1e-5, clip=4.0, directions=2, seed=0)
    assert noisy != part
    assert torch.equal(noisy(split.x), part(split.x))
    assert not torch.equal(noisy.cards["ant"].mean, part.cards["ant"].mean)
    for epsilon, delta, clip in ((0.0, 1e-5, 1.0), (1.0, 1.0, 1.0), (1.0, 1e-5, 0.0)):
        with pytest.raises(SpecError):
            private_cards(part, split, epsilon=epsilon, delta=delta, clip=clip)
    bare = dt.specialists.Composite([part]).without_cards()
    assert bare.cards == {}
