"""Sculpting networks with convolutions, against ablation, finite differences and plain loops."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.data import Dataset, Split
from dovetail.errors import ShapeError, SpecError
from dovetail.population.objectives import bit_cross_entropy, cross_entropy, squared_error
from dovetail.sculpting.channels.sculpt import constant_accuracy
from dovetail.sculpting.channels.units import UnitChain
from dovetail.sculpting.pruning.perceptrons import Perceptrons


def small_network(*, batch_norm: bool = False) -> Any:
    """Two convolutions and two dense layers on pictures of 2 x 6 x 6."""
    torch.manual_seed(0)
    norm = [nn.BatchNorm2d(4)] if batch_norm else []
    network: Any = nn.Sequential(
        nn.Conv2d(2, 4, 3), *norm, nn.ReLU(), nn.Conv2d(4, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3 * 4, 5), nn.ReLU(), nn.Linear(5, 3),
    )  # fmt: skip
    if batch_norm:
        nn.init.normal_(network[1].bias)
        nn.init.normal_(network[1].running_mean)
    return network.double()


def samples(outputs: Tensor) -> Split:
    x = torch.randn(len(outputs), 2, 6, 6, generator=torch.Generator().manual_seed(1)).double()
    return Split(x, outputs)


def losses_with_unit_scaled(
    network: Any, layer: int, unit: int, factor: float, split: Split, loss: Any
) -> Tensor:
    """Return each sample's loss where all that a unit passes on to a layer (its place in `network`) is scaled."""
    with torch.no_grad():
        x = network[:layer](split.x)
        places = x[0].numel() // {True: x.shape[1], False: 3}[x.dim() == 4 or layer == len(network) - 1]
        x = x.reshape(len(x), -1, places).clone()
        x[:, unit] *= factor
        x = x.reshape(len(x), x.shape[1], 4, -1) if isinstance(network[layer], nn.Conv2d) else x.flatten(1)
        losses: Tensor = loss(network[layer:](x), split.y)
        return losses


@pytest.mark.parametrize("batch_norm", [False, True])
@pytest.mark.parametrize("task", ["classes", "values"])
def test_sensitivity_is_what_scaling_a_channel_changes(task: str, batch_norm: bool) -> None:
    network = small_network(batch_norm=batch_norm).eval()
    split = samples(torch.arange(9) % 3 if task == "classes" else torch.randn(9, 3).double())
    loss = {"classes": cross_entropy, "values": squared_error}[task]
    chain = UnitChain(network, split.x[:1])
    assert chain.sizes == (2, 4, 3, 5, 3)
    later = [n for n, part in enumerate(network) if isinstance(part, nn.Conv2d | nn.Linear)][1:]
    found, step = [], 1e-5
    for layer, units in zip(later, chain.sizes[1:-1], strict=True):
        for unit in range(units):
            up, down = (
                losses_with_unit_scaled(network, layer, unit, 1 + sign * step, split, loss)
                for sign in (1, -1)
            )
            found.append(float(((up - down) / (2 * step)).abs().mean()))
    np.testing.assert_allclose(chain.sensitivity(network, split, loss).numpy(), found, rtol=1e-5, atol=1e-9)


