"""Whoever computes has a forward pass of its own: measuring does not change training, nor does another thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.population import Population, StepContext, recompute_batch_norm
from dovetail.population.forward import Forward, Mode

from .helpers import dropout_mlp, images


def normed() -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 5)
    )


def trained(
    build: Callable[[], nn.Module], disturb: Callable[[Population], object] | None
) -> dict[str, Tensor]:
    population = Population(build, [0, 1], device="cpu")
    copy = population.select([1, 0])

    def after_step(_: StepContext) -> None:
        if disturb is not None:
            disturb(population)
            disturb(copy)

    # The last batch is smaller than the others: it is recorded after the first evaluation.
    population.fit(images(40), epochs=2, batch_size=16, after_step=after_step, progress=False)
    return {**population.params, **population.buffers}


@pytest.mark.parametrize("build", [dropout_mlp, normed])
@pytest.mark.parametrize(
    "disturb",
    [
        lambda population: population.evaluate(images(20)),
        lambda population: population(images(20).x),
        lambda population: population.select([0]).recompute_batch_norm(images(20).x),
    ],
    ids=["evaluate", "call", "batch norm"],
)
def test_measuring_between_steps_changes_nothing(
    build: Callable[[], nn.Module], disturb: Callable[[Population], object]
) -> None:
    plain, disturbed = trained(build, None), trained(build, disturb)
    assert all(torch.equal(disturbed[name], tensor) for name, tensor in plain.items())


def test_a_second_thread_that_measures_a_copy_changes_nothing() -> None:
    plain = trained(dropout_mlp, None)
    population = Population(dropout_mlp, [0, 1], device="cpu")
    copy, x, done = population.select([0]), images(20).x, threading.Event()

    def measure() -> None:
        while not done.is_set():
            copy(x)

    thread = threading.Thread(target=measure)
    thread.start()
    try:
        population.fit(images(40), epochs=2, batch_size=16, after_step=lambda _: None, progress=False)
    finally:
        done.set()
        thread.join()
    assert all(torch.equal(population.params[name], plain[name]) for name in population.params)


def test_a_forward_leaves_the_network_as_it_is() -> None:
    network = normed()
    x = images(20).x
    modes: list[Mode] = ["train", "eval", "statistics"]
    for mode in modes:
        Forward(network, mode)
        assert network.training
    layers = [module.training for module in network.modules()]
    recompute_batch_norm(network, x)
    assert [module.training for module in network.modules()] == layers
    assert next(m for m in network.modules() if isinstance(m, nn.BatchNorm1d)).momentum == 0.1


def test_eight_populations_train_in_eight_threads_as_one_after_another() -> None:
    def work(seed: int) -> dict[str, Tensor]:
        population = Population(dropout_mlp, [seed, seed + 1], device="cpu")
        population.fit(images(40), images(20, seed=1), epochs=2, batch_size=16, progress=False)
        return population.params

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(work, range(8)))
    for seed, params in enumerate(together):
        alone = work(seed)
        assert all(torch.equal(params[name], alone[name]) for name in alone)
    assert logging.getLogger("torch._subclasses.fake_tensor").level != logging.CRITICAL


@pytest.mark.slow
def test_eight_teams_train_in_eight_threads() -> None:
    data = dt.load("digits")

    def work(seed: int) -> list[str]:
        team = dt.train_specialists(
            data, "mlp:16", rewarded=[[0], [1]], sparsity=0.5, rounds=1, epochs=1, seed=seed, progress=False
        )
        return [specialist.digest for specialist in team]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(work, range(8)))
    assert together[3] == work(3)


def test_global_random_state_is_left_alone() -> None:
    before = torch.get_rng_state()
    population = Population(net_with_dropout_and_noise, [0, 1], device="cpu")
    population.fit(images(20), epochs=1, progress=False)
    population(images(20).x)
    assert torch.equal(torch.get_rng_state(), before)


class Noisy(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + 0.1 * torch.randn_like(x) if self.training else x


def net_with_dropout_and_noise() -> nn.Module:
    return nn.Sequential(nn.Flatten(), Noisy(), nn.Dropout(0.3), nn.Linear(64, 5))
