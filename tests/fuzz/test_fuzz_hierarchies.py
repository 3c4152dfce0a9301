"""Hierarchies as JSON: changed in their values, their text, or not ours at all."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from dovetail.sculpting import Hierarchy, detect_modules

from .hostile import altered, damaged, values, written
from .many import fuzz

pytestmark = pytest.mark.slow


@cache
def good() -> list[Any]:
    halves = np.kron(np.eye(2), np.ones((2, 2)))
    networks: list[list[Any]] = [
        [halves, halves],
        [halves, [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]],
        [[[1, 1, 0]]],
        [np.eye(3), [[1, 0, 0], [0, 0, 0]]],
    ]
    return [json.loads(detect_modules(network).to_json()) for network in networks]


@st.composite
def large(draw: st.DrawFn) -> Any:
    """Return a short text that claims to be about a large network."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 1000, 2**15, 2**20, 2**29, 2**30]), min_size=2, max_size=5))
    if max(sizes[1:]) > 1000:
        sizes = [sizes[0], 1]
    connections: list[Any] = [[[] for _ in range(after)] for after in sizes[1:]]
    layers: list[Any] = [[] for _ in sizes]
    return {
        **good()[0],
        "sizes": sizes,
        "connections": connections,
        "layers": layers,
        "modules": [],
        "clusterings": [],
    }


def texts() -> st.SearchStrategy[str]:
    whole = st.sampled_from(good())
    return st.one_of(
        whole.map(written),  # as they are, so that some are taken whatever else is drawn
        whole.flatmap(altered).map(written),
        whole.flatmap(altered).map(written),
        whole.map(lambda content: json.dumps(content).encode())
        .flatmap(damaged)
        .map(lambda content: content.decode("utf-8", "replace")),
        large().map(written),
        values.map(written),
        st.text(max_size=40),
    )


def read(text: str) -> None:
    found = Hierarchy.from_json(text)
    repr(found), found.describe(), found.feeds, found.to_networkx()
    assert Hierarchy.from_json(found.to_json()) == found


def test_no_text_breaks_the_reader() -> None:
    fuzz("hierarchies", texts(), read)
