"""A member of a population ends where the same network ends when it is trained alone by a plain loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dovetail.population import SGD, Adam, AdamW, Population

from .helpers import DEVICES, cnn, distance, images, mlp, normed_cnn, plain_loop

SEEDS = [0, 0, 5, 7]
SIZES = [1e-3, 1e-2, 1e-3, 3e-3]
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


@pytest.fixture(autouse=True)
def exact_float32() -> Iterator[None]:
    """Let CUDA convolutions use all bits of float32, as the comparison needs."""
    allowed = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    yield
    torch.backends.cudnn.allow_tf32 = allowed


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize(
    "optimizer",
    [
        Adam(SIZES, weight_decay=1e-3),
        Adam(),
        AdamW(SIZES, weight_decay=0.1),
        SGD(0.05, weight_decay=1e-3),
        SGD([0.05, 0.1, 0.05, 0.02], nesterov=True, weight_decay=1e-3),
    ],
    ids=repr,
)
@pytest.mark.parametrize("build", [mlp, cnn])
def test_members_end_like_networks_trained_alone(
    build: Callable[[], nn.Module], optimizer: Adam | SGD, dtype: torch.dtype, device: str
) -> None:
    split = images(203, dtype=dtype)
    population = Population(build, SEEDS, device=device, dtype=dtype)
    generator = torch.Generator().manual_seed(1)
    masks = {
        name: (torch.rand(param.shape, generator=generator) > 0.3).to(device)
        for name, param in population.params.items()
    }
    population.set_masks(masks)
    alone = [population.member(i) for i in range(4)]
    population.fit(split, epochs=3, batch_size=16, optimizer=optimizer, progress=False)
    for member, network in enumerate(alone):
        own = {name: mask[member] for name, mask in masks.items()}
        lr = optimizer.lr if isinstance(optimizer.lr, float) else optimizer.lr[member]
        plain_loop(
            network,
            split.to(device),
            SEEDS[member],
            epochs=3,
            batch_size=16,
            optimizer=optimizer,
            lr=lr,
            masks=own,
        )
        assert distance(network, population.params, member) < TOLERANCE[dtype]


@pytest.mark.parametrize("device", DEVICES)
def test_batch_norm_members_end_like_networks_trained_alone(device: str) -> None:
    split = images(203, dtype=torch.float64)
    population = Population(normed_cnn, [3, 4], device=device, dtype=torch.float64)
    alone = [population.member(i) for i in range(2)]
    population.fit(split, epochs=2, batch_size=16, progress=False)
    for member, network in enumerate(alone):
        plain_loop(
            network, split.to(device), [3, 4][member], epochs=2, batch_size=16, optimizer=Adam(), lr=1e-3
        )
        assert distance(network, population.params, member) < 1e-12


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "optimizer",
    [
        Adam(weight_decay=1e-3),
        AdamW(weight_decay=0.1),
        SGD(0.05, weight_decay=1e-3),
        SGD(0.05, nesterov=True),
    ],
    ids=repr,
)
def test_subsets_of_unequal_size_train_like_alone(optimizer: Adam | SGD, device: str) -> None:
    split = images(150, dtype=torch.float64)
    subsets = [torch.arange(150)[split.y == 1], torch.arange(0, 150, 2), torch.arange(7)]
    population = Population(mlp, [1, 2, 3], device=device, dtype=torch.float64)
    alone = [population.member(i) for i in range(3)]
    population.fit(split, epochs=4, batch_size=16, optimizer=optimizer, subsets=subsets, progress=False)
    assert isinstance(optimizer.lr, float)
    for member, network in enumerate(alone):
        plain_loop(
            network, split.to(device), member + 1, epochs=4, batch_size=16, optimizer=optimizer, lr=optimizer.lr,
            indices=subsets[member].to(device),
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-12


def test_members_with_their_own_targets_and_objective_parameters() -> None:
    split = images(90, dtype=torch.float64)
    targets = torch.stack([split.y, (split.y + 1) % 5])
    temperature = torch.tensor([1.0, 3.0], dtype=torch.float64)

    def objective(logits: Tensor, target: Tensor, temperature: Tensor) -> Tensor:
        return F.cross_entropy(logits / temperature, target, reduction="none")

    population = Population(mlp, [1, 1], device="cpu", dtype=torch.float64)
    alone = [population.member(i) for i in range(2)]
    population.fit(
        split, epochs=3, batch_size=16, objective=objective, per_member={"temperature": temperature}, targets=targets,
        progress=False,
    )  # fmt: skip
    for member, network in enumerate(alone):
        own = type(split)(split.x, targets[member])
        heat = float(temperature[member])
        plain_loop(
            network, own, 1, epochs=3, batch_size=16, optimizer=Adam(), lr=1e-3,
            loss=lambda logits, y, heat=heat: F.cross_entropy(logits / heat, y),  # type: ignore[misc]
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-12


def test_a_penalty_may_differ_between_members() -> None:
    split = images(90, dtype=torch.float64)
    weight = torch.tensor([0.0, 0.02], dtype=torch.float64)
    population = Population(mlp, [1, 1], device="cpu", dtype=torch.float64)
    alone = [population.member(i) for i in range(2)]

    def penalty(params: Mapping[str, Tensor], weight: Tensor) -> Tensor:
        return weight * torch.stack([p.square().flatten(1).sum(1) for p in params.values()]).sum(0)

    # One at a time: each part of the population must get its own weight.
    population.fit(
        split,
        epochs=3,
        batch_size=16,
        progress=False,
        penalty=penalty,
        per_member={"weight": weight},
        at_once=1,
    )
    for member, network in enumerate(alone):
        plain_loop(
            network, split, 1, epochs=3, batch_size=16, optimizer=Adam(), lr=1e-3,
            loss=lambda logits, y, n=network, w=float(weight[member]): (  # type: ignore[misc]
                F.cross_entropy(logits, y) + w * sum(p.square().sum() for p in n.parameters())
            ),
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-12


def test_a_penalty_is_added_to_the_loss() -> None:
    split = images(90, dtype=torch.float64)
    population = Population(mlp, [1, 2], device="cpu", dtype=torch.float64)
    alone = [population.member(i) for i in range(2)]
    population.fit(
        split, epochs=3, batch_size=16, progress=False,
        penalty=lambda params: 0.01 * sum(p.abs().flatten(1).sum(1) for p in params.values()),
    )  # fmt: skip
    for member, network in enumerate(alone):
        plain_loop(
            network, split, member + 1, epochs=3, batch_size=16, optimizer=Adam(), lr=1e-3,
            loss=lambda logits, y, n=network: (  # type: ignore[misc]
                F.cross_entropy(logits, y) + 0.01 * sum(p.abs().sum() for p in n.parameters())
            ),
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-12
