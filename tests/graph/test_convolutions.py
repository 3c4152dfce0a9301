from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.errors import DataError
from dovetail.graph import NetworkGraph, network_graph

from .networks import Inception, Separable, adjacency, kernel_sums, nodes, randomise, sizes


def test_conventions_on_a_small_cnn() -> None:
    network = dt.build_net("small-cnn", (2, 8, 8), 10)
    image = torch.zeros(1, 2, 8, 8)
    hidden = network_graph(network, image)
    assert sizes(hidden) == {"conv1": 64, "conv2": 64, "conv3": 64}
    assert [block.name for block in hidden.blocks] == ["conv2", "conv3"]
    for block in hidden.blocks:
        np.testing.assert_allclose(block.weights, kernel_sums(network.get_submodule(block.name)))
    whole = network_graph(network, image, convention="mlp")
    assert sizes(whole) == {"input": 2, "conv1": 64, "conv2": 64, "conv3": 64, "dense1": 128, "output": 10}
    assert [block.name for block in whole.blocks] == ["conv1", "conv2", "conv3", "dense1", "output"]


@pytest.mark.parametrize("norm", ["l1", "l2", "induced"])
def test_norms_of_kernels(norm: str) -> None:
    network = nn.Sequential(
        nn.Conv2d(2, 3, (3, 2)),
        nn.Conv2d(3, 4, 3),
        nn.Flatten(2),
        nn.Conv1d(4, 2, 3),
        nn.Flatten(),
        nn.Linear(12, 5),
    )
    graph = network_graph(network, torch.zeros(1, 2, 6, 7), norm=norm, convention="mlp")  # type: ignore[arg-type]
    kernels = [
        parameter.detach().double().numpy() for parameter in network.parameters() if parameter.dim() > 1
    ]
    for block, kernel in zip(graph.blocks[:2], kernels[:2], strict=True):
        flat = kernel.reshape(-1, *kernel.shape[2:])
        expected = {
            "l1": [np.abs(each).sum() for each in flat],
            "l2": [np.linalg.norm(each) for each in flat],
            "induced": [np.linalg.norm(each, 1) for each in flat],
        }[norm]
        np.testing.assert_allclose(block.weights, np.reshape(expected, kernel.shape[:2]))
    # Kernels of one dimension, and the places that a dense layer reads of a channel, are vectors.
    vectors = [kernels[2], kernels[3].reshape(5, 2, 6)]
    for block, vector in zip(graph.blocks[2:], vectors, strict=True):
        power = 2 if norm == "l2" else 1
        np.testing.assert_allclose(block.weights, (np.abs(vector) ** power).sum(axis=2) ** (1 / power))


def test_vgg16_has_the_papers_nodes_and_is_read_fast() -> None:
    network = dt.build_net("vgg16", (3, 32, 32), 10)
    image = torch.zeros(1, 3, 32, 32)
    began = time.process_time()
    graph = network_graph(network, image)
    assert time.process_time() - began < 2  # about 0.1 s on a core that nobody else uses
    assert len(graph) == 4224
    assert [group.size for group in graph.groups] == [64] * 2 + [128] * 2 + [256] * 3 + [512] * 6


def test_an_inception_block() -> None:
    network = Inception()
    graph = network_graph(network, torch.zeros(1, 2, 9, 9), convention="mlp")
    branches = ["one", "three.2", "pooled"]
    assert sizes(graph) == {
        "input": 2, "stem": 6, "one": 4, "three.0": 3, "three.2": 5, "pooled": 2, "head": 3, "output": 4,
    }  # fmt: skip
    wiring = {
        "stem": ["input"], "one": ["stem"], "three.0": ["stem"], "three.2": ["three.0"], "pooled": ["stem"],
        "head": branches, "output": ["head"],
    }  # fmt: skip
    blocks = [
        (
            nodes(graph, name),
            [node for source in sources for node in nodes(graph, source)],
            kernel_sums(network.get_submodule(name)),
        )
        for name, sources in wiring.items()
    ]
    np.testing.assert_allclose(graph.adjacency.toarray(), adjacency(len(graph), blocks))
    assert "output" not in sizes(network_graph(network, torch.zeros(1, 2, 9, 9)))


