"""The gallery: small circuits, sculpted; what is found in them, over seeds, as the tables and pictures of gallery.md.

``python docs/gallery.py`` prints the tables and draws the pictures (about half an hour on two cores); names of
circuits after it do these alone.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dovetail.data import BooleanTask, boolean_task
from dovetail.sculpting import Explanation, Function, Hierarchy, Sculpture, sculpt_seeds

IMAGES = Path(__file__).parent / "images"
SEEDS = range(10)
DEPTHS = (1, 2)
WIDTH = 24


class Circuit(NamedTuple):
    """A circuit: its formulas, and parts of it that one may look for, each as formulas of which any will do."""

    formulas: str
    parts: dict[str, list[str]]


def at_least(number: int, names: str) -> str:
    """Return the formula of so many of some bits being 1."""
    return " | ".join(f"({' & '.join(some)})" for some in combinations(names, number))


CIRCUITS = {
    "adder": Circuit(
        "carry = a0 & b0; s0 = a0 ^ b0; s1 = a1 ^ b1 ^ carry; s2 = a1 & b1 | carry & (a1 ^ b1)",
        {"carry": ["a0 & b0"], "half sum": ["a1 ^ b1"]},
    ),
    "alu": Circuit(
        "both = a & b; one = a ^ b; f = ~m & ~n & both | ~m & n & (a | b) | m & ~n & one | m & n & (one ^ c); "
        "carry = m & n & (both | c & one)",
        {"and": ["a & b"], "xor": ["a ^ b"], "sum": ["a ^ b ^ c"]},
    ),
    "multiplexer": Circuit(
        "out = ~s1 & ~s0 & d0 | ~s1 & s0 & d1 | s1 & ~s0 & d2 | s1 & s0 & d3",
        {
            "half": ["~s0 & d0 | s0 & d1", "~s0 & d2 | s0 & d3", "~s1 & d0 | s1 & d2", "~s1 & d1 | s1 & d3"],
            "term": ["~s1 & ~s0 & d0", "~s1 & s0 & d1", "s1 & ~s0 & d2", "s1 & s0 & d3"],
        },
    ),
    "parity": Circuit(
        f"odd = a ^ b ^ c ^ d ^ e; most = {at_least(3, 'abcde')}",
        {
            "xor of two": [" ^ ".join(some) for some in combinations("abcde", 2)],
            "xor of three": [" ^ ".join(some) for some in combinations("abcde", 3)],
            "at least 2, 3 or 4": [at_least(number, "abcde") for number in (2, 3, 4)],
        },
    ),
}


def main(names: Sequence[str]) -> None:
    """Print a table for each circuit, and draw the network of the sparsest seed."""
    for name in names or CIRCUITS:
        circuit = CIRCUITS[name]
        task = boolean_task(circuit.formulas)
        sparsest: Sculpture | None = None
        print(f"\n{task.describe()}\n")
        titles = [
            "hidden",
            "network",
            "learned",
            "edges",
            *(f"{part}: told / unit" for part in circuit.parts),
        ]
        print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
        for depth in DEPTHS:
            hidden = [WIDTH] * depth
            dense = sculpt_seeds(task, hidden, SEEDS, unit_steps=[], edge_steps=[], progress=False)
            sculpted = sculpt_seeds(task, hidden, SEEDS, progress=False)
            for kind, found in (("dense", dense), ("sculpted", sculpted)):
                learned = [one for one in found if one.outcome != "not learned"]
                explained = [one.explain() for one in learned]
                counts = [
                    f"{_times(explained, task, formulas, 'signal')} / {_times(explained, task, formulas, 'unit')}"
                    for formulas in circuit.parts.values()
                ]
                edges = sorted(one.edges for one in learned)
                middle = f"{np.median(edges):g} ({edges[0]} to {edges[-1]})" if edges else "–"
                print(
                    f"| {'-'.join(map(str, hidden))} | {kind} | {len(learned)} of {len(found)} | {middle} | "
                    f"{' | '.join(counts)} |",
                    flush=True,
                )
            learned = [one for one in sculpted if one.searches]
            for one in learned:
                if sparsest is None or one.edges < sparsest.edges:
                    sparsest = one
            agreed = sculpted.consensus()
            alike = [
                one.explain() for one in learned if _structure(one.hierarchy) == _structure(agreed.hierarchy)
            ]
            of_these = {
                part: f"{_times(alike, task, formulas, 'signal')} / {_times(alike, task, formulas, 'unit')}"
                for part, formulas in circuit.parts.items()
            }
            print(
                f"<!-- {agreed.describe()}\n{len(alike)} seeds end with that structure: {of_these} -->",
                flush=True,
            )
        assert sparsest is not None
        explanation = sparsest.explain()
        print(f"\n{'-'.join(map(str, sparsest.settings.hidden))}, seed {sparsest.seed}:\n{explanation}")
        draw(name, explanation)


def _structure(hierarchy: Hierarchy) -> Counter[tuple[frozenset[int], frozenset[int]]]:
    """Return modules by their inputs and outputs, as a consensus compares them."""
    modules = range(len(hierarchy.modules))
    return Counter((hierarchy.inputs_of(module), hierarchy.outputs_of(module)) for module in modules)


def _times(explained: Sequence[Explanation], task: BooleanTask, formulas: Sequence[str], kind: str) -> int:
    """Return in how many networks a signal between modules, or a hidden unit, is a bit that is a formula, or not."""
    names = list(task.input_names or ())
    wanted = [
        boolean_task(f"part = {formula}", inputs=names).y.flatten().bool().numpy() for formula in formulas
    ]
    return sum(
        any(_is(one, bits, task) for one in _of_kind(found, kind) for bits in wanted) for found in explained
    )


def _of_kind(explanation: Explanation, kind: str) -> Sequence[Function]:
    return explanation.signals if kind == "signal" else explanation.units


def _is(function: Function, wanted: NDArray[np.bool_], task: BooleanTask) -> bool:
    """Whether something is a bit, and that bit or its negation."""
    if not function.boolean or function.on_inputs is None:
        return False
    names = list(task.input_names or ())
    columns = [task.x[:, names.index(name)].bool().numpy() for name in function.of_inputs]
    values = np.broadcast_to(function.on_inputs.values(columns), wanted.shape)
    return bool((values == wanted).all() or (values != wanted).all())


def draw(name: str, explanation: Explanation) -> None:
    """Draw a network with what its modules compute."""
    figure = explanation.plot().get_figure()
    assert isinstance(figure, Figure)
    figure.savefig(IMAGES / f"gallery-{name}.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1:])
