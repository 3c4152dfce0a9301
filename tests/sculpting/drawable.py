"""Networks to draw: small ones made by hand, one as large as those for images, and the published ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dovetail.sculpting.modules.hierarchy import Hierarchy

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "sculpted_networks.jsonl.gz"
needs_samples = pytest.mark.skipif(not SAMPLES.exists(), reason="needs the published networks")


def two_parts() -> Hierarchy:
    """Return x1, x2 → y1 and x3, x4 → y2 with an edge from the first to the second, and two unused hidden units."""
    first = np.zeros((4, 4), bool)
    first[0, :2] = first[1, 2:] = first[3, 0] = True  # the last one leads nowhere
    second = np.zeros((2, 4), bool)
    second[0, 0] = second[1, 1] = second[1, 0] = True
    modules = (frozenset({(0, 0), (0, 1), (1, 0), (2, 0)}), frozenset({(0, 2), (0, 3), (1, 1), (2, 1)}))
    return Hierarchy((first, second), (), modules, frozenset({(1, 2), (1, 3)}))


def many_modules(number: int) -> Hierarchy:
    """Return modules of two inputs and a hidden unit, and an output for each that is a module of its own."""
    first = np.repeat(np.eye(number, dtype=bool), 2, 1)
    second = np.eye(number, dtype=bool)[::-1] | np.eye(number, dtype=bool)
    below = [frozenset({(0, 2 * m), (0, 2 * m + 1), (1, m)}) for m in range(number)]
    return Hierarchy((first, second), (), (*below, *(frozenset({(2, m)}) for m in range(number))))


def digits(density: float = 0.1, seed: int = 0) -> Hierarchy:
    """Return a network 1568-60-30-20-20 for two images side by side, in two modules with a few edges between them."""
    draw = np.random.default_rng(seed)
    sizes = (1568, 60, 30, 20, 20)
    sides = [np.arange(1568) % 56 >= 28] + [np.arange(size) >= size // 2 for size in sizes[1:]]
    edges = []
    for layer, size in enumerate(sizes[1:]):
        links = draw.random((size, sizes[layer])) < (density if layer == 0 else 0.4)
        links &= (sides[layer + 1][:, None] == sides[layer]) | (draw.random(links.shape) < 0.01)
        links[:, 0] = sides[layer + 1] == sides[layer][0]
        edges.append(links)
    used: list[NDArray[np.bool_]] = [np.ones(20, bool)]
    for links in reversed(edges):
        used.insert(0, np.asarray((links & used[0][:, None]).any(0)))
    unused = {(layer, int(unit)) for layer, row in enumerate(used) for unit in np.flatnonzero(~row)}
    modules = tuple(
        frozenset(
            (layer, int(unit))
            for layer, row in enumerate(used)
            for unit in np.flatnonzero(row & (sides[layer] == side))
        )
        for side in (False, True)
    )
    return Hierarchy(tuple(edges), (), modules, frozenset(unused))


def published(**wanted: Any) -> list[Hierarchy]:
    """Return the published networks whose entries are as wanted, with the modules that were found in them."""
    with gzip.open(SAMPLES, "rt") as file:
        records = [json.loads(line) for line in file]
    return [_read(one) for one in records if all(one[key] == value for key, value in wanted.items())]


def _read(record: dict[str, Any]) -> Hierarchy:
    edges = tuple(np.array(mask, bool) for mask in record["masks"])
    modules: dict[int, set[tuple[int, int]]] = {}
    for layer, (kept, labels) in enumerate(zip(record["kept_units"], record["modules"], strict=True)):
        for unit, label in zip(kept, labels, strict=True):
            modules.setdefault(label, set()).add((layer, unit))
    used = set().union(*modules.values())
    sizes = (edges[0].shape[1], *(len(links) for links in edges))
    unused = {(layer, unit) for layer, size in enumerate(sizes) for unit in range(size)} - used
    return Hierarchy(edges, (), tuple(sorted(map(frozenset, modules.values()), key=min)), frozenset(unused))
