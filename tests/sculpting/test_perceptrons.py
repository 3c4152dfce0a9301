"""Stacks of perceptrons against PyTorch's own layers, gradients and optimizer."""

from __future__ import annotations

import copy
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dovetail.data.split import Split
from dovetail.errors import ShapeError
from dovetail.population import Adam, Noise, epoch_order, member_keys
from dovetail.population.random import hash64, keys_at
from dovetail.sculpting.pruning.perceptrons import Head, Perceptrons
from dovetail.sculpting.pruning.repeated_trainer import RepeatedTrainer, TrainingSettings, measured

from ..population.helpers import DEVICES

WIDTHS = (5, 7, 6, 3)


def random_stack(
    members: int = 3, head: Head = "bits", seed: int = 0
) -> tuple[Perceptrons, list[nn.Sequential]]:
    """Return a stack in float64, and the same networks as ordinary modules."""
    torch.manual_seed(seed)
    networks = []
    for _ in range(members):
        layers: list[nn.Module] = []
        for before, units in pairwise(WIDTHS):
            layers += [nn.Linear(before, units), nn.ReLU()]
        networks.append(nn.Sequential(*layers[:-1]).double())
    linear = [[layer for layer in network if isinstance(layer, nn.Linear)] for network in networks]
    weights = [torch.stack([layer.weight.detach() for layer in same]) for same in zip(*linear, strict=True)]
    biases = [torch.stack([layer.bias.detach() for layer in same]) for same in zip(*linear, strict=True)]
    return Perceptrons.from_matrices(weights, biases, head), networks


def samples(head: Head, count: int = 11) -> Split:
    x = torch.randn(count, WIDTHS[0], dtype=torch.float64)
    if head == "bits":
        return Split(x, torch.randint(0, 2, (count, WIDTHS[-1])).double())
    return Split(x, torch.randint(0, WIDTHS[-1], (count,)))


def loss_of(logits: Tensor, y: Tensor, head: Head) -> Tensor:
    if head == "bits":
        return F.binary_cross_entropy_with_logits(logits, y)
    return F.cross_entropy(logits, y)


HEADS: tuple[Head, ...] = ("bits", "classes")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("head", HEADS)
def test_logits_and_gradients_are_autograds(head: Head, device: str) -> None:
    stack, networks = random_stack(head=head)
    split = samples(head)
    out = torch.zeros_like(stack.values, device=device)
    per_member = split.y.expand(len(stack), *split.y.shape)
    there = stack.to(torch.device(device), torch.float64)
    there.gradients(split.x.expand(len(stack), *split.x.shape).to(device), per_member.to(device), out)
    out = out.cpu()
    for place, network in enumerate(networks):
        loss = loss_of(network(split.x), split.y, head)
        loss.backward()
        assert torch.allclose(stack.logits(split.x)[place], network(split.x))
        linear = [layer for layer in network if isinstance(layer, nn.Linear)]
        for layer, weight, bias in zip(linear, stack.weights(out), stack.biases(out), strict=True):
            assert layer.weight.grad is not None
            assert layer.bias.grad is not None
            assert torch.allclose(weight[place], layer.weight.grad, atol=1e-14)
            assert torch.allclose(bias[place], layer.bias.grad, atol=1e-14)


@pytest.mark.parametrize("head", HEADS)
def test_measuring_counts_errors_and_averages_the_loss(head: Head) -> None:
    stack, networks = random_stack(head=head)
    split = samples(head)
    wrong, loss = stack.measure(split.x, split.y)
    for place, network in enumerate(networks):
        logits = network(split.x)
        errors = (logits > 0) != (split.y > 0.5) if head == "bits" else logits.argmax(1) != split.y
        assert int(wrong[place]) == int(errors.sum())
        assert float(loss[place]) == pytest.approx(float(loss_of(logits, split.y, head).detach()))


def test_measuring_in_parts_is_measuring_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stack, _ = random_stack()
    split = samples("bits", count=300)
    wrong, loss = stack.measure(split.x, split.y)
    monkeypatch.setattr("dovetail.sculpting.pruning.repeated_trainer._MEASURE", 1)
    in_parts = measured(stack, split)
    assert torch.equal(in_parts[0], wrong)
    assert torch.allclose(in_parts[1], loss)


def test_a_network_that_is_no_number_gets_everything_wrong() -> None:
    stack, _ = random_stack(members=2)
    stack.values[1] = torch.nan
    split = Split(samples("bits").x, torch.zeros(11, 3, dtype=torch.float64))
    wrong, _ = stack.measure(split.x, split.y)
    assert int(wrong[1]) == 33 > int(wrong[0])


def test_sensitivity_is_what_autograd_says() -> None:
    stack, _ = random_stack()
    split = samples("bits")
    found = stack.sensitivity(split.x, split.y)
    for member in range(len(stack)):
        activations: list[Tensor] = []
        x = split.x
        for weight, bias in zip(stack.weights(), stack.biases(), strict=True):
            x = F.linear(x.relu() if activations else x, weight[member], bias[member]).requires_grad_()
            x.retain_grad()
            activations.append(x)
        F.binary_cross_entropy_with_logits(x, split.y).backward()
        for scores, before in zip(found, activations[:-1], strict=True):
            assert before.grad is not None
            # Where the unit is off, both the activation and the derivative behind its ReLU are 0.
            torch.testing.assert_close(scores[member], (before.grad * before.relu()).abs().mean(0))


