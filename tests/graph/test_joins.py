"""Units that are one: sums, gates, and what is put side by side and taken apart."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

import dovetail as dt
from dovetail.graph import network_graph
from dovetail.graph.layers import Units

from .networks import kernel_sums, nodes, sizes

IMAGE = torch.zeros(1, 2, 8, 8)


@given(pairs=st.lists(st.tuples(st.integers(-1, 9), st.integers(-1, 9)), max_size=12), cut=st.integers(0, 12))
def test_units_are_united_as_sets_are(pairs: list[tuple[int, int]], cut: int) -> None:
    units = Units()
    units.add("a", 4, convolutional=False)
    units.add("b", 6, convolutional=False)
    for some in (pairs[:cut], pairs[cut:]):
        first, second = np.array([p[0] for p in some], dtype=int), np.array([p[1] for p in some], dtype=int)
        units.unite(first, second)
    sets = [{unit} for unit in range(10)]
    for a, b in pairs:
        if a >= 0 and b >= 0:
            merged = sets[a] | sets[b]
            for unit in merged:
                sets[unit] = merged
    assert units.find(np.arange(10)).tolist() == [min(each) for each in sets]


def test_resnet18_shares_the_nodes_of_each_stage() -> None:
    network = dt.build_net("resnet18", (3, 32, 32), 10)
    graph = network_graph(network, torch.zeros(1, 3, 32, 32))
    assert sizes(graph) == {
        "stem.conv": 64,
        "stage1.block1.body.conv1": 64,
        "stage1.block2.body.conv1": 64,
        "stage2.block1.body.conv1": 128,
        "stage2.block1.body.conv2": 128,
        "stage2.block2.body.conv1": 128,
        "stage3.block1.body.conv1": 256,
        "stage3.block1.body.conv2": 256,
        "stage3.block2.body.conv1": 256,
        "stage4.block1.body.conv1": 512,
        "stage4.block1.body.conv2": 512,
        "stage4.block2.body.conv1": 512,
    }
    blocks = {block.name: block for block in graph.blocks}
    for name in ("stage2.block1.shortcut.conv", "stage2.block1.body.conv2", "stage2.block2.body.conv2"):
        assert blocks[name].outputs.tolist() == nodes(graph, "stage2.block1.body.conv2")
    assert blocks["stage2.block1.shortcut.conv"].inputs.tolist() == nodes(graph, "stem.conv")
    order = [block.name for block in graph.blocks]
    assert order.index("stage1.block2.body.conv2") < order.index("stage2.block1.body.conv1")


class Wired(nn.Module):
    """Two convolutions of one image, joined as the test says, and a third that reads the result."""

    def __init__(self, first: int, second: int, joined: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(2, first, 1), nn.Conv2d(2, second, 1)
        self.last = nn.Conv2d(joined, 2, 1)
        self.how = "add"

    def forward(self, x: Tensor) -> Tensor:
        a, b = self.first(x), self.second(x)
        if self.how == "pad":
            a = a + F.pad(b, (0, 0, 0, 0, 1, 0))
        elif self.how == "attend to places":
            a = a * torch.sigmoid(b)
        elif self.how == "halves":
            left, right = a.chunk(2, dim=1)
            a = left * torch.sigmoid(right)
        elif self.how == "glu":
            a = F.glu(a, dim=1)
        elif self.how == "constant beside":
            a = torch.cat([a, a.new_zeros(len(a), 1, *a.shape[2:])], dim=1)
        elif self.how == "twice beside":
            a = torch.cat([a, a], dim=1)
        elif self.how == "part":
            a = a[:, 1:3]
        elif self.how == "swap":
            a = a.permute(0, 2, 3, 1).flip(-1).permute(0, 3, 1, 2)
        out: Tensor = self.last(a)
        return out


def test_a_shortcut_padded_with_zeros_shares_only_the_channels_it_has() -> None:
    network = Wired(4, 3, 4)
    network.how = "pad"
    graph = network_graph(network, IMAGE, convention="mlp")
    assert sizes(graph) == {"input": 2, "first": 4, "last": 2}
    second = next(block for block in graph.blocks if block.name == "second")
    assert second.outputs.tolist() == nodes(graph, "first")[1:]


def test_a_map_that_gates_all_channels_is_none_of_them() -> None:
    network = Wired(4, 1, 4)
    network.how = "attend to places"
    assert sizes(network_graph(network, IMAGE)) == {"first": 4, "second": 1, "last": 2}


@pytest.mark.parametrize("how", ["halves", "glu"])
def test_halves_that_gate_each_other_are_one(how: str) -> None:
    network = Wired(6, 1, 3)
    network.how = how
    graph = network_graph(network, IMAGE, convention="mlp")
    assert sizes(graph) == {"input": 2, "first": 3, "last": 2}
    weights = kernel_sums(network.first)
    np.testing.assert_allclose(graph.blocks[0].weights, weights[:3] + weights[3:])


def test_constants_beside_channels_are_no_nodes() -> None:
    network = Wired(3, 1, 4)
    network.how = "constant beside"
    graph = network_graph(network, IMAGE)
    np.testing.assert_allclose(graph.blocks[0].weights, kernel_sums(network.last)[:, :3])


def test_groups_that_read_constants_too_are_blocks_of_their_own() -> None:
    network = Wired(3, 1, 4)
    network.how = "constant beside"
    network.last = nn.Conv2d(4, 2, 1, groups=2)
    graph = network_graph(network, IMAGE)
    assert [(block.name, block.weights.shape, block.groups) for block in graph.blocks] == [
        ("last", (1, 2), 1),
        ("last", (1, 1), 1),
    ]
    weights = kernel_sums(network.last)
    expected = np.zeros((5, 5))
    expected[3, :2], expected[4, 2] = weights[0], weights[1, 0]
    np.testing.assert_allclose(graph.adjacency.toarray(), expected + expected.T)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_channels_that_are_read_twice_count_with_both_kernels(norm: str) -> None:
    network = Wired(3, 1, 6)
    network.how = "twice beside"
    graph = network_graph(network, IMAGE, norm=norm)  # type: ignore[arg-type]
    both = kernel_sums(network.last).reshape(2, 2, 3)
    np.testing.assert_allclose(
        graph.blocks[0].weights, both.sum(axis=1) if norm == "l1" else np.hypot(*both.swapaxes(0, 1))
    )


@pytest.mark.parametrize(("how", "read"), [("part", [1, 2]), ("swap", [3, 2, 1, 0])])
def test_moved_channels_keep_their_nodes(how: str, read: list[int]) -> None:
    network = Wired(4, 1, len(read))
    network.how = how
    graph = network_graph(network, IMAGE)
    assert graph.blocks[0].inputs.tolist() == [nodes(graph, "first")[unit] for unit in read]


@pytest.mark.parametrize("dense", [False, True])
def test_the_gate_of_squeeze_and_excitation_is_one_with_what_it_gates(dense: bool) -> None:
    class Gated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(2, 6, 3)
            self.squeeze = nn.Linear(6, 3) if dense else nn.Conv2d(6, 3, 1)
            self.excite = nn.Linear(3, 6) if dense else nn.Conv2d(3, 6, 1)

        def forward(self, x: Tensor) -> Tensor:
            x = self.conv(x)
            mean = x.mean((2, 3)) if dense else F.adaptive_avg_pool2d(x, 1)
            gate = torch.sigmoid(self.excite(F.silu(self.squeeze(mean))))
            return x * (gate[:, :, None, None] if dense else gate)

    network = Gated()
    graph = network_graph(network, IMAGE, convention="mlp")
    assert sizes(graph) == {"input": 2, "conv": 6, "squeeze": 3}
    excite = graph.blocks[-1]
    assert excite.outputs.tolist() == nodes(graph, "conv")
    np.testing.assert_allclose(excite.weights, kernel_sums(network.excite))
    assert sizes(network_graph(network, IMAGE)) == ({"conv": 6} if dense else {"conv": 6, "squeeze": 3})