def test_a_depthwise_separable_block() -> None:
    network = Separable()
    graph = network_graph(network, torch.zeros(1, 1, 9, 9))
    by_name = {block.name: block for block in graph.blocks}
    depthwise, grouped = by_name["depthwise"], by_name["grouped"]
    assert depthwise.groups == 4
    # Channel c of the stem feeds channels 2c and 2c + 1.
    expected = np.zeros((8, 4))
    expected[np.arange(8), np.arange(8) // 2] = kernel_sums(network.depthwise)[:, 0]
    np.testing.assert_allclose(depthwise.weights, expected)
    assert grouped.groups == 2
    pointwise = nodes(graph, "pointwise")
    assert grouped.inputs.tolist() == [pointwise[c] for c in (0, 3, 1, 4, 2, 5)]  # as shuffled
    assert np.count_nonzero(grouped.weights[:2, 3:]) == np.count_nonzero(grouped.weights[2:, :3]) == 0
    np.testing.assert_allclose(grouped.weights[2:, 3:], kernel_sums(network.grouped)[2:])


@pytest.mark.parametrize("groups", [1, 2])
def test_a_transposed_convolution_leads_where_its_gradient_says(groups: int) -> None:
    network = nn.Sequential(nn.Conv2d(1, 4, 1), nn.ConvTranspose2d(4, 6, 3, groups=groups))
    graph = network_graph(network, torch.zeros(1, 1, 5, 5))
    layer = network[1]
    x = torch.ones(1, 4, 1, 1, requires_grad=True)
    with torch.no_grad():
        layer.get_parameter("weight").abs_()
    for output in range(6):
        # With one place at the input, the sum of an output's gradient is the sum of the kernel.
        (gradient,) = torch.autograd.grad(layer(x)[0, output].sum(), x)
        np.testing.assert_allclose(graph.blocks[0].weights[output], gradient.flatten().numpy(), rtol=1e-5)


@pytest.mark.parametrize("build", [Inception, Separable])
@pytest.mark.parametrize("seed", range(3))
def test_edges_are_what_values_flow_along(build: type[nn.Module], seed: int) -> None:
    """Noise in one channel changes exactly the channels that the graph says can be reached."""
    network = randomise(build(), seed, density=0.4).eval()
    channels = 2 if build is Inception else 1
    image = torch.randn(1, channels, 9, 9)
    graph = network_graph(network, image, convention="mlp")
    reach = _reachable(graph)
    names = [group.name for group in graph.groups if group.name != "input"]
    outputs: dict[str, Tensor] = {}
    noisy: tuple[str, int] | None = None

    def watch(name: str) -> None:
        def hook(module: nn.Module, args: object, out: Tensor) -> Tensor:
            if noisy is not None and noisy[0] == name:
                out = out.clone()
                out[:, noisy[1]] += torch.randn_like(out[:, 0])
            outputs[name] = out.detach()
            return out

        network.get_submodule(name).register_forward_hook(hook)

    for name in names:
        watch(name)
    network(image)
    clean = dict(outputs)
    for name in names:
        for channel, node in enumerate(nodes(graph, name)):
            noisy = (name, channel)
            network(image)
            changed = {
                other
                for target in names
                for unit, other in enumerate(nodes(graph, target))
                if not torch.equal(outputs[target][:, unit], clean[target][:, unit])
            }
            assert changed == {node, *np.flatnonzero(reach[:, node]).tolist()}


def _reachable(graph: NetworkGraph) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    step = np.zeros((len(graph), len(graph)), dtype=bool)
    for block in graph.blocks:
        step[np.ix_(block.outputs, block.inputs)] |= block.weights > 0
    reach = step.copy()
    for _ in range(len(graph.blocks)):
        reach |= (reach.astype(int) @ step.astype(int)) > 0
    return reach


def test_a_channel_without_weights_has_no_edges() -> None:
    network = dt.build_net("small-cnn", (1, 8, 8), 10)
    image = torch.zeros(1, 1, 8, 8)
    before = network_graph(network, image, convention="mlp").adjacency.toarray()
    with torch.no_grad():
        network.get_submodule("conv2").get_parameter("weight")[5] = 0
    graph = network_graph(network, image, convention="mlp")
    node = nodes(graph, "conv2")[5]
    lost = np.argwhere(graph.adjacency.toarray() != before)
    assert {tuple(pair) for pair in lost.tolist()} == {
        pair for source in nodes(graph, "conv1") for pair in ((source, node), (node, source))
    }


def test_an_image_that_arrives_flat() -> None:
    class Flat(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(2, 3, 3)
            self.output = nn.Linear(3, 2)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.output(self.conv(x.view(-1, 2, 5, 5)).amax(dim=(2, 3)))
            return out

    graph = network_graph(Flat(), torch.zeros(1, 50), convention="mlp")
    assert sizes(graph) == {"input": 2, "conv": 3, "output": 2}


def test_weights_that_are_not_finite_are_refused() -> None:
    network = dt.build_net("small-cnn", (1, 8, 8), 10)
    with torch.no_grad():
        network.get_submodule("conv2").get_parameter("weight")[0, 0, 0] = torch.nan
    with pytest.raises(DataError, match="layer 'conv2' has 3 weights that are not finite"):
        network_graph(network, torch.zeros(1, 1, 8, 8))
