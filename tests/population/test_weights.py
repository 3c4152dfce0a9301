"""Weights of samples: a weight of 2 counts as a sample that is there twice, for every member as if it were alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dovetail.errors import DovetailError, ShapeError, TrainingError
from dovetail.population import SGD, Adam, Population, epoch_order, member_keys

from .helpers import DEVICES, cnn, distance, images, mlp

SPLIT = images(103, dtype=torch.float64)
SIZES = [1e-3, 1e-2, 3e-3]


def drawn(*shape: int, zeros: float = 0.0) -> Tensor:
    draw = torch.Generator().manual_seed(7)
    weights = 3 * torch.rand(*shape, generator=draw, dtype=torch.float64) + 0.1
    return torch.where(torch.rand(*shape, generator=draw) < zeros, 0.0, weights)


def weighted_loop(
    network: nn.Module,
    weights: Tensor,
    seed: int,
    step: torch.optim.Optimizer,
    *,
    indices: Tensor | None = None,
    epochs: int = 3,
) -> float:
    """Train one network as anyone would write it; return the mean loss of the last epoch."""
    split = SPLIT.to(weights.device)
    samples = torch.arange(len(split)) if indices is None else indices
    total = count = 0.0
    for epoch in range(epochs):
        order = samples[epoch_order(member_keys([seed]), epoch, len(samples))[0]].to(weights.device)
        total = count = 0.0
        for batch in order.split(16):
            weight = weights[batch]
            if not weight.any():
                continue
            losses = F.cross_entropy(network(split.x[batch]), split.y[batch], reduction="none")
            loss = (weight * losses).sum() / weight.sum()
            step.zero_grad()
            loss.backward()
            step.step()
            total += float((weight * losses).sum())
            count += float(weight.sum())
    return total / count


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("zeros", [0.0, 0.9])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("build", [mlp, cnn])
def test_members_end_like_networks_trained_alone_with_weights(
    build: Callable[[], nn.Module], own: bool, zeros: float, device: str
) -> None:
    weights = (drawn(3, 103, zeros=zeros) if own else drawn(103, zeros=zeros)).to(device)
    population = Population(build, [1, 1, 4], device=device, dtype=torch.float64)
    alone = [population.member(i) for i in range(3)]
    history = population.fit(
        SPLIT, epochs=3, batch_size=16, weights=weights, optimizer=Adam(SIZES), progress=False
    )
    for member, network in enumerate(alone):
        mine = weights[member] if own else weights
        step = torch.optim.Adam(network.parameters(), SIZES[member])
        loss = weighted_loop(network, mine, [1, 1, 4][member], step)
        assert distance(network, population.params, member) < 1e-12
        assert history["train_loss"][-1, member] == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("optimizer", [Adam(weight_decay=1e-3), SGD(0.05, weight_decay=1e-3)], ids=repr)
def test_weights_stand_beside_subsets(optimizer: Adam | SGD) -> None:
    """Subsets of unequal size: short ones are filled up, and the fill still has no weight."""
    weights = drawn(103, zeros=0.5)
    subsets = [torch.arange(103)[SPLIT.y == 1], torch.arange(0, 103, 2), torch.arange(40, 47)]
    population = Population(mlp, [1, 2, 3], device="cpu", dtype=torch.float64)
    alone = [population.member(i) for i in range(3)]
    population.fit(
        SPLIT, epochs=3, batch_size=16, weights=weights, subsets=subsets, optimizer=optimizer, progress=False
    )
    assert isinstance(optimizer.lr, float)
    for member, network in enumerate(alone):
        step: torch.optim.Optimizer
        if isinstance(optimizer, Adam):
            step = torch.optim.Adam(network.parameters(), optimizer.lr, weight_decay=optimizer.weight_decay)
        else:
            step = torch.optim.SGD(network.parameters(), optimizer.lr, 0.9, weight_decay=1e-3)
        weighted_loop(network, weights, member + 1, step, indices=subsets[member])
        assert distance(network, population.params, member) < 1e-12


def test_a_weight_of_two_is_a_sample_that_is_there_twice() -> None:
    """In one batch of all samples, where the order does not matter."""
    twice = torch.tensor([0, 3, 5])
    split = images(20, dtype=torch.float64)
    doubled = type(split)(torch.cat([split.x, split.x[twice]]), torch.cat([split.y, split.y[twice]]))
    weights = torch.ones(20).index_fill(0, twice, 2.0)
    ends = []
    for data, given in ((split, weights), (doubled, None)):
        population = Population(mlp, [0, 1], device="cpu", dtype=torch.float64)
        population.fit(data, epochs=5, batch_size=23, weights=given, progress=False)
        ends.append(population.params)
    for name, tensor in ends[0].items():
        torch.testing.assert_close(tensor, ends[1][name], rtol=1e-10, atol=1e-12)


def test_equal_weights_change_nothing_and_their_size_does_not_matter() -> None:
    ends = []
    for weights in (None, torch.ones(103), np.full(103, 7.0)):
        population = Population(mlp, [0, 1], device="cpu", dtype=torch.float64)
        population.fit(SPLIT, epochs=2, batch_size=16, weights=weights, progress=False)  # type: ignore[arg-type]
        ends.append(population.params["1.weight"])
    for other in ends[1:]:
        torch.testing.assert_close(ends[0], other, rtol=1e-10, atol=1e-12)


def test_a_sample_of_weight_0_may_hold_anything() -> None:
    split = images(40)
    split.x[0] = 1e30  # overflows
    population = Population(mlp, [0, 1], device="cpu")
    weights = torch.ones(40).index_fill(0, torch.tensor([0]), 0.0)
    history = population.fit(split, epochs=2, batch_size=16, weights=weights, progress=False)
    assert not history.diverged.any()
    assert all(param.isfinite().all() for param in population.params.values())


def test_members_that_leave_take_their_weights_with_them() -> None:
    weights, val = drawn(4, 103), images(50, seed=1, dtype=torch.float64)
    ends = []
    for rows in ([0, 1, 2, 3], [3]):
        population = Population(mlp, [row + 1 for row in rows], device="cpu", dtype=torch.float64)
        population.fit(
            SPLIT, val, epochs=12, batch_size=16, patience=1, weights=weights[rows], val_weights=drawn(4, 50)[rows],
            optimizer=Adam([0.1, 0.0, 0.0, 0.01][-len(rows):] if len(rows) == 1 else [0.1, 0.0, 0.0, 0.01]),
            progress=False,
        )  # fmt: skip
        ends.append({name: tensor[-1] for name, tensor in population.params.items()})
    for name, tensor in ends[0].items():
        torch.testing.assert_close(tensor, ends[1][name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("own", [False, True])
def test_the_loss_of_validation_may_be_weighted_metrics_are_not(own: bool) -> None:
    val = images(50, seed=1, dtype=torch.float64)
    weights = drawn(2, 50, zeros=0.3) if own else drawn(50, zeros=0.3)
    population = Population(mlp, [0, 1], device="cpu", dtype=torch.float64)
    history = population.fit(SPLIT, val, epochs=2, val_weights=weights, optimizer=Adam(0.0), progress=False)
    for member in range(2):
        logits = population.member(member)(val.x)
        mine = weights[member] if own else weights
        losses = F.cross_entropy(logits, val.y, reduction="none")
        assert history["loss"][0, member] == pytest.approx(float((mine * losses).sum() / mine.sum()))
        assert history["accuracy"][0, member] == pytest.approx(
            float((logits.argmax(1) == val.y).double().mean())
        )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"weights": torch.ones(102)}, ShapeError, r"\(102,\); they need one for each of 103 samples, or 2"),
        ({"weights": torch.ones(3, 103)}, ShapeError, "2 members × 103 samples"),
        ({"weights": -torch.ones(103)}, TrainingError, "finite and not negative; one is -1"),
        ({"weights": torch.full((103,), torch.nan)}, TrainingError, "one is nan"),
        ({"weights": torch.full((103,), torch.inf)}, TrainingError, "one is inf"),
        ({"weights": torch.zeros(103)}, TrainingError, "all samples of member 0 have weight 0"),
        (
            {
                "weights": (torch.arange(103) > 50).float(),
                "subsets": [torch.arange(60), torch.arange(50)],
            },
            TrainingError,
            "all samples of member 1 have weight 0",
        ),
        ({"val_weights": torch.ones(103)}, TrainingError, "need a validation split"),
    ],
)
def test_weights_that_cannot_be_are_refused(
    options: dict[str, object], error: type[DovetailError], message: str
) -> None:
    with pytest.raises(error, match=message):
        Population(mlp, [0, 1], device="cpu").fit(SPLIT, progress=False, **options)  # type: ignore[arg-type]
