"""Batch norm and other norms, folded into the layers next to them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import fuse_conv_bn_eval, fuse_linear_bn_eval

import dovetail as dt
from dovetail.graph import network_graph

from .networks import kernel_sums, randomise, sizes

IMAGE = torch.zeros(1, 2, 9, 9)


def _factor(norm: nn.Module) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    scale, variance = norm.get_parameter("weight").detach().double(), norm.get_buffer("running_var").double()
    return (scale.abs() / (variance + 1e-5).sqrt()).numpy()


def _fused(layer: nn.Conv2d | nn.Linear, norm: nn.BatchNorm2d | nn.BatchNorm1d) -> nn.Module:
    return (
        fuse_conv_bn_eval(layer, norm) if isinstance(layer, nn.Conv2d) else fuse_linear_bn_eval(layer, norm)
    )


@pytest.mark.parametrize("spec", ["vgg16", "resnet18"])
def test_the_same_as_fusing_with_pytorch(spec: str) -> None:
    network = randomise(dt.build_net(spec, (3, 32, 32), 10), seed=0).eval()
    fused = copy.deepcopy(network)
    for parent in fused.modules():
        before = None
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.BatchNorm2d | nn.BatchNorm1d) and before is not None:
                setattr(parent, before[0], _fused(before[1], child))
                setattr(parent, name, nn.Identity())
            before = (name, child) if isinstance(child, nn.Conv2d | nn.Linear) else None
    image = torch.zeros(1, 3, 32, 32)
    assert torch.allclose(network(image), fused(image), rtol=1e-3)
    graphs = [network_graph(each, image, convention="mlp") for each in (network, fused)]
    assert graphs[0].groups == graphs[1].groups
    for ours, theirs in zip(graphs[0].blocks, graphs[1].blocks, strict=True):
        np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-4)


def test_through_relu_and_pooling_it_goes_into_the_layer_before() -> None:
    network = nn.Sequential(
        nn.Conv2d(2, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout2d(), nn.BatchNorm2d(3), nn.Conv2d(3, 4, 1)
    )
    randomise(network, 0)
    graph = network_graph(network, IMAGE, convention="mlp")
    np.testing.assert_allclose(
        graph.blocks[0].weights, kernel_sums(network[0]) * _factor(network[4])[:, None]
    )
    np.testing.assert_allclose(graph.blocks[1].weights, kernel_sums(network[5]))


def test_behind_other_activations_it_goes_into_the_layer_after() -> None:
    network = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Sigmoid(), nn.BatchNorm2d(3), nn.Conv2d(3, 4, 1))
    randomise(network, 0)
    graph = network_graph(network, IMAGE, convention="mlp")
    np.testing.assert_allclose(graph.blocks[0].weights, kernel_sums(network[0]))
    np.testing.assert_allclose(graph.blocks[1].weights, kernel_sums(network[3]) * _factor(network[2]))


class PreActivation(nn.Module):
    """Norm and ReLU before each convolution; the shortcut takes what comes before the norm."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 3)
        self.norm1, self.conv1 = nn.BatchNorm2d(4), nn.Conv2d(4, 3, 1)
        self.norm2, self.conv2 = nn.BatchNorm2d(3), nn.Conv2d(3, 4, 1)
        self.norm3, self.output = nn.BatchNorm2d(4), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = x + self.conv2(self.norm2(self.conv1(self.norm1(x).relu())).relu())
        out: Tensor = self.output(self.norm3(x).relu().mean((2, 3)))
        return out


def test_pre_activation_norms_go_into_the_layers_that_read_them() -> None:
    network = PreActivation()
    randomise(network, 0)
    graph = network_graph(network, IMAGE, convention="mlp")
    weights = {block.name: block.weights for block in graph.blocks}
    # The stem's output is also what the shortcut takes: it must stay as it is.
    np.testing.assert_allclose(weights["stem"], kernel_sums(network.stem))
    # Only norm2 has one layer before it that nothing else reads.
    np.testing.assert_allclose(
        weights["conv1"],
        kernel_sums(network.conv1) * _factor(network.norm1) * _factor(network.norm2)[:, None],
    )
    np.testing.assert_allclose(weights["conv2"], kernel_sums(network.conv2))
    np.testing.assert_allclose(weights["output"], kernel_sums(network.output) * _factor(network.norm3))


