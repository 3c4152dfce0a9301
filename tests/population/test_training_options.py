"""Clipped gradients and smoothed labels, alone and with other options, are those of a plain loop for every member."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler

from dovetail.data import Split
from dovetail.errors import SpecError, TrainingError
from dovetail.population import SGD, Adam, AdamW, Population, cross_entropy
from dovetail.population.clip import clip_gradients
from dovetail.population.optim import mask_patterns

from .helpers import DEVICES, cnn, distance, images, mlp, normed_cnn, plain_loop

SEEDS = [0, 0, 5]
SIZES = [1e-2, 1e-3, 1e-2]


def cosine(optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
    return CosineAnnealingLR(optimizer, steps)


def turned(x: Tensor, noise: object) -> Tensor:
    """Mirror every image: an augmentation that a plain loop can do, too."""
    return x.flip(-1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "optimizer", [Adam(SIZES), AdamW(0.01, weight_decay=0.1), SGD(0.2, nesterov=True)], ids=repr
)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("build", [mlp, cnn, normed_cnn])
def test_clipped_members_end_like_networks_trained_alone(
    build: Callable[[], nn.Module], masked: bool, optimizer: Adam | SGD, device: str
) -> None:
    split = images(60, dtype=torch.float64)
    population = Population(build, SEEDS, device=device, dtype=torch.float64)
    generator = torch.Generator().manual_seed(1)
    masks = {
        name: (torch.rand(param.shape, generator=generator) > 0.3).to(device)
        for name, param in population.params.items()
        if masked
    }
    population.set_masks(masks)
    alone = [population.member(i) for i in range(3)]
    unclipped = population.select(range(3))
    unclipped.fit(split, epochs=2, batch_size=16, optimizer=optimizer, progress=False)
    population.fit(split, epochs=2, batch_size=16, optimizer=optimizer, clip_gradient=0.1, progress=False)
    for member, network in enumerate(alone):
        lr = optimizer.lr if isinstance(optimizer.lr, float) else optimizer.lr[member]
        plain_loop(
            network, split.to(device), SEEDS[member], epochs=2, batch_size=16, optimizer=optimizer, lr=lr, clip=0.1,
            masks={name: mask[member] for name, mask in masks.items()},
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-12
        assert distance(network, unclipped.params, member) > 1e-4, "nothing was clipped"


@pytest.mark.parametrize("device", DEVICES)
def test_each_member_is_clipped_by_its_own_gradient(device: str) -> None:
    gradients = {"a": torch.randn(3, 4, 5, device=device), "b": torch.randn(3, 7, device=device)}
    gradients = {name: each * torch.tensor([10, 0.01, 1], device=device).view(-1, *[1] * (each.dim() - 1))
                 for name, each in gradients.items()}  # fmt: skip
    kept = {"b": torch.rand(3, 7, device=device) > 0.5}
    clipped = clip_gradients(gradients, 0.5, mask_patterns(kept, gradients))
    for member in range(3):
        own = [nn.Parameter(torch.zeros_like(each[member])) for each in gradients.values()]
        own[0].grad = gradients["a"][member].clone()
        own[1].grad = gradients["b"][member] * kept["b"][member]
        nn.utils.clip_grad_norm_(own, 0.5)
        for parameter, found in zip(own, clipped.values(), strict=True):
            torch.testing.assert_close(found[member], parameter.grad)


def test_parameters_with_one_gradient_in_common_are_clipped_once() -> None:
    class Sum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = (nn.Parameter(torch.zeros(5)) for _ in range(2))

        def forward(self, x: Tensor) -> Tensor:
            return x.flatten(1)[:, :5] + (self.first + self.second)

    split = images(40, dtype=torch.float64)
    population = Population(Sum, [1, 2], device="cpu", dtype=torch.float64)
    population.set_masks({"first": torch.tensor([1, 0, 1, 1, 1])})
    alone = population.member(1)
    population.fit(split, epochs=2, batch_size=16, optimizer=SGD(0.5), clip_gradient=0.1, progress=False)
    plain_loop(
        alone, split, 2, epochs=2, batch_size=16, optimizer=SGD(0.5), lr=0.5, clip=0.1,
        masks={"first": torch.tensor([1, 0, 1, 1, 1])},
    )  # fmt: skip
    assert population.params["second"][1, 1] != 0
    for name, parameter in alone.named_parameters():
        torch.testing.assert_close(population.params[name][1], parameter.detach(), rtol=1e-12, atol=1e-12)


def test_the_penalty_is_clipped_with_the_loss() -> None:
    split = images(60, dtype=torch.float64)
    population = Population(mlp, [1, 2], device="cpu", dtype=torch.float64)
    alone = [population.member(i) for i in range(2)]

    def penalty(params: Mapping[str, Tensor]) -> Tensor:
        return torch.stack([p.square().flatten(1).sum(1) for p in params.values()]).sum(0)

    population.fit(split, epochs=2, batch_size=16, penalty=penalty, clip_gradient=0.5, progress=False)
    for member, network in enumerate(alone):
        plain_loop(
            network, split, member + 1, epochs=2, batch_size=16, optimizer=Adam(), lr=1e-3, clip=0.5,
            loss=lambda logits, y, n=network: (  # type: ignore[misc]
                F.cross_entropy(logits, y) + sum(p.square().sum() for p in n.parameters())
            ),
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-12


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("smoothing", [0.1, 1])
def test_smoothed_members_end_like_networks_trained_alone(smoothing: float, device: str) -> None:
    split = images(99, dtype=torch.float64)
    population = Population(mlp, SEEDS, device=device, dtype=torch.float64)
    alone = [population.member(i) for i in range(3)]
    history = population.fit(
        split, split, epochs=2, batch_size=16, optimizer=Adam(SIZES), label_smoothing=smoothing, keep="last",
        progress=False,
    )  # fmt: skip
    measured = population.evaluate(split)["loss"]
    torch.testing.assert_close(history["loss"][-1], measured, rtol=1e-12, atol=0)  # without smoothing
    for member, network in enumerate(alone):
        plain_loop(
            network, split.to(device), SEEDS[member], epochs=2, batch_size=16, optimizer=Adam(), lr=SIZES[member],
            loss=nn.CrossEntropyLoss(label_smoothing=smoothing),
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-12


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_minimised_may_differ_from_what_is_measured(device: str) -> None:
    split = images(60, dtype=torch.float64)
    population = Population(mlp, [1, 2], device=device, dtype=torch.float64)
    alone = [population.member(i) for i in range(2)]
    power = torch.tensor([1.0, 2.0], dtype=torch.float64)

    def minimised(logits: Tensor, target: Tensor, power: Tensor) -> Tensor:
        return cross_entropy(logits, target) ** power

    history = population.fit(
        split, split, epochs=2, batch_size=16, training_objective=minimised, per_member={"power": power}, keep="last",
        progress=False,
    )  # fmt: skip
    torch.testing.assert_close(history["loss"][-1], population.evaluate(split)["loss"], rtol=1e-12, atol=0)
    for member, network in enumerate(alone):

        def loss(logits: Tensor, y: Tensor, exponent: int = member + 1) -> Tensor:
            return (F.cross_entropy(logits, y, reduction="none") ** exponent).mean()

        plain_loop(
            network,
            split.to(device),
            member + 1,
            epochs=2,
            batch_size=16,
            optimizer=Adam(),
            lr=1e-3,
            loss=loss,
        )
        assert distance(network, population.params, member) < 1e-12
    with pytest.raises(SpecError, match="'the training objective' needs 'power', a value for each member"):
        population.fit(split, epochs=1, training_objective=minimised, progress=False)
    with pytest.raises(TrainingError, match="belongs to the default objective"):
        population.fit(split, epochs=1, training_objective=cross_entropy, label_smoothing=0.1, progress=False)


@pytest.mark.parametrize("device", DEVICES)
def test_smoothed_targets_of_the_members_own_with_weights(device: str) -> None:
    split = images(80, dtype=torch.float64)
    targets = torch.stack([split.y, (split.y + 1) % 5])
    weights = torch.arange(80, dtype=torch.float64) % 4
    population = Population(mlp, [1, 1], device=device, dtype=torch.float64)
    alone = [population.member(i) for i in range(2)]
    population.fit(
        split, epochs=2, batch_size=16, targets=targets, weights=weights, label_smoothing=0.2, progress=False
    )
    for member, network in enumerate(alone):
        # The weight of a sample goes along with its target.
        both = Split(split.x, torch.stack([targets[member], weights.long()], 1)).to(device)

        def loss(logits: Tensor, y: Tensor) -> Tensor:
            losses = F.cross_entropy(logits, y[:, 0], reduction="none", label_smoothing=0.2)
            return (losses * y[:, 1]).sum() / y[:, 1].sum()

        plain_loop(network, both, 1, epochs=2, batch_size=16, optimizer=Adam(), lr=1e-3, loss=loss)
        assert distance(network, population.params, member) < 1e-12


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("optimizer", [AdamW(SIZES), SGD([0.1, 0.2, 0.1], nesterov=True)], ids=repr)
@pytest.mark.parametrize("build", [mlp, normed_cnn])
def test_all_options_together_with_augmentation(
    build: Callable[[], nn.Module], optimizer: Adam | SGD, device: str
) -> None:
    split = images(99, dtype=torch.float64)
    fit = partial(
        Population.fit, train=split, epochs=2, batch_size=16, schedule="cosine", label_smoothing=0.1,
        clip_gradient=0.3, augment=turned, progress=False,
    )  # fmt: skip
    population = Population(build, SEEDS, device=device, dtype=torch.float64)
    networks = [population.member(i) for i in range(3)]
    fit(population, optimizer=optimizer)
    assert not isinstance(optimizer.lr, float)
    for member, network in enumerate(networks):
        plain_loop(
            network, Split(split.x.flip(-1), split.y).to(device), SEEDS[member], epochs=2, batch_size=16,
            optimizer=optimizer, lr=optimizer.lr[member], schedule=cosine, clip=0.3,
            loss=nn.CrossEntropyLoss(label_smoothing=0.1),
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-12
        alone = Population(build, [SEEDS[member]], device=device, dtype=torch.float64)
        fit(alone, optimizer=type(optimizer)(**{**vars(optimizer), "lr": optimizer.lr[member]}))
        for name, tensor in alone.params.items():
            torch.testing.assert_close(population.params[name][member], tensor[0], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("build", [mlp, cnn, normed_cnn])
def test_on_one_thread_a_clipped_member_learns_the_same_in_any_company(
    build: Callable[[], nn.Module],
) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        ends = {}
        for seeds in ([5], [5, 6], [7, 6, 5]):
            population = Population(build, seeds, device="cpu")
            population.fit(
                images(56), epochs=2, batch_size=24, schedule="one-cycle", label_smoothing=0.1, clip_gradient=0.3,
                optimizer=AdamW(0.01), progress=False,
            )  # fmt: skip
            ends[len(seeds)] = [tensor[seeds.index(5)] for tensor in population.params.values()]
        for count in (2, 3):
            torch.testing.assert_close(ends[count], ends[1], atol=1e-7, rtol=0)
    finally:
        torch.set_num_threads(threads)


def test_what_cannot_be_smoothed_or_clipped_is_refused() -> None:
    split = images(40)
    fit: Callable[..., Any] = partial(Population(mlp, [0], device="cpu").fit, epochs=1, progress=False)
    for smoothing in (-0.1, 1.1, float("nan"), True, "0.1"):
        with pytest.raises(TrainingError, match="from 0 to 1, not"):
            fit(split, label_smoothing=smoothing)
    with pytest.raises(TrainingError, match=r"label_smoothing=0.1 belongs to the default objective"):
        fit(split, label_smoothing=0.1, objective=cross_entropy)
    with pytest.raises(TrainingError, match=r"for classes, but the targets are values"):
        fit(Split(split.x, torch.randn(40, 5)), label_smoothing=0.1)
    for most in (0, -1.0, float("inf"), float("nan"), True, "1"):
        with pytest.raises(TrainingError, match="clip_gradient must be a finite number above 0"):
            fit(split, clip_gradient=most)
    with pytest.raises(TrainingError, match="nesterov looks ahead along the momentum"):
        fit(split, optimizer=SGD(momentum=0.0, nesterov=True))
