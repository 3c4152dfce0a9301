"""Recurrent layers: a node for each hidden unit, with all its gates, at all steps the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.cluster.null import Shuffles
from dovetail.errors import SpecError
from dovetail.graph import network_graph

from .dependence import by_edges, by_gradients
from .networks import Matrix, nodes, randomise, sizes

INPUTS, HIDDEN, STEPS = 4, 5, 7
KINDS = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}
CELLS = {"lstm": nn.LSTMCell, "gru": nn.GRUCell, "rnn": nn.RNNCell}


class Network(nn.Module):
    """A recurrent layer and what reads all of its steps."""

    def __init__(self, kind: str, **options: object) -> None:
        super().__init__()
        self.steps = KINDS[kind](INPUTS, HIDDEN, batch_first=True, **options)
        self.out = nn.Linear(HIDDEN * (2 if self.steps.bidirectional else 1), 3)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.out(self.steps(x)[0])
        return out


class Stepwise(nn.Module):
    """The same, step by step through a cell."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.cell, self.out = CELLS[kind](INPUTS, HIDDEN), nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor) -> Tensor:
        state, outputs = None, []
        for step in x.unbind(1):
            state = self.cell(step, state)
            outputs.append(self.out(state[0] if isinstance(state, tuple) else state))
        return torch.stack(outputs, 1)


def gates(weight: Tensor) -> Matrix:
    """Return the sum of absolute weights over the gates of each unit."""
    matrix: Matrix = weight.detach().double().abs().reshape(-1, HIDDEN, weight.shape[1]).sum(0).numpy()
    return matrix


@pytest.mark.parametrize("kind", KINDS)
def test_a_unit_reads_what_its_gates_read(kind: str) -> None:
    network = Network(kind)
    randomise(network, 0)
    graph = network_graph(network, torch.zeros(1, STEPS, INPUTS))
    assert sizes(graph) == {"input": INPUTS, "steps.l0": HIDDEN, "out": 3}
    to_input, to_hidden, _ = graph.blocks
    assert [block.name for block in graph.blocks] == ["steps.weight_ih_l0", "steps.weight_hh_l0", "out"]
    np.testing.assert_allclose(to_input.weights, gates(network.steps.weight_ih_l0))
    own = gates(network.steps.weight_hh_l0)
    np.fill_diagonal(own, 0)  # what a unit does to itself holds nothing together
    np.testing.assert_allclose(to_hidden.weights, own)
    np.testing.assert_array_equal(to_hidden.outputs, to_hidden.inputs)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_outputs_depend_on_inputs_exactly_along_edges(kind: str, seed: int) -> None:
    network = Network(kind).double()
    randomise(network, seed, density=0.15)
    graph = network_graph(network, torch.zeros(1, STEPS, INPUTS))
    expected = by_gradients(network, (STEPS, INPUTS))
    np.testing.assert_array_equal(by_edges(graph, "input", "out"), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_layers_and_directions_have_units_of_their_own(kind: str) -> None:
    network = Network(kind, num_layers=2, bidirectional=True).double()
    randomise(network, 1, density=0.12)
    graph = network_graph(network, torch.zeros(1, STEPS, INPUTS))
    names = ["steps.l0", "steps.l0_reverse", "steps.l1", "steps.l1_reverse"]
    assert sizes(graph) == {"input": INPUTS, **dict.fromkeys(names, HIDDEN), "out": 3}
    expected = by_gradients(network, (STEPS, INPUTS))
    np.testing.assert_array_equal(by_edges(graph, "input", "out"), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_cells_in_a_loop_are_one_layer(kind: str) -> None:
    whole, cells = Network(kind), Stepwise(kind)
    with torch.no_grad():
        for name in ("weight_ih", "weight_hh"):
            getattr(cells.cell, name).copy_(getattr(whole.steps, f"{name}_l0"))
    cells.out.load_state_dict(whole.out.state_dict())
    x = torch.zeros(1, 3, INPUTS)
    first, second = network_graph(whole, x), network_graph(cells, x)
    assert second.groups[1].name == "cell"
    hidden = [nodes(graph, graph.groups[1].name) for graph in (first, second)]
    at = [np.r_[:INPUTS, own] for own in hidden]
    # The output layer is used at each step, and so has new nodes each time; the cell has not.
    np.testing.assert_allclose(
        first.adjacency.toarray()[np.ix_(at[0], at[0])], second.adjacency.toarray()[np.ix_(at[1], at[1])]
    )
    assert [block.tied_to for block in second.blocks[-3:]] == [None, "out", "out"]


def test_what_a_decoder_starts_with_is_one_with_its_units() -> None:
    class Translator(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.read, self.write = nn.GRU(INPUTS, HIDDEN), nn.GRU(2, HIDDEN)
            self.out = nn.Linear(HIDDEN, 3)

        def forward(self, x: Tensor) -> Tensor:
            _, state = self.read(x)
            out: Tensor = self.out(self.write(torch.ones(4, x.shape[1], 2), state)[0])
            return out

    graph = network_graph(Translator(), torch.zeros(STEPS, 1, INPUTS))
    assert sizes(graph) == {"input": INPUTS, "read.l0": HIDDEN, "out": 3}
    assert [block.name for block in graph.blocks] == [
        "read.weight_ih_l0", "read.weight_hh_l0", "write.weight_hh_l0", "out"
    ]  # fmt: skip


def test_copies_keep_the_ways_of_a_recurrent_layer() -> None:
    network = Network("gru")
    graph = network_graph(network, torch.zeros(1, STEPS, INPUTS))
    (_, mixed, _) = Shuffles(graph, "layer").draw(np.random.default_rng(0))
    assert not np.diag(mixed).any()
    np.testing.assert_allclose(np.sort(mixed.ravel()), np.sort(graph.blocks[1].weights.ravel()))


def test_an_audit_of_a_recurrent_network() -> None:
    found = dt.clusterability(
        Network("lstm"), k=3, shuffles=3, example_input=torch.zeros(1, STEPS, INPUTS), progress=False
    )
    assert found.labels.shape == (INPUTS + HIDDEN + 3,)


def test_recurrent_units_cannot_be_lesioned_which_is_said() -> None:
    class Classifier(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.steps, self.out = nn.LSTM(8, 6, batch_first=True), nn.Linear(6, 10)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.out(self.steps(x.reshape(-1, 8, 8))[0][:, -1])
            return out

    data = dt.load("digits")
    graph = network_graph(Classifier(), data.test.x[:1])
    with pytest.raises(
        SpecError, match=r"'steps.weight_ih_l0' and 'steps.weight_hh_l0' are computed in one call"
    ):
        dt.lesion(Classifier(), graph.unit_of % 2, data.test, draws=1, graph=graph, progress=False)
