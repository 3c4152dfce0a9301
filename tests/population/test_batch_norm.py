"""Batch-norm statistics: as a plain loop's during training, recomputed from the data afterwards."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import dovetail as dt
from dovetail.errors import ShapeError, TrainingError
from dovetail.population import Adam, Population

from .helpers import images, normed_cnn, plain_loop


def test_recomputed_statistics_are_those_of_the_data() -> None:
    split = images(96, dtype=torch.float64)
    network = normed_cnn().double()
    network[1].running_mean.fill_(torch.nan)  # type: ignore[index]
    dt.recompute_batch_norm(network, split.x, batch_size=32)
    maps = network[0](split.x)  # type: ignore[index]
    torch.testing.assert_close(network[1].running_mean, maps.mean((0, 2, 3)))  # type: ignore[index]
    parts = torch.stack([maps[i : i + 32].var((0, 2, 3)) for i in (0, 32, 64)])
    torch.testing.assert_close(network[1].running_var, parts.mean(0))  # type: ignore[index]
    assert network.training
    assert network[1].momentum == 0.1  # type: ignore[index]


def test_a_population_recomputes_like_each_member_alone() -> None:
    split = images(65)
    population = Population(normed_cnn, [0, 1, 2], device="cpu")
    alone = [dt.recompute_batch_norm(population.member(i), split.x, batch_size=16) for i in range(3)]
    dt.recompute_batch_norm(population, split.x, batch_size=16)
    for member, network in enumerate(alone):
        for name in ("1.running_mean", "1.running_var"):
            torch.testing.assert_close(population.buffers[name][member], network.state_dict()[name])


def test_validation_during_training_uses_running_statistics_like_a_plain_loop() -> None:
    split, val = images(80, dtype=torch.float64), images(40, seed=1, dtype=torch.float64)
    population = Population(normed_cnn, [3], device="cpu", dtype=torch.float64)
    network = population.member(0)
    history = population.fit(split, val, epochs=1, batch_size=16, progress=False)
    plain_loop(network, split, 3, epochs=1, batch_size=16, optimizer=Adam(), lr=1e-3).eval()
    assert history["loss"][0, 0].item() == pytest.approx(
        F.cross_entropy(network(val.x), val.y).item(), rel=1e-9
    )
    dt.recompute_batch_norm(network, split.x)
    torch.testing.assert_close(population.buffers["1.running_var"][0], network.state_dict()["1.running_var"])


def test_networks_without_batch_norm_are_left_alone() -> None:
    network = nn.Linear(2, 2)
    before = network.weight.clone()
    assert dt.recompute_batch_norm(network, torch.zeros(4, 2)) is network
    assert torch.equal(network.weight, before)


def test_what_batch_norm_cannot_do_is_refused() -> None:
    with pytest.raises(ShapeError, match="at least 2 samples"):
        dt.recompute_batch_norm(normed_cnn(), images(1).x)
    population = Population(normed_cnn, [0], device="cpu")
    for batch_size in (16, 1):
        with pytest.raises(
            TrainingError, match=f"33 samples in batches of {batch_size} leave a batch of one"
        ):
            population.fit(images(33), batch_size=batch_size, progress=False)
    with pytest.raises(TrainingError, match="subsets"):
        population.fit(images(32), subsets=[torch.arange(3)], progress=False)


def test_rewinding_restores_the_statistics_too() -> None:
    population = Population(normed_cnn, [0, 1], device="cpu")
    population.fit(images(32), epochs=1, progress=False)
    assert population.buffers["1.running_mean"].any()
    population.rewind()
    assert not population.buffers["1.running_mean"].any()
    assert (population.buffers["1.running_var"] == 1).all()