def test_a_norm_over_a_concatenation_goes_into_the_layer_after() -> None:
    class Dense(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Conv2d(2, 3, 1), nn.Conv2d(3, 4, 1)
            self.norm, self.last = nn.BatchNorm2d(7), nn.Conv2d(7, 2, 1)

        def forward(self, x: Tensor) -> Tensor:
            x = self.first(x)
            x = torch.cat([x, self.second(x)], 1)
            out: Tensor = self.last(self.norm(x).relu())
            return out

    network = Dense()
    randomise(network, 0)
    graph = network_graph(network, IMAGE)
    weights = {block.name: block.weights for block in graph.blocks}
    assert sizes(graph) == {"first": 3, "second": 4, "last": 2}
    np.testing.assert_allclose(weights["second"], kernel_sums(network.second))
    np.testing.assert_allclose(weights["last"], kernel_sums(network.last) * _factor(network.norm))


def test_a_norm_over_flattened_maps_scales_each_place() -> None:
    network = nn.Sequential(nn.Conv2d(2, 3, 8), nn.Flatten(), nn.BatchNorm1d(12), nn.Linear(12, 4))
    randomise(network, 0)
    graph = network_graph(network, IMAGE, convention="mlp")
    by_place = kernel_sums(network[3]) * _factor(network[2])
    np.testing.assert_allclose(graph.blocks[1].weights, by_place.reshape(4, 3, 4).sum(axis=2))


@pytest.mark.parametrize(
    "norm",
    [nn.LayerNorm([3, 7, 7]), nn.GroupNorm(3, 3), nn.InstanceNorm2d(3, affine=True)],
    ids=lambda n: type(n).__name__,
)
def test_other_norms_fold_in_their_scale_alone(norm: nn.Module) -> None:
    network = nn.Sequential(nn.Conv2d(2, 3, 3), norm, nn.Conv2d(3, 4, 1))
    with torch.no_grad():
        scale = norm.get_parameter("weight")
        scale.copy_(torch.tensor([1.0, -2.0, 3.0]).reshape(3, *[1] * (scale.dim() - 1)))
    graph = network_graph(network, IMAGE, convention="mlp")
    np.testing.assert_allclose(
        graph.blocks[0].weights, kernel_sums(network[0]) * np.array([[1.0], [2.0], [3.0]])
    )
    np.testing.assert_allclose(graph.blocks[1].weights, kernel_sums(network[2]))


def test_a_product_with_a_constant_is_folded_in() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)
            self.scale = nn.Parameter(torch.tensor([1.0, -2.0, 0.5, 0.0]))

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.second(2 * (self.first(x) * self.scale))
            return out

    network = Scaled()
    graph = network_graph(network, torch.zeros(1, 3))
    # A number scales all units alike and is left out.
    expected = kernel_sums(network.first) * np.array([[1.0], [2.0], [0.5], [0.0]])
    np.testing.assert_allclose(graph.blocks[0].weights, expected)
    np.testing.assert_allclose(graph.blocks[1].weights, kernel_sums(network.second))


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: x.unbind(1),
        lambda x: [part.squeeze(1) for part in x.chunk(2, dim=1)],
        lambda x: [part.squeeze(1) for part in x.split(1, dim=1)],
    ],
)
def test_norms_of_pieces_go_into_the_layers_that_read_them(
    cut: Callable[[Tensor], Sequence[Tensor]],
) -> None:
    class Pieces(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Linear(3, 4)
            self.norms = nn.ModuleList([nn.BatchNorm1d(4), nn.BatchNorm1d(4)])
            self.readers = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])

        def forward(self, x: Tensor) -> Tensor:
            pieces = zip(self.readers, self.norms, cut(self.stem(x)), strict=True)
            outs: list[Tensor] = [reader(norm(piece)) for reader, norm, piece in pieces]
            return torch.cat(outs, dim=1)

    network = Pieces()
    for number, norm in enumerate(network.norms):
        assert isinstance(norm.running_var, Tensor)
        norm.running_var.copy_(torch.rand(4) + number)
    blocks = {block.name: block.weights for block in network_graph(network, torch.zeros(1, 2, 3)).blocks}
    assert blocks["stem"] == pytest.approx(network.stem.weight.detach().double().abs().numpy())
    for number, (reader, norm) in enumerate(zip(network.readers, network.norms, strict=True)):
        assert isinstance(reader, nn.Linear)
        weight = reader.weight.detach().double().abs().numpy()
        assert blocks[f"readers.{number}"] == pytest.approx(weight * _factor(norm))


