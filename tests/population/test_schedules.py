"""Schedules are torch's, for every member by its own steps and its own step size."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, LRScheduler, OneCycleLR, SequentialLR

from dovetail.errors import SpecError, TrainingError
from dovetail.population import SGD, Adam, AdamW, OptimizerState, Population, epoch_order, member_keys
from dovetail.population.checks import check_schedule
from dovetail.population.schedules import Schedule, ScheduledSizes, ScheduleName

from .helpers import DEVICES, cnn, distance, dropout_mlp, images, mlp, plain_loop, torch_optimizer

SEEDS = [0, 0, 5, 7]
SIZES = [1e-3, 1e-2, 1e-3, 3e-3]


def of_torch(
    name: str | None, warmup: int | float = 0
) -> Callable[[torch.optim.Optimizer, int], LRScheduler]:
    """Return what makes torch's scheduler for an optimizer and a number of steps."""

    def make(optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        if name == "one-cycle":
            sizes = [group["lr"] for group in optimizer.param_groups]
            share = warmup if isinstance(warmup, float) else warmup / steps
            return OneCycleLR(optimizer, sizes, steps, pct_start=share, cycle_momentum=False)
        rising = warmup if isinstance(warmup, int) else round(warmup * steps)
        if name == "cosine":
            after: LRScheduler = CosineAnnealingLR(optimizer, steps - rising)
        else:
            end = 0.0 if name == "linear" else 1.0
            after = LinearLR(optimizer, start_factor=1.0, end_factor=end, total_iters=steps - rising)
        if not rising:
            return after
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]  # `after` has changed nothing, but the next one starts from it
        before = LinearLR(optimizer, start_factor=1 / (rising + 1), total_iters=rising)
        return SequentialLR(optimizer, [before, after], [rising])

    return make


@pytest.mark.parametrize("steps", [7, 40])
@pytest.mark.parametrize(
    ("name", "warmup"),
    [
        ("cosine", 0), ("cosine", 3), ("cosine", 0.1), ("linear", 0), ("linear", 1), ("linear", 0.4), (None, 5),
        (None, 0.5), ("one-cycle", 0.3), ("one-cycle", 0.5), ("one-cycle", 4), ("one-cycle", 0.0),
    ],
)  # fmt: skip
def test_the_factors_are_those_of_torch(name: str | None, warmup: int | float, steps: int) -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=2.0)
    scheduler = of_torch(name, warmup)(optimizer, steps)
    expected = []
    for _ in range(steps):
        expected.append(optimizer.param_groups[0]["lr"] / 2)
        optimizer.step()
        scheduler.step()
    schedule = check_schedule(name, warmup)  # type: ignore[arg-type]
    assert schedule is not None
    found = schedule.factors(torch.arange(steps), steps)
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12)


def test_one_cycle_rises_for_three_tenths_by_default_and_may_peak_at_once() -> None:
    assert check_schedule("one-cycle", None) == Schedule("one-cycle", 0.3)
    first, *others = Schedule("one-cycle", 1).factors(torch.arange(5), 5).tolist()
    assert first == 1
    assert all(0 < other < 1 for other in others)


@pytest.mark.parametrize("name", ["cosine", "linear", "one-cycle", None])
@pytest.mark.parametrize("share", [0.99, 0.5, 0.01])
@pytest.mark.parametrize("steps", [1, 2, 9])
def test_no_number_of_steps_is_too_small(name: str | None, share: float, steps: int) -> None:
    factors = Schedule(name, share).factors(torch.arange(steps), steps)  # type: ignore[arg-type]
    assert bool(((factors > 0) & (factors <= 1)).all())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("optimizer", [Adam(SIZES), AdamW(SIZES), SGD([0.05, 0.1, 0.05, 0.02])], ids=repr)
