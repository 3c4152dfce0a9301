"""Residual streams as nodes, or passed through."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dovetail.errors import SpecError
from dovetail.graph import network_graph

from .networks import kernel_sums, nodes, sizes


class Stream(nn.Module):
    """A stream of 5 units, two layers that add to it and norms before what reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.start, self.end = nn.Linear(4, 5), nn.Linear(5, 3)
        self.in1, self.out1 = nn.Linear(5, 6), nn.Linear(6, 5)
        self.in2, self.out2 = nn.Linear(5, 7), nn.Linear(7, 5)
        self.norm1, self.norm2 = nn.LayerNorm(5), nn.LayerNorm(5)
        for norm in (self.norm1, self.norm2):
            nn.init.uniform_(norm.weight, 0.5, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.start(x)
        x = x + self.out1(self.in1(self.norm1(x)).relu())
        x = x + self.out2(self.in2(self.norm2(x)).relu())
        out: Tensor = self.end(x)
        return out


def matrix(layer: nn.Module) -> Tensor:
    weight = layer.weight
    assert isinstance(weight, Tensor)
    return weight.detach().double()


def test_writers_are_connected_with_those_that_read_later() -> None:
    torch.manual_seed(0)
    net = Stream()
    x = torch.zeros(1, 4)
    assert sizes(network_graph(net, x)) == {"input": 4, "start": 5, "in1": 6, "in2": 7, "end": 3}
    graph = network_graph(net, x, residual="through")
    assert sizes(graph) == {"input": 4, "in1": 6, "in2": 7, "end": 3}
    found = {block.name: block.weights for block in graph.blocks}
    scale1, scale2 = (norm.weight.detach().double() for norm in (net.norm1, net.norm2))
    start, out1, out2 = (matrix(layer) for layer in (net.start, net.out1, net.out2))
    in1, in2 = matrix(net.in1) * scale1, matrix(net.in2) * scale2
    expected = {
        "start -> in1": in1 @ start,
        "start -> in2": in2 @ start,
        "out1 -> in2": in2 @ out1,
        "start -> end": matrix(net.end) @ start,
        "out1 -> end": matrix(net.end) @ out1,
        "out2 -> end": matrix(net.end) @ out2,
    }
    assert set(found) == set(expected)
    for name, weights in expected.items():
        np.testing.assert_allclose(found[name], weights.abs().numpy(), rtol=1e-6, err_msg=name)


def test_a_connection_is_the_gradient_of_the_way_past_all_other_layers() -> None:
    torch.manual_seed(0)
    net = Stream().double()
    graph = network_graph(net, torch.zeros(1, 4), residual="through")
    blocks = {block.name: block.weights for block in graph.blocks}
    with torch.no_grad():
        net.out1.weight.zero_(), net.out2.weight.zero_()
    gradient = torch.autograd.functional.jacobian(net, torch.zeros(4).double())
    assert isinstance(gradient, Tensor)
    np.testing.assert_allclose(blocks["start -> end"], gradient.abs().numpy(), rtol=1e-6)


def test_a_layer_from_stream_to_stream_is_passed_through_too() -> None:
    class Down(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.start, self.inner, self.outer = nn.Conv2d(2, 4, 1), nn.Conv2d(4, 3, 1), nn.Conv2d(3, 4, 1)
            self.down, self.inner2, self.outer2 = nn.Conv2d(4, 6, 1), nn.Conv2d(4, 5, 1), nn.Conv2d(5, 6, 1)
            self.end = nn.Conv2d(6, 2, 1)

        def forward(self, x: Tensor) -> Tensor:
            x = self.start(x)
            x = x + self.outer(self.inner(x).relu())
            x = self.down(x) + self.outer2(self.inner2(x).relu())
            out: Tensor = self.end(x)
            return out

    torch.manual_seed(0)
    net = Down()
    graph = network_graph(net, torch.zeros(1, 2, 4, 4), residual="through", convention="mlp")
    assert sizes(graph) == {"input": 2, "inner": 3, "inner2": 5, "end": 2}
    blocks = {block.name: block.weights for block in graph.blocks}
    layers = {name: kernel_sums(layer) for name, layer in net.named_children()}
    np.testing.assert_allclose(
        blocks["outer -> end"], layers["end"] @ layers["down"] @ layers["outer"], rtol=1e-6
    )
    np.testing.assert_allclose(blocks["outer2 -> end"], layers["end"] @ layers["outer2"], rtol=1e-6)


def test_entries_of_the_input_stay_nodes() -> None:
    class FromInput(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.outer, self.end = nn.Linear(4, 3), nn.Linear(3, 4), nn.Linear(4, 2)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.end(x + self.outer(self.inner(x)))
            return out

    graph = network_graph(FromInput(), torch.zeros(1, 4), residual="through")
    assert sizes(graph) == {"input": 4, "inner": 3, "end": 2}
    assert len(nodes(graph, "input")) == 4


def test_it_needs_the_module() -> None:
    with pytest.raises(SpecError, match="unknown residual 'gone'"):
        network_graph(Stream(), torch.zeros(1, 4), residual="gone")  # type: ignore[arg-type]
    chain = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 2))
    for network in (chain, chain.state_dict()):  # no stream: nothing to pass through
        assert len(network_graph(network, residual="through")) == 7
