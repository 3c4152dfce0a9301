"""Noise belongs to the member: same seed, same noise, in any company."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.func import vmap

from dovetail.population import Noise, epoch_order, member_keys
from dovetail.population.order import Order
from dovetail.population.random import hash32, hash64, keys_at, unit_interval

from .helpers import DEVICES

LIKE = torch.zeros(1)


def noise(seed: int, step: int = 0) -> Noise:
    return Noise(keys_at(member_keys([seed])[0], torch.tensor(step)))


def test_hashes_are_one_to_one_and_flip_half_of_the_bits() -> None:
    values = torch.arange(100_000)
    for scramble, kind, bits in ((hash64, torch.int64, 64), (hash32, torch.int32, 32)):
        scrambled = scramble(values.to(kind))
        assert len(scrambled.unique()) == len(values)
        flipped = scrambled ^ scramble(values.to(kind) ^ 1)
        ones = sum(((flipped >> bit) & 1).sum().item() for bit in range(bits)) / (len(values) * bits)
        assert abs(ones - 0.5) < 0.01


@given(st.integers(-(2**70), 2**70), st.integers(0, 10))
def test_any_whole_number_is_a_seed(seed: int, stream: int) -> None:
    assert member_keys([seed], stream).dtype == torch.int64


@pytest.mark.parametrize("drop", [0.1, 0.5, 0.9])
def test_dropped_share(drop: float) -> None:
    keep = noise(0).keep((1000, 1000), drop)
    assert abs(keep.float().mean().item() - (1 - drop)) < 0.003
    assert keep.float().mean(0).std() < 0.05
    assert keep.float().mean(1).std() < 0.05


def test_normal_noise_has_the_moments_of_a_normal_distribution() -> None:
    values = noise(1).normal(torch.zeros(1, dtype=torch.float64), (1_000_000,))
    for power, moment in enumerate([0, 1, 0, 3], start=1):
        assert abs((values**power).mean().item() - moment) < 0.03
    assert torch.isfinite(values).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_no_bits_give_an_end_of_the_unit_interval(dtype: torch.dtype) -> None:
    ends = torch.tensor([-(2**31), -(2**31) + 511, 2**31 - 1, -1, 0], dtype=torch.int32)
    values = unit_interval(ends, dtype)
    assert values.min() > 0
    assert values.max() < 1
    assert values[0] + values[2] == 1


def test_uniform_noise_stays_inside_the_unit_interval() -> None:
    values = noise(2).uniform(LIKE, (1_000_000,))
    assert values.min() > 0
    assert values.max() < 1
    counts = torch.histc(values, 20, 0, 1) / len(values)
    assert (counts - 0.05).abs().max() < 0.002


def test_draws_differ_between_sites_steps_seeds_and_streams() -> None:
    first = noise(0)
    draws = [
        first.bits((100,)),
        first.bits((100,)),
        noise(0, 1).bits((100,)),
        noise(1).bits((100,)),
    ]
    draws.append(Noise(keys_at(member_keys([0], stream=1)[0], torch.tensor(0))).bits((100,)))
    for i, a in enumerate(draws):
        for b in draws[i + 1 :]:
            assert (a == b).float().mean() < 0.05


def test_mapped_noise_is_each_members_own() -> None:
    keys = keys_at(member_keys([4, 9, 4]), torch.tensor(3))
    together = vmap(lambda key: Noise(key).bits((7,)))(keys)
    assert torch.equal(together, Noise(keys).bits((7,)))
    assert torch.equal(together[0], together[2])
    assert torch.equal(together[1], noise(9, 3).bits((7,)))


@pytest.mark.skipif(len(DEVICES) == 1, reason="needs CUDA")
def test_noise_and_order_are_the_same_on_every_device() -> None:
    keys = member_keys([1, 2])
    assert torch.equal(epoch_order(keys, 3, 1000), epoch_order(keys.cuda(), 3, 1000).cpu())
    assert torch.equal(Noise(keys).bits((50,)), Noise(keys.cuda()).bits((50,)).cpu())


@given(st.lists(st.integers(), min_size=1, max_size=5), st.integers(0, 1000), st.integers(1, 200))
def test_every_epoch_is_a_permutation_that_depends_on_the_seed_alone(
    seeds: list[int], epoch: int, samples: int
) -> None:
    order = epoch_order(member_keys(seeds), epoch, samples)
    assert torch.equal(order.sort(1).values, torch.arange(samples).expand(len(seeds), -1))
    assert torch.equal(order[-1:], epoch_order(member_keys(seeds[-1:]), epoch, samples))


def test_epochs_differ_and_every_sample_can_come_first() -> None:
    orders = torch.stack([epoch_order(member_keys([0]), epoch, 10)[0] for epoch in range(500)])
    first = orders[:, 0].bincount(minlength=10)
    assert first.min() > 25
    assert first.max() < 80


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 4))
def test_batches_cover_every_sample_once(samples: int, batch_size: int, members: int) -> None:
    order = Order(member_keys(range(members)), samples, batch_size)
    parts = order.epoch(0)
    assert sum(part.steps for part in parts) == order.steps
    for member in range(members):
        seen = torch.cat([part.index[:, member].flatten() for part in parts])
        assert torch.equal(seen.sort().values, torch.arange(samples))


@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(1, 8), st.integers(0, 5))
def test_subset_batches_cover_each_members_own_samples_once(
    sizes: list[int], batch_size: int, epoch: int
) -> None:
    subsets = [torch.arange(size) * 2 + 1 for size in sizes]
    order = Order(member_keys(range(len(sizes))), 100, batch_size, subsets)
    (batches,) = order.epoch(epoch)
    assert batches.weight is not None
    for member, subset in enumerate(subsets):
        seen = batches.index[:, member].flatten()[batches.weight[:, member].flatten() == 1]
        assert torch.equal(seen.sort().values, subset)