@pytest.mark.parametrize(
    ("name", "warmup"), [("cosine", 0.1), ("linear", 4), ("one-cycle", 0.3), (None, 10), ("cosine", 0)]
)
def test_scheduled_members_end_like_networks_trained_alone(
    name: ScheduleName | None, warmup: int | float, optimizer: Adam | SGD, device: str
) -> None:
    split = images(99, dtype=torch.float64)
    population = Population(mlp, SEEDS, device=device, dtype=torch.float64)
    alone = [population.member(i) for i in range(4)]
    population.fit(
        split, epochs=3, batch_size=16, optimizer=optimizer, schedule=name, warmup=warmup, progress=False
    )
    assert not isinstance(optimizer.lr, float)
    for member, network in enumerate(alone):
        plain_loop(
            network, split.to(device), SEEDS[member], epochs=3, batch_size=16, optimizer=optimizer,
            lr=optimizer.lr[member], schedule=of_torch(name, warmup),
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-12


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("optimizer", [Adam(0.01), SGD(0.05, nesterov=True)], ids=repr)
@pytest.mark.parametrize("name", ["cosine", "one-cycle"])
def test_members_with_fewer_samples_go_through_their_own_schedule(
    name: ScheduleName, optimizer: Adam | SGD, device: str
) -> None:
    split = images(150, dtype=torch.float64)
    subsets = [torch.arange(150)[split.y == 1], torch.arange(0, 150, 2), torch.arange(7)]
    population = Population(mlp, [1, 2, 3], device=device, dtype=torch.float64)
    alone = [population.member(i) for i in range(3)]
    population.fit(
        split, epochs=4, batch_size=16, optimizer=optimizer, subsets=subsets, schedule=name, warmup=0.5, progress=False
    )  # fmt: skip
    assert isinstance(optimizer.lr, float)
    for member, network in enumerate(alone):
        plain_loop(
            network, split.to(device), member + 1, epochs=4, batch_size=16, optimizer=optimizer, lr=optimizer.lr,
            indices=subsets[member].to(device), schedule=of_torch(name, 0.5),
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-12


def test_a_batch_that_is_skipped_counts_as_a_step_of_the_schedule() -> None:
    split = images(40, dtype=torch.float64)
    weights = (torch.arange(40) % 3 == 0).double()
    population = Population(mlp, [4], device="cpu", dtype=torch.float64)
    network = population.member(0).train()
    population.fit(
        split, epochs=2, batch_size=2, optimizer=SGD(0.1), weights=weights, schedule="linear", progress=False
    )
    optimizer = torch.optim.SGD(network.parameters(), 0.1, 0.9)
    skipped = step = 0
    for epoch in range(2):
        for rows in epoch_order(member_keys([4]), epoch, 40)[0].split(2):
            optimizer.param_groups[0]["lr"] = 0.1 * (1 - step / 40)
            step += 1
            if not weights[rows].any():
                skipped += 1
                continue
            optimizer.zero_grad()
            losses = F.cross_entropy(network(split.x[rows]), split.y[rows], reduction="none")
            ((losses * weights[rows]).sum() / weights[rows].sum()).backward()
            optimizer.step()
    assert skipped > 5
    assert distance(network, population.params, 0) < 1e-12


@pytest.mark.parametrize("device", DEVICES)
def test_members_that_stop_early_leave_the_schedule_of_the_others_alone(device: str) -> None:
    split, val = images(120, dtype=torch.float64), images(60, seed=1, dtype=torch.float64)

    def trained(seeds: list[int], at_once: int | None = None) -> tuple[Population, torch.Tensor]:
        population = Population(dropout_mlp, seeds, device=device, dtype=torch.float64)
        history = population.fit(
            split, val, epochs=15, batch_size=16, patience=1, optimizer=Adam(0.02), schedule="cosine", warmup=5,
            keep="last", at_once=at_once, progress=False,
        )  # fmt: skip
        return population, history.epochs

    company, epochs = trained(list(range(6)))
    assert len(epochs.unique()) > 1, "all stop together, so this would show nothing"
    for seed in (int(epochs.argmax()), int(epochs.argmin())):
        alone, own_epochs = trained([seed])
        assert own_epochs[0] == epochs[seed]
        for name, tensor in alone.params.items():
            torch.testing.assert_close(company.params[name][seed], tensor[0], rtol=1e-9, atol=1e-12)
    in_parts, _ = trained(list(range(6)), at_once=4)
    for name, tensor in in_parts.params.items():
        torch.testing.assert_close(company.params[name], tensor, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("optimizer", [AdamW(0.01), SGD(0.05, nesterov=True)], ids=repr)
def test_every_fit_goes_through_its_schedule_with_the_moments_of_the_last(
    optimizer: Adam | SGD, device: str
) -> None:
    split = images(50, dtype=torch.float64)
    population = Population(cnn, [3, 4], device=device, dtype=torch.float64)
    alone = [population.member(i) for i in range(2)]
    state = OptimizerState()
    for stream in range(2):
        population.fit(
            split, epochs=3, batch_size=16, optimizer=optimizer, optimizer_state=state, stream=stream,
            schedule="cosine", warmup=2, progress=False,
        )  # fmt: skip
    assert isinstance(optimizer.lr, float)
    for member, network in enumerate(alone):
        of_network = torch_optimizer(network, optimizer, optimizer.lr)
        for stream in range(2):
            plain_loop(
                network, split.to(device), [3, 4][member], epochs=3, batch_size=16, optimizer=optimizer,
                lr=optimizer.lr, schedule=of_torch("cosine", 2), step=of_network, stream=stream,
            )  # fmt: skip
        assert distance(network, population.params, member) < 1e-11
    assert state.steps.tolist() == [24, 24]


@pytest.mark.parametrize("device", DEVICES)
def test_sizes_are_written_to_one_place(device: str) -> None:
    """A captured step reads the same memory every time."""
    schedule = Schedule("linear", 0)
    sizes = ScheduledSizes(schedule, [1.0, 2.0, 1.0], [3, 3, 1], epochs=2, device=torch.device(device))
    place = sizes.now.data_ptr()
    seen = []
    for epoch in range(2):
        sizes.begin(epoch)
        for _ in range(3):
            sizes.advance()
            seen.append(sizes.now.tolist())
    assert sizes.now.data_ptr() == place
    first, second, third = zip(*seen, strict=True)
    assert first == pytest.approx([1 - step / 6 for step in range(6)])
    assert second == pytest.approx([2 * size for size in first])
    assert third[0] == 1
    assert third[3] == 0.5


def test_a_schedule_that_changes_nothing_changes_nothing() -> None:
    ends = []
    for options in ({}, {"schedule": None, "warmup": 0, "label_smoothing": 0.0}):
        population = Population(mlp, [0, 1], device="cpu")
        population.fit(images(60), epochs=2, batch_size=16, progress=False, **options)  # type: ignore[arg-type]
        ends.append(population.params)
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_what_is_no_schedule_is_refused() -> None:
    population = Population(mlp, [0, 1], device="cpu")
    fit: Callable[..., Any] = partial(population.fit, images(40), epochs=2, batch_size=16, progress=False)
    with pytest.raises(SpecError, match=r"'cosin'.*cosine"):
        fit(schedule="cosin")
    for warmup in (-1, 1.0, 2.5, -0.1, math.nan, True, "0.1"):
        with pytest.raises(TrainingError, match=rf"whole number of steps, not {warmup!r}"):
            fit(warmup=warmup)
    with pytest.raises(TrainingError, match=r"warm-up of 6 steps, but the fit takes 6 .*warmup=0.1"):
        fit(schedule="cosine", warmup=6)
    with pytest.raises(TrainingError, match="member 1 takes 2"):
        fit(schedule="cosine", warmup=2, subsets=[torch.arange(40), torch.arange(7)])
