"""Compiled transformers compute what their programs say, and are made of the parts that are declared."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
import torch

from dovetail.errors import DataError, SpecError
from dovetail.planted import CompiledNetwork, Program, compile_programs, draw_program, named_programs, tokens

LENGTH = 4
ROWS = ["".join(row) for row in product("abc", repeat=LENGTH)]
NAMED = named_programs("abc", LENGTH)
DRAWN_FAST, DRAWN = 24, 80


def wrong_rows(compiled: CompiledNetwork, rows: Sequence[str] = ROWS) -> list[tuple[str, str]]:
    """Return programs and rows that the network gets wrong."""
    found = compiled.predict(rows)
    return [
        (program.name, row)
        for program, answers in zip(compiled.programs, found, strict=True)
        for row, answer in zip(rows, answers, strict=True)
        if answer != program.run(row)
    ]


def drawn(seed: int) -> Program:
    return draw_program(seed, operations=2 + seed % 6, length=LENGTH)


def check_parts(compiled: CompiledNetwork, *, all_wires: bool = True) -> None:
    """Weights are where parts and wires say, and nowhere else; in a drawn program a wire may make no difference."""
    network, owners = compiled.network, compiled.owners
    stream = owners["tokens"]
    state = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    wires, writers = set(), set()
    for name, weight in state.items():
        layer, _, kind = name.rpartition(".")
        if layer.endswith((".query", ".key", ".value", ".up")) and kind == "weight":
            units, directions = np.nonzero(weight)
            wires |= set(zip(stream[directions].tolist(), owners[layer][units].tolist(), strict=True))
        elif layer.endswith((".out", ".down")) and kind == "weight":
            behind = owners[layer.replace(".out", ".value").replace(".down", ".up")]
            directions, units = np.nonzero(weight)
            assert (stream[directions] == behind[units]).all()
            writers |= set(behind[units].tolist())
    given = {number for number, part in enumerate(compiled.parts) if part.kind == "given"}
    assert wires == compiled.wires if all_wires else wires <= compiled.wires
    assert writers == set(range(len(compiled.parts))) - given if all_wires else not writers & given
    assert sorted(at for part in compiled.parts for at in part.stream) == list(range(len(stream)))
    for number, part in enumerate(compiled.parts):
        assert set(part.reads) == {read for read, reader in compiled.wires if reader == number}
        # What a part reads is there before it runs: in an earlier block, or in this one's heads for dense units.
        for read in part.reads:
            before = compiled.parts[read]
            assert before.block < part.block or (before.kind, part.kind) == ("head", "units")


@pytest.mark.parametrize("name", NAMED)
def test_a_named_program_is_computed(name: str) -> None:
    compiled = compile_programs([NAMED[name]])
    assert wrong_rows(compiled) == []
    check_parts(compiled)


@pytest.mark.parametrize("seed", range(DRAWN_FAST))
def test_a_drawn_program_is_computed(seed: int) -> None:
    compiled = compile_programs([drawn(seed)])
    assert wrong_rows(compiled) == []
    check_parts(compiled, all_wires=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(DRAWN_FAST, DRAWN))
def test_more_drawn_programs_are_computed(seed: int) -> None:
    test_a_drawn_program_is_computed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sort", "induction", "most frequent", "balanced brackets", "share so far"])
def test_programs_for_longer_rows_and_more_tokens(name: str) -> None:
    programs = named_programs("abcd", 8)
    rng = np.random.default_rng(0)
    rows = ["".join(row) for row in rng.choice(list("abcd"), (200, 8))]
    assert wrong_rows(compile_programs([programs[name]]), rows) == []


@pytest.mark.parametrize("name", ["sort", "induction", "majority"])
def test_a_turned_stream_computes_the_same(name: str) -> None:
    plain, turned = (compile_programs([NAMED[name]], turn=turn) for turn in (None, 5))
    assert wrong_rows(turned) == []
    x = plain.encode(ROWS)
    torch.testing.assert_close(turned.network(x), plain.network(x), atol=1e-3, rtol=0)
    # No direction belongs to a part now: nearly all weights of the embedding are other than 0.
    assert (turned.network.state_dict()["tokens.weight"].abs() > 1e-6).float().mean() > 0.9
    assert set(turned.owners["tokens"].tolist()) == {-1}


def test_programs_side_by_side_share_only_what_is_given() -> None:
    compiled = compile_programs([NAMED["sort"], NAMED["histogram"], NAMED["reverse"]])
    assert wrong_rows(compiled) == []
    check_parts(compiled)
    known = compiled.by_program()
    assert known.modules == ("sort", "histogram", "reverse")
    of_part = {part.name: set(known.owners["tokens"][list(part.stream)].tolist()) for part in compiled.parts}
    assert of_part["tokens"] == of_part["positions"] == {-1}
    assert {number for owners in of_part.values() for number in owners} == {-1, 0, 1, 2}
    # A part of one program never reads one of another.
    program_of = [min(of_part[part.name]) for part in compiled.parts]
    assert all(program_of[one] in (-1, program_of[other]) for one, other in compiled.wires)


def test_logits_are_one_for_what_the_program_says() -> None:
    compiled = compile_programs([NAMED["sort"]])
    logits = compiled.network(compiled.encode(ROWS))
    torch.testing.assert_close(
        logits.sort(-1).values, torch.tensor([0.0, 0.0, 1.0]).expand_as(logits), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize("turn", [None, 3])
def test_heads_look_where_selectors_say(turn: int | None) -> None:
    compiled = compile_programs([NAMED["sort"]], turn=turn)
    looks = compiled.looks("caba")
    assert looks.keys() == {part.name for part in compiled.parts if part.kind == "head"}
    # Sorted, the places are 1, 3, 2, 0; before each of c, a, b, a stand as many smaller ones.
    np.testing.assert_allclose(looks["6 pick"], np.eye(5)[[2, 4, 3, 1]], atol=1e-5)
    smaller = np.array([[0, 1, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]])
    counted = np.concatenate([np.ones((4, 1)), smaller], axis=1)
    np.testing.assert_allclose(looks["1 count"], counted / counted.sum(1, keepdims=True), atol=1e-5)


def test_the_reader_follows_parts() -> None:
    compiled = compile_programs([NAMED["induction"]])
    graph = compiled.graph()
    labels = compiled.labels(graph)
    heads = {part.name for part in compiled.parts if part.kind == "head"}
    assert len(graph.heads) == len(heads)
    for head in graph.heads:
        owners = {compiled.modules[label] for label in labels[head.values] if label >= 0}
        assert len(owners) == 1
        assert owners <= heads
    # Every edge is a wire, a part's own, or from the tokens to their directions and from the output to its logits.
    edges = graph.adjacency.tocoo()
    pairs = {tuple(sorted(pair)) for pair in zip(*(labels[at].tolist() for at in edges.coords), strict=True)}
    assert pairs <= {tuple(sorted(wire)) for wire in compiled.wires} | {
        (own, own) for own in range(len(compiled.parts))
    }
    assert {tuple(sorted(wire)) for wire in compiled.wires} <= pairs


def test_what_cannot_be_compiled_is_refused() -> None:
    with pytest.raises(SpecError, match="no program to compile"):
        compile_programs([])
    with pytest.raises(SpecError, match="must read the same tokens"):
        compile_programs([NAMED["sort"], named_programs("abcd", LENGTH)["sort"]])
    with pytest.raises(DataError, match="is no token"):
        compile_programs([NAMED["sort"]]).predict(["abcx"])


def test_no_rows_have_no_answers() -> None:
    assert compile_programs([NAMED["sort"]]).predict([]) == [[]]


def test_a_constant_and_what_is_read_twice() -> None:
    letters = tokens("ab", 3)
    always = Program("always", letters.map(lambda letter: 7))
    assert wrong_rows(compile_programs([always]), ["aba", "bbb"]) == []
    counted = NAMED["length"].output
    same = Program("same", counted.map(lambda count: count).map(lambda count: count > 9))
    assert wrong_rows(compile_programs([same])) == []