def test_in_a_perceptron_sensitivity_is_that_of_the_paper() -> None:
    weights = [torch.randn(1, 6, 4), torch.randn(1, 5, 6), torch.randn(1, 2, 5)]
    biases = [torch.randn(1, weight.shape[1]) for weight in weights]
    stack = Perceptrons.from_matrices(weights, biases)
    network: Any = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))
    with torch.no_grad():
        for place, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            network[2 * place].weight.copy_(weight[0])
            network[2 * place].bias.copy_(bias[0])
    split = Split(torch.randn(20, 4), torch.randint(2, (20, 2)).float())
    ours = UnitChain(network, split.x[:1]).sensitivity(network, split, bit_cross_entropy)
    # That of the mean loss over samples.
    papers = torch.cat(stack.sensitivity(split.x, split.y), 1)[0] * len(split)
    np.testing.assert_allclose(ours.numpy(), papers.numpy(), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("batch_norm", [False, True])
def test_masks_take_out_whole_channels_and_kernels(batch_norm: bool) -> None:
    """A channel that nothing leads to and that leads nowhere is one that is not there."""
    network = small_network(batch_norm=batch_norm).train()
    split = samples(torch.arange(9) % 3)
    chain = UnitChain(network, split.x[:1])
    params = {name: value.detach()[None] for name, value in network.named_parameters()}
    kept = [torch.ones(1, after, before, dtype=torch.bool) for before, after in pairwise(chain.sizes)]
    kept[0][0, 2], kept[1][0, :, 2] = False, False  # a unit
    kept[1][0, 1, 3] = kept[2][0, 4, 2] = False  # a kernel, and what one flattened channel sends to a unit
    masks = chain.masks(kept, params)
    second, dense = (network[place + batch_norm] for place in (2, 6))
    with torch.no_grad():
        for name, value in network.named_parameters():
            if name in masks:
                value.mul_(masks[name][0])
        assert (network[: 3 if batch_norm else 2](split.x)[:, 2] == 0).all()
        assert (second.weight[1, 3] == 0).all()
        assert (second.weight[0, 3] != 0).all()
        assert (dense.weight.view(5, 3, 4)[4, 2] == 0).all()
        assert (dense.weight.view(5, 3, 4)[4, 1] != 0).all()
    assert "9.bias" not in masks  # outputs may be constant
    found = dt.detect_modules(network, example_input=split.x[:1])
    for edges, expected in zip(found.connections, kept, strict=True):
        assert (edges == expected[0].numpy()).all()


def test_the_length_of_an_edge_is_that_of_all_its_weights() -> None:
    network = small_network()
    chain = UnitChain(network, torch.zeros(1, 2, 6, 6).double())
    lengths = chain.lengths({name: value.detach()[None] for name, value in network.named_parameters()})
    assert lengths[1][0, 2, 3] == pytest.approx(float((network[2].weight.detach()[2, 3] ** 2).sum().sqrt()))
    assert lengths[2][0, 4, 1] == pytest.approx(float((network[6].weight.detach()[4, 4:8] ** 2).sum().sqrt()))
    assert lengths[3][0, 1, 0] == pytest.approx(float(network[8].weight[1, 0].detach().abs()))


def two_channels(task: str) -> Dataset:
    """Pictures of two channels; each output looks at one of them."""
    generator = torch.Generator().manual_seed(5)

    def split(count: int) -> Split:
        x = torch.randn(count, 2, 4, 4, generator=generator)
        # Brighter above than below.
        y = x[:, :, :2].mean((2, 3)) - x[:, :, 2:].mean((2, 3))
        return Split(x, {"bits": (y > 0).float(), "values": y.relu()}[task])

    return Dataset("two-channels", split(600), split(200), split(200), ("first", "second"), task=task)  # type: ignore[arg-type]


class TwoChannels(nn.Sequential):
    """A convolution of four channels and a dense layer."""

    def __init__(self) -> None:
        super().__init__(nn.Conv2d(2, 6, 4), nn.ReLU(), nn.Flatten(), nn.Linear(6, 2))


@pytest.fixture(scope="module")
def sculpture() -> dt.sculpting.ChannelSculpture:
    return dt.sculpt_channels(
        two_channels("bits"), TwoChannels, epochs=8, lr=0.03, batch_size=50, unit_steps=[0.5], edge_steps=[0.2, 0.3],
        threshold=0.95, progress=False,
    )  # fmt: skip


@pytest.mark.slow
def test_what_each_output_looks_at_is_found(sculpture: dt.sculpting.ChannelSculpture) -> None:
    assert sculpture.outcome == "sculpted"
    modules = sculpture.hierarchy.modules
    assert len(modules) == 2
    for number in range(2):
        assert sculpture.hierarchy.inputs_of(number) == sculpture.hierarchy.outputs_of(number)


@pytest.mark.slow
def test_what_is_said_of_a_sculpture_holds_for_its_network(sculpture: dt.sculpting.ChannelSculpture) -> None:
    data = two_channels("bits")
    with torch.no_grad():
        right = (sculpture.network(data.val.x) > 0) == (data.val.y > 0.5)
    assert float(right.double().mean()) == pytest.approx(sculpture.accuracy, abs=1e-6)
    assert sculpture.accuracy >= sculpture.threshold == 0.95
    assert sculpture.history[-1].edges == sculpture.edges
    network: Any = sculpture.network
    kernels = network[0].weight.flatten(2).ne(0).any(2).numpy()
    assert (kernels <= sculpture.connections[0]).all()
    for name, value in sculpture.network.named_parameters():
        if name in sculpture.masks:
            assert (value[~sculpture.masks[name]] == 0).all()


@pytest.mark.slow
def test_pruning_never_brings_anything_back(sculpture: dt.sculpting.ChannelSculpture) -> None:
    for before, after in pairwise(sculpture.history):
        assert after.edges < before.edges
        assert after.accuracy >= 0.95


@pytest.mark.slow
def test_a_sculpture_speaks_json_text_and_html(sculpture: dt.sculpting.ChannelSculpture) -> None:
    content = json.loads(sculpture.to_json())
    assert content["edges"] == sculpture.edges
    assert len(content["history"]) == len(sculpture.to_frame())
    assert "first" in sculpture.describe()
    assert sculpture.describe().splitlines()[0] in sculpture._repr_html_()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_network() -> None:
    options = {
        "epochs": 2,
        "lr": 0.03,
        "unit_steps": [0.3],
        "edge_steps": [],
        "threshold": 0.6,
        "progress": False,
    }
    first, second = (dt.sculpt_channels(two_channels("bits"), TwoChannels, **options) for _ in range(2))  # type: ignore[arg-type]
    for one, other in zip(first.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.slow
def test_values_are_a_task_that_is_done_when_enough_of_them_is_explained() -> None:
    """A product and a distance, of two inputs each, beside two inputs that say nothing."""
    generator = torch.Generator().manual_seed(0)

    def split(count: int) -> Split:
        x = torch.randn(count, 6, generator=generator)
        return Split(x, torch.stack([x[:, 0] * x[:, 1], (x[:, 2] - x[:, 3]).abs()], 1))

    data = Dataset("values", split(2000), split(500), split(500), ("product", "distance"), task="values")
    found = dt.sculpt_channels(
        data,
        "mlp:24,dropout=0",
        epochs=30,
        lr=0.01,
        unit_steps=0.3,
        edge_steps=0.05,
        threshold=0.9,
        progress=False,
    )
    with torch.no_grad():
        off = (found.network(data.val.x) - data.val.y) ** 2
    explained = 1 - off.mean() / data.val.y.var(0, correction=0).mean()
    assert float(explained) == pytest.approx(found.accuracy, abs=1e-5)
    assert found.accuracy >= 0.9
    hierarchy = found.hierarchy
    ends = {(hierarchy.inputs_of(n), hierarchy.outputs_of(n)) for n in range(len(hierarchy.modules))}
    assert ends == {(frozenset({0, 1}), frozenset({0})), (frozenset({2, 3}), frozenset({1}))}


def test_sculpt_says_what_takes_values() -> None:
    with pytest.raises(SpecError, match="sculpt_channels takes values"):
        dt.sculpt(two_channels("values"), progress=False)


def test_what_was_not_learned_is_said() -> None:
    found = dt.sculpt_channels(
        two_channels("bits"), TwoChannels, epochs=1, lr=1e-6, threshold=0.95, progress=False
    )
    assert found.outcome == "not learned"
    assert "train it longer" in found.describe()
    assert found.to_dict()["hierarchy"] is None
    assert constant_accuracy(two_channels("values")) == 0


class Shortcut(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 2, 3, padding=1), nn.Conv2d(2, 2, 3, padding=1)
        self.last = nn.Linear(32, 2)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.last((x + self.second(self.first(x).relu())).flatten(1))
        return out


@pytest.mark.parametrize(
    ("net", "options", "error", "message"),
    [
        (Shortcut, {}, ShapeError, "does not read|added to others"),
        (lambda: nn.Sequential(nn.Flatten(), nn.Linear(32, 2)), {}, SpecError, "hidden units"),
        (TwoChannels, {"unit_steps": [2]}, SpecError, "unit_steps"),
        (TwoChannels, {"epochs": 0}, SpecError, "epochs must be at least 1"),
    ],
)
def test_what_cannot_be_sculpted_is_said(
    net: Callable[[], nn.Module], options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        dt.sculpt_channels(two_channels("bits"), net, progress=False, **options)  # type: ignore[arg-type]
