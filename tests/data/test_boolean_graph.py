"""Function graphs: their form, and that they compute the table."""

from __future__ import annotations

import os
import subprocess
import sys

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.data.boolean import boolean_task, evaluate_graph
from dovetail.data.boolean.graph import FunctionGraph
from dovetail.errors import DataError, ShapeError, SpecError


def graph_for(*formulas: str) -> FunctionGraph:
    graph = boolean_task(*formulas).graph
    assert graph is not None
    return graph


def check_form(graph: FunctionGraph) -> None:
    assert nx.is_directed_acyclic_graph(graph)
    gates = []
    for node, data in graph.nodes(data=True):
        sources = {(source, edge["negated"]) for source, _, edge in graph.in_edges(node, data=True)}
        if data["kind"] == "input":
            assert not sources
        elif data["kind"] == "output":
            assert data["gate"] == "id"
            assert len(sources) == 1
            assert graph.out_degree(node) == 0
        else:
            assert data["kind"] == "gate"
            assert data["gate"] == "const" if not sources else data["gate"] in ("and", "or")
            assert graph.out_degree(node) > 0
            assert len(sources) != 1
            gates.append((data["gate"], frozenset(sources)))
    assert len(set(gates)) == len(gates)


NAMES = st.sampled_from(["x1", "~x2", "x3", "~x1", "1", "a", "~b"])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(NAMES, st.sampled_from("&|^"), NAMES), min_size=1, max_size=12))
def test_form_of_any_graph(parts: list[tuple[str, str, str]]) -> None:
    outputs = [
        f"y{number} = {left} {symbol} {right}" for number, (left, symbol, right) in enumerate(parts, 1)
    ]
    check_form(graph_for("a = x1 ^ x2", "b = ~a | x3", *outputs))


def test_exclusive_or_is_three_gates_shared_with_its_negation() -> None:
    graph = graph_for("y1 = x1 ^ x2", "y2 = ~(x2 ^ x1)", "y3 = ~x1 ^ x2")
    kinds = [data["gate"] for _, data in graph.nodes(data=True) if data["kind"] == "gate"]
    assert sorted(kinds) == ["and", "and", "or"]
    negated = {y: edge["negated"] for _, y, edge in graph.in_edges(["y1", "y2", "y3"], data=True)}
    assert negated == {"y1": False, "y2": True, "y3": True}


def test_chains_are_one_gate_and_named_parts_stay() -> None:
    assert len(graph_for("y1 = x1 & (x2 & x3) and x4")) == 4 + 1 + 1
    assert len(graph_for("y1 = a & x3", "a = x1 & x2")) == 3 + 2 + 1


def test_constants_fold_away_but_a_constant_output_stays() -> None:
    graph = graph_for("y1 = (x1 & 0) | x2", "y2 = x1 | ~x1", "y3 = x1 ^ x1", "y4 = x1 ^ 1")
    assert set(graph) == {"x1", "x2", "one", "y1", "y2", "y3", "y4"}
    assert graph.nodes["one"] == {"kind": "gate", "gate": "const"}
    assert evaluate_graph(graph, torch.tensor([[0, 1], [1, 0]])).tolist() == [[1, 1, 0, 1], [0, 1, 0, 0]]


def test_parts_that_no_output_needs_are_left_out() -> None:
    assert set(graph_for("y1 = x1", "a = x2 & x3")) == {"x1", "x2", "x3", "y1"}


def test_evaluates_any_rows_of_any_type() -> None:
    graph = graph_for("y1 = x1 & ~x2")
    for dtype in (torch.bool, torch.int64, torch.float16, torch.float64):
        y = evaluate_graph(graph, torch.tensor([[1, 0]] * 9 + [[1, 1]]).to(dtype))
        assert y.dtype == torch.float32
        assert y.flatten().tolist() == [1] * 9 + [0]
    assert evaluate_graph(graph, torch.zeros(0, 2)).shape == (0, 1)


def test_evaluates_more_rows_than_a_block() -> None:
    x = torch.randint(2, (2**16 + 13, 3), generator=torch.Generator().manual_seed(0))
    y = evaluate_graph(graph_for("y1 = x1 ^ x2 ^ x3", "y2 = x1 | x3"), x)
    assert torch.equal(y, torch.stack([x.sum(1) % 2, x[:, 0] | x[:, 2]], dim=1).float())


def test_wrong_rows_are_refused() -> None:
    graph = graph_for("y1 = x1 & x2")
    with pytest.raises(ShapeError, match=r"\[rows, 2\], not \(4, 3\)"):
        evaluate_graph(graph, torch.zeros(4, 3))
    with pytest.raises(DataError, match="only 0 and 1"):
        evaluate_graph(graph, torch.full((4, 2), 0.5))


def test_wrong_graphs_are_refused() -> None:
    rows = torch.zeros(1, 1)
    graph: FunctionGraph = nx.DiGraph()
    with pytest.raises(SpecError, match="input nodes"):
        evaluate_graph(graph, rows)
    graph.add_node("x1", kind="input")
    graph.add_node("y1", kind="output", gate="nand")
    graph.add_edge("x1", "y1", negated=False)
    with pytest.raises(SpecError, match="gate 'nand' on 1 edges"):
        evaluate_graph(graph, rows)
    graph.add_edge("y1", "x1", negated=False)
    with pytest.raises(SpecError, match="cycle"):
        evaluate_graph(graph, rows)


def test_the_order_of_a_graph_does_not_hang_on_hash_seeds() -> None:
    formulas = ["y1 = a ^ b", "y2 = b | ~c", "a = x1 & x2", "b = x2 | x3", "c = x1 ^ x3"]
    program = f"from dovetail.data.boolean import *; print(list(boolean_task(*{formulas}).graph.edges))"
    for seed in {"1", "2"} - {os.environ.get("PYTHONHASHSEED", "1")}:
        elsewhere = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        )
        assert elsewhere.stdout.strip() == str(list(graph_for(*formulas).edges))