def plain_training(
    network: nn.Sequential,
    kept: list[Tensor],
    split: Split,
    how: TrainingSettings,
    seed: int,
    stream: int,
    large: bool,
) -> tuple[int, float, nn.Sequential]:
    """Train as anybody would, one network and one batch after another; return the best epoch."""
    assert isinstance(how.optimizer.lr, float)
    adam = torch.optim.Adam(
        network.parameters(), lr=how.optimizer.lr, weight_decay=how.optimizer.weight_decay
    )
    parameters = list(network.parameters())
    keys = member_keys([seed], stream)
    moments = [keys_at(keys, torch.tensor(epoch)) for epoch in range(how.epochs)]
    at_once = how.batch_size if large else len(split)  # noise for large data belongs to its batch
    pieces = split.x.split(at_once)
    keys_of = [[hash64(moment + start * at_once + 1) if large else moment for start in range(len(pieces))]
               for moment in moments]  # fmt: skip
    noise = how.noise * torch.stack([
        torch.cat([Noise(key).normal(x, x.shape)[0] for key, x in zip(epoch, pieces, strict=True)])
        for epoch in keys_of
    ])  # fmt: skip
    best: tuple[int, float, nn.Sequential] = (10**9, float("inf"), network)
    with torch.no_grad():
        for parameter, mask in zip(parameters, kept, strict=True):
            parameter.mul_(mask)
    for epoch in range(how.epochs):
        order = epoch_order(keys, epoch, len(split))[0]
        for start in range(0, len(split), how.batch_size):
            batch = order[start : start + how.batch_size]
            adam.zero_grad()
            x = split.x[batch] + noise[epoch, start : start + how.batch_size]
            F.binary_cross_entropy_with_logits(network(x), split.y[batch]).backward()
            adam.step()
            with torch.no_grad():
                for parameter, mask in zip(parameters, kept, strict=True):
                    parameter.mul_(mask)
        with torch.no_grad():
            logits = network(split.x)
            wrong = int(((logits > 0) != (split.y > 0.5)).sum())
            loss = float(F.binary_cross_entropy_with_logits(logits, split.y))
        if (wrong, loss) < best[:2]:
            best = (wrong, loss, copy.deepcopy(network))
    return best


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("at_once", [1, 100, 10**6])
def test_a_repeated_trainer_is_a_plain_training_loop(
    at_once: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail.sculpting.pruning.repeated_trainer._AT_ONCE", at_once)
    stack, networks = random_stack()
    split = samples("bits", count=13)
    torch.manual_seed(5)
    weight_kept = [torch.rand_like(weight) > 0.4 for weight in stack.weights()]
    bias_kept = [torch.rand_like(bias) > 0.2 for bias in stack.biases()]
    stack.kept = torch.cat([mask.flatten(1) for mask in (*weight_kept, *bias_kept)], 1)
    how = TrainingSettings(4, 5, Adam(lr=0.03, weight_decay=1e-3), noise=0.1)
    here, place_of = stack.to(torch.device(device), torch.float64), torch.device(device)
    trainer = RepeatedTrainer(
        here, [4, 9, 4], split.to(place_of, torch.float64), split.to(place_of, torch.float64), how
    )
    for stream in (0, 1):  # the second training begins where the first ended, with a fresh optimizer
        best = trainer.train(stream)
        stack = here.to(torch.device("cpu"), torch.float64)
        for place, seed in enumerate((4, 9, 4)):
            kept = [mask[place] for pair in zip(weight_kept, bias_kept, strict=True) for mask in pair]
            wrong, loss, network = plain_training(
                networks[place], kept, split, how, seed, stream, at_once == 1
            )
            networks[place] = network
            linear = [layer for layer in network if isinstance(layer, nn.Linear)]
            assert int(best.wrong[place]) == wrong
            assert float(best.loss[place]) == pytest.approx(loss, rel=1e-9)
            for layer, weight, bias in zip(linear, stack.weights(), stack.biases(), strict=True):
                assert torch.allclose(weight[place], layer.weight, atol=1e-9)
                assert torch.allclose(bias[place], layer.bias, atol=1e-9)
    assert not bool(stack.values[~stack.kept].any())


@pytest.mark.skipif(len(DEVICES) == 1, reason="needs CUDA")
@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("at_once", [1, 10**6])
def test_a_repeated_trainer_in_float32_is_the_same_on_cuda(
    at_once: int, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail.sculpting.pruning.repeated_trainer._AT_ONCE", at_once)
    start, _ = random_stack()
    split = samples("bits", count=13)
    ends = []
    for device in map(torch.device, DEVICES):
        stack, given = start.to(device, torch.float32), split.to(device, torch.float32)
        trainer = RepeatedTrainer(
            stack, [4, 9, 4], given, given, TrainingSettings(4, 5, Adam(lr=0.03), noise)
        )
        for stream in range(3):  # the later ones replay a graph
            trainer.train(stream)
        ends.append(stack.values.cpu())
    torch.testing.assert_close(ends[1], ends[0], atol=1e-4, rtol=0)


def test_layers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="layer 2"):
        Perceptrons.from_matrices(
            [torch.zeros(1, 3, 2), torch.zeros(1, 2, 4)], [torch.zeros(1, 3), torch.zeros(1, 2)]
        )
