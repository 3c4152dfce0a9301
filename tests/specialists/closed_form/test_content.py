from __future__ import annotations

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import DataError, MisfitError
from dovetail.specialists.closed_form.basis import LARGEST_FEATURE, Basis
from dovetail.specialists.closed_form.content import (
    Content,
    Keep,
    Moments,
    Samples,
    content_of,
    joined,
    moments_of,
    moments_together,
    without,
)
from dovetail.specialists.closed_form.exact import (
    MOST_SAMPLES,
    ROWS,
    check_count,
    packed,
    second_moment,
    unpacked,
)

BASIS = Basis(inputs=3, features=5)


def numbers(count: int, seed: int = 0) -> torch.Tensor:
    return BASIS.numbers(torch.randn(count, 3, generator=torch.Generator().manual_seed(seed)))


def in_python(rows: list[list[int]]) -> list[list[int]]:
    size = len(rows[0])
    return [[sum(row[a] * row[b] for row in rows) for b in range(size)] for a in range(size)]


@pytest.mark.parametrize("precision", ["highest", "high", "medium"])
def test_second_moments_are_those_of_whole_numbers_in_python(precision: str) -> None:
    before = torch.get_float32_matmul_precision()
    extreme = torch.tensor([[127.0, -127.0, 126.0]]).repeat(2 * ROWS + 5, 1)
    drawn = torch.randint(-127, 128, (3 * ROWS - 7, 3), generator=torch.Generator().manual_seed(1)).float()
    try:
        torch.set_float32_matmul_precision(precision)
        for features in (extreme, drawn):
            assert second_moment(features).long().tolist() == in_python(features.long().tolist())
    finally:
        torch.set_float32_matmul_precision(before)


def test_no_sum_can_overflow() -> None:
    assert ROWS * LARGEST_FEATURE**2 < 2**24  # whole numbers below are exact in float32
    assert MOST_SAMPLES * LARGEST_FEATURE**2 <= 2**53  # and in float64
    with pytest.raises(DataError, match="more than can be added exactly"):
        check_count(MOST_SAMPLES + 1)


@given(st.integers(1, 9), st.integers(0, 10**6), st.sampled_from([10, 2**31]))
def test_packing_halves_and_loses_nothing(size: int, seed: int, most: int) -> None:
    drawn = torch.randint(-most, most, (size, size), generator=torch.Generator().manual_seed(seed)).double()
    symmetric = drawn + drawn.T
    half = packed(symmetric)
    assert len(half) == size * (size + 1) // 2
    assert torch.equal(unpacked(half, size), symmetric)
    assert (half.dtype == torch.int32) == bool((symmetric.abs() < 2**31).all())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 9), min_size=2, max_size=5), st.data())
def test_content_is_the_same_in_whatever_order_it_was_joined(
    seed: int, sizes: list[int], data: st.DataObject
) -> None:
    keeps: list[Keep] = [data.draw(st.sampled_from(["samples", "moments"])) for _ in sizes]
    parts = [content_of(numbers(size, seed + place), BASIS, keep) for place, (size, keep) in enumerate(
        zip(sizes, keeps, strict=True))]  # fmt: skip
    shuffled = random.Random(seed).sample(parts, len(parts))
    one, other = joined(parts, BASIS), joined([joined(shuffled[:2], BASIS), *shuffled[2:]], BASIS)
    assert one.digest == other.digest
    (first, second), (firsts, seconds) = moments_together([one], BASIS), moments_together(parts, BASIS)
    assert torch.equal(first[:, 0], firsts.sum(1))
    assert torch.equal(second, seconds)
    # Taken out again, what is left is what never had it.
    left: Content | None = without(one, parts[0], BASIS)
    assert left is not None
    never = joined(parts[1:], BASIS)
    assert moments_of(left, BASIS).digest == moments_of(never, BASIS).digest
    if isinstance(left, Samples) and isinstance(never, Samples):
        assert left.digest == never.digest


@pytest.mark.parametrize("keep", ["samples", "moments"])
def test_moments_and_samples_are_the_same_sums(keep: Keep) -> None:
    content = content_of(numbers(30), BASIS, keep)
    features = BASIS.features_of(numbers(30)).long()
    assert content.count == 30
    first, second = moments_together([content], BASIS)
    assert first[:, 0].long().tolist() == features.sum(0).tolist()
    assert second.long().tolist() == in_python(features.tolist())


def test_nothing_is_left_of_what_is_taken_out_of_itself() -> None:
    for keep in ("samples", "moments"):
        content = content_of(numbers(8), BASIS, keep)
        assert without(content, content, BASIS) is None


def test_samples_that_are_not_there_are_refused() -> None:
    held, others = content_of(numbers(8), BASIS, "samples"), content_of(numbers(3, seed=9), BASIS, "samples")
    with pytest.raises(MisfitError, match="3 of these 3 samples are not in the sums"):
        without(held, others, BASIS)
    twice = content_of(numbers(8)[:1].repeat(2, 1), BASIS, "samples")
    with pytest.raises(MisfitError, match="1 of these 2 samples are not in the sums"):
        without(held, twice, BASIS)
    few, many = (content_of(numbers(count), BASIS, "moments") for count in (3, 8))
    with pytest.raises(MisfitError, match="these 8 samples are not in the sums"):
        without(few, many, BASIS)
    # As many and others: what would be left has features whose squares add up to less than nothing.
    with pytest.raises(MisfitError, match="these 8 samples are not in the sums"):
        without(many, content_of(numbers(8, seed=4), BASIS, "moments"), BASIS)


def test_the_smaller_form_is_held() -> None:
    # Moments of five features are 15 entries of 4 bytes and 5 of 8; a sample is three numbers of 2 bytes.
    assert isinstance(content_of(numbers(16), BASIS), Samples)
    assert isinstance(content_of(numbers(17), BASIS), Moments)
