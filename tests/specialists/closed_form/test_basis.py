from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import ShapeError
from dovetail.specialists.closed_form.basis import LARGEST_FEATURE, LARGEST_NUMBER, UNIT, Basis, directions


def inputs(count: int, width: int, seed: int, size: float = 1.0) -> torch.Tensor:
    return size * torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def feature_in_python(numbers: list[int], direction: list[int]) -> int:
    """Return one feature by whole numbers and fractions alone, but for the square root."""
    product = sum(a * b for a, b in zip(numbers, direction, strict=True))
    scale = UNIT / (math.sqrt(sum(a * a for a in numbers)) * math.sqrt(8 * 65535 / 12))
    return min(LARGEST_FEATURE, math.floor(Fraction(max(product, 0)) * Fraction(scale) + Fraction(1, 2)))


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 12), st.integers(0, 10**6), st.sampled_from([None, 2.0]), st.sampled_from([1e-3, 1.0, 1e5])
)
def test_features_are_those_of_whole_numbers_in_python(
    width: int, seed: int, length: float | None, size: float
) -> None:
    basis = Basis(inputs=width, features=9, seed=seed, length=length)
    numbers = basis.numbers(inputs(4, width, seed, size))
    drawn = directions(9, basis.width, seed).long().tolist()
    wanted = [[feature_in_python(row, one) for one in drawn] for row in numbers.tolist()]
    assert basis.features_of(numbers).long().tolist() == wanted


def test_directions_are_the_documented_stream() -> None:
    raw = np.random.PCG64(5).random_raw(6)
    wanted = [sum(int(number).to_bytes(8, "little")) - 1020 for number in raw]
    assert directions(2, 3, 5).flatten().long().tolist() == wanted
    # Written down, so that no version of anything may change what files stand for.
    assert directions(2, 3, 0).long().tolist() == WRITTEN


WRITTEN = [[236, 97, 44], [-382, -114, -71]]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 20), st.integers(0, 10**6), st.sampled_from([None, 0.5, 30.0]))
def test_numbers_keep_the_proportions_and_use_all_their_range(
    width: int, seed: int, length: float | None
) -> None:
    x = inputs(5, width, seed)
    numbers = Basis(inputs=width, features=1, length=length).numbers(x).double()
    full = x.double() if length is None else torch.cat([x.double(), torch.full((5, 1), length).double()], 1)
    assert torch.equal(numbers.abs().amax(1), torch.full((5,), float(LARGEST_NUMBER), dtype=torch.float64))
    assert (
        float((numbers / LARGEST_NUMBER - full / full.abs().amax(1, keepdim=True)).abs().max())
        < 0.51 / LARGEST_NUMBER
    )


def test_only_direction_counts_without_a_length_and_length_with_one() -> None:
    x = inputs(6, 5, 0)
    plain, measured = (Basis(inputs=5, features=40, length=length) for length in (None, 2.0))
    assert torch.equal(plain.numbers(x), plain.numbers(4 * x))
    assert not torch.equal(
        measured.features_of(measured.numbers(x)), measured.features_of(measured.numbers(4 * x))
    )


@pytest.mark.parametrize("features", [None, 300])
@pytest.mark.parametrize("length", [None, 3.0])
def test_the_layer_is_the_features_before_they_are_rounded(
    features: int | None, length: float | None
) -> None:
    basis = Basis(inputs=12, features=features, seed=3, length=length)
    x = inputs(200, 12, 1).reshape(200, 3, 4)
    whole = basis.features_of(basis.numbers(x))
    assert whole.shape == (200, basis.size)
    # Half a step of rounding, and what rounding to int16 and to float32 does.
    assert float((basis.layer()(x) * UNIT - whole).abs().max()) < 0.51
    assert bool((whole == whole.round()).all())


def test_a_basis_does_not_depend_on_threads_or_batches() -> None:
    basis = Basis(inputs=50, features=200)
    x = inputs(3000, 50, 2)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = basis.features_of(basis.numbers(x))
        torch.set_num_threads(2)
        assert torch.equal(basis.features_of(basis.numbers(x)), alone)
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(basis.features_of(basis.numbers(x[17:18]))[0], alone[17])


def test_an_input_of_zeros_has_features() -> None:
    for features, length in ((None, None), (7, None), (7, 1.0)):
        basis = Basis(inputs=3, features=features, length=length)
        found = basis.features_of(basis.numbers(torch.zeros(1, 3)))
        assert bool(found.isfinite().all())
        assert float((basis.layer()(torch.zeros(1, 3)) * UNIT - found).abs().max()) < 0.51


def test_inputs_of_another_size_are_refused() -> None:
    with pytest.raises(ShapeError, match="inputs have 4 numbers, and these sums are of 3"):
        Basis(inputs=3, features=2).numbers(torch.ones(1, 4))