def test_a_norm_of_the_only_piece_that_is_used_goes_into_the_layer_before() -> None:
    class First(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem, self.norm, self.last = nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)

        def forward(self, x: Tensor) -> Tensor:
            first, _ = self.stem(x).unbind(1)
            out: Tensor = self.last(self.norm(first))
            return out

    network = First()
    nn.init.uniform_(network.norm.weight)
    blocks = {block.name: block.weights for block in network_graph(network, torch.zeros(1, 2, 3)).blocks}
    weight = network.stem.weight.detach().double().abs().numpy()
    assert blocks["stem"] == pytest.approx(weight * _factor(network.norm)[:, None])


class Team(nn.Module):
    """Two layers side by side, put together and cut apart again, each with a norm of its own, and a sum."""

    def __init__(self, apart: Callable[[Tensor, Tensor], Sequence[Tensor]]) -> None:
        super().__init__()
        self.apart = apart
        self.left, self.right = nn.Linear(3, 4), nn.Linear(3, 4)
        self.norms = nn.ModuleList([nn.BatchNorm1d(4), nn.BatchNorm1d(4)])
        self.last = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        pieces = zip(self.norms, self.apart(self.left(x), self.right(x)), strict=True)
        out: Tensor = self.last(sum(norm(piece) for norm, piece in pieces))
        return out


@pytest.mark.parametrize(
    "apart",
    [
        lambda a, b: torch.stack([a, b]).unbind(),
        lambda a, b: torch.stack([a, b], dim=1).unbind(1),
        lambda a, b: torch.cat([a, b]).chunk(2, 0),
        lambda a, b: torch.cat([a, b], dim=1).split(4, dim=1),
    ],
)
def test_norms_of_layers_that_were_stacked_and_cut_apart_go_into_those_layers(
    apart: Callable[[Tensor, Tensor], Sequence[Tensor]],
) -> None:
    network = Team(apart)
    randomise(network, seed=1)
    blocks = {block.name: block.weights for block in network_graph(network, torch.zeros(1, 3)).blocks}
    for layer, norm in zip(("left", "right"), network.norms, strict=True):
        expected = kernel_sums(network.get_submodule(layer)) * _factor(norm)[:, None]
        np.testing.assert_allclose(blocks[layer], expected)
    np.testing.assert_allclose(blocks["last"], kernel_sums(network.last))


@pytest.mark.parametrize("cut", [lambda y: (y, y), lambda y: y.chunk(2, 0), lambda y: (y.sigmoid(), y)])
def test_norms_of_one_layer_that_meet_in_a_sum_go_into_the_layer_after(
    cut: Callable[[Tensor], Sequence[Tensor]],
) -> None:
    """None of them can go into the layer before; that after them has room for one scale, their mean."""
    network = Team(lambda left, _: cut(left))
    randomise(network, seed=1)
    blocks = {block.name: block.weights for block in network_graph(network, torch.zeros(2, 3)).blocks}
    np.testing.assert_allclose(blocks["left"], kernel_sums(network.left))
    mean = (_factor(network.norms[0]) + _factor(network.norms[1])) / 2
    np.testing.assert_allclose(blocks["last"], kernel_sums(network.last) * mean)


def test_norms_of_factors_are_multiplied() -> None:
    class Gated(Team):
        def forward(self, x: Tensor) -> Tensor:
            y = self.left(x)
            out: Tensor = self.last(self.norms[0](y) * self.norms[1](y).tanh())
            return out

    network = Gated(lambda left, right: (left, right))
    randomise(network, seed=1)
    blocks = {block.name: block.weights for block in network_graph(network, torch.zeros(2, 3)).blocks}
    product = _factor(network.norms[0]) * _factor(network.norms[1])
    np.testing.assert_allclose(blocks["last"], kernel_sums(network.last) * product)


def test_a_norm_that_goes_into_no_layer_is_named() -> None:
    class Features(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem, self.inner, self.norm = nn.Linear(3, 4), nn.Linear(4, 4), nn.BatchNorm1d(4)

        def forward(self, x: Tensor) -> Tensor:
            x = self.stem(x)
            out: Tensor = self.norm(x + self.inner(x)).relu()
            return out

    with pytest.warns(UserWarning, match=r"in module 'norm' \(BatchNorm1d\).* scales outputs"):
        network_graph(Features(), torch.zeros(1, 3))
