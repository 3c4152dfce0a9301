"""A hierarchy as an object: what it says, as a graph, as text and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dovetail.errors import FileFormatError, SpecError
from dovetail.sculpting.modules.detect import detect_modules
from dovetail.sculpting.modules.hierarchy import Hierarchy
from dovetail.sculpting.settings import Score

mpl.use("Agg")

HALVES = np.kron(np.eye(2), np.ones((2, 2)))
SHARED = [
    np.vstack([HALVES, np.zeros((1, 4))]),
    np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 1, 1, 1, 1]]),
]
"""Two halves, an output that reads both, and a hidden unit that reads nothing."""


@pytest.fixture(name="found")
def _found() -> Hierarchy:
    return detect_modules(SHARED)


def test_inputs_and_outputs_of_modules(found: Hierarchy) -> None:
    assert [found.inputs_of(number) for number in range(3)] == [{0, 1}, {2, 3}, set()]
    assert [found.outputs_of(number) for number in range(3)] == [{0}, {1}, {2}]
    for number in (3, -1):
        with pytest.raises(SpecError, match=f"no module {number}; this hierarchy has 3, numbered 0 to 2"):
            found.inputs_of(number)
    with pytest.raises(SpecError, match=r"no module 0; this hierarchy has 0$"):
        detect_modules([[[0]]]).outputs_of(0)


def test_feeds_count_the_edges_between_modules(found: Hierarchy) -> None:
    assert found.feeds == {(0, 2): 2, (1, 2): 2}
    assert found.edges_between == {(0, 0): 6, (0, 2): 2, (1, 1): 6, (1, 2): 2}


def test_graph_of_modules(found: Hierarchy) -> None:
    graph = found.to_networkx()
    assert graph.nodes[1] == {
        "units": [(0, 2), (0, 3), (1, 2), (1, 3), (2, 1)],
        "inputs": [2, 3],
        "outputs": [1],
        "layers": [0, 1, 2],
    }
    assert graph.nodes[2]["inputs"] == []
    assert list(graph.edges.data("edges")) == [(0, 2, 2), (1, 2, 2)]


def test_describe(found: Hierarchy) -> None:
    assert found.describe().splitlines() == [
        "4-5-3: 3 modules, 11 units, 16 edges",
        "  M1      {x1, x2, y1}, 2-2-1 units -> M3 (2 edges)",
        "  M2      {x3, x4, y2}, 2-2-1 units -> M3 (2 edges)",
        "  M3      {y3}, 0-0-1 units",
        "  unused  1 unit",
    ]
    assert repr(found) == "Hierarchy(4-5-3, 3 modules)"


def test_describe_is_short_for_large_networks_and_tells_of_ties() -> None:
    text = detect_modules([np.ones((30, 40))]).describe()
    assert "{x1, x2, x3, ... x40 (40 inputs), y1, y2, y3, ... y30 (30 outputs)}" in text
    lines = detect_modules([np.eye(100)]).describe().splitlines()
    assert len(lines) == 42
    assert lines[-1] == "  and 60 more modules"
    ends = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    tied = detect_modules([np.kron(np.eye(2), ends).T])
    assert tied.clusterings[0].tied
    assert tied.describe().splitlines()[-1].startswith("  ties    inputs: equal distances")
    assert "ties" not in detect_modules([HALVES]).describe()


def test_nothing_left_is_described_too() -> None:
    found = detect_modules([np.zeros((2, 3))])
    assert repr(found) == "Hierarchy(3-2, 0 modules)"
    assert found.describe() == "3-2: 0 modules, 0 units, 0 edges\n  unused  5 units"
    assert found.feeds == {}


def test_equal_by_value(found: Hierarchy) -> None:
    again = detect_modules(SHARED)
    assert found == again
    assert hash(found) == hash(again)
    assert found != replace(found, modules=found.modules[::-1])
    assert found != replace(found, clusterings=())
    weaker = [found.connections[0], found.connections[1].copy()]
    weaker[1][2, 4] = False  # an edge of an unused unit
    assert detect_modules(weaker).modules == found.modules
    assert detect_modules(weaker) != found
    assert found != "a hierarchy"


# ---- JSON ----


@given(st.integers(0, 2**32), st.lists(st.integers(1, 6), min_size=2, max_size=4), st.floats(0, 1))
def test_json_comes_back_the_same(seed: int, sizes: list[int], density: float) -> None:
    chance = np.random.default_rng(seed)
    found = detect_modules([chance.random((after, before)) < density for before, after in pairwise(sizes)])
    again = Hierarchy.from_json(found.to_json())
    assert again == found
    assert again.to_json() == found.to_json()
    assert not any(edges.flags.writeable for edges in again.connections)


def test_json_has_a_version(found: Hierarchy) -> None:
    assert json.loads(found.to_json())["schema"] == "dovetail.hierarchy/1"


@pytest.mark.parametrize("score", ["silhouette", "calinski-harabasz", "davies-bouldin"])
def test_other_scores_come_back_too(score: Score) -> None:
    found = detect_modules([HALVES, HALVES], score=score)
    assert Hierarchy.from_json(found.to_json()) == found
    assert found.clusterings[0].score == score


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "[]",
        "7",
        "null",
        "{}",
        '{"schema": ["x"]}',
        "[" * 100_000,
    ],
)
def test_foreign_text_is_refused(text: str) -> None:
    with pytest.raises(FileFormatError, match="not a hierarchy"):
        Hierarchy.from_json(text)


def test_text_that_is_cut_short_is_refused(found: Hierarchy) -> None:
    text = found.to_json()
    for length in range(0, len(text), 23):
        with pytest.raises(FileFormatError, match="not JSON, or cut short"):
            Hierarchy.from_json(text[:length])


def _set(*path: Any) -> Callable[[Any], None]:
    *keys, last, value = path

    def change(content: Any) -> None:
        for key in keys:
            content = content[key]
        content[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_set("sizes", [4]), "its sizes is [4]: list should have at least 2 items"),
        (_set("sizes", [4, 0, 3]), "its sizes.1 is 0: input should be greater than 0"),
        (_set("sizes", [4, 5, "3"]), "its sizes.2 is '3': input should be a valid integer"),
        (_set("sizes", [10**12, 5, 3]), "in layers of [1000000000000, 5, 3]"),
        (_set("sizes", [4, 5, 4]), "connections of [5, 3] units"),
        (_set("connections", []), "connections of [] units"),
        (_set("connections", 0, 0, [0, 4]), "unit 4 in a layer of 4"),
        (_set("connections", 0, 0, [0, 0]), "named twice"),
        (_set("connections", 1, 0, []), "its unused units are not those"),
        (_set("layers", 0, [[0, 1]]), "its clusters do not hold every used unit once"),
        (_set("layers", 0, [[0, 1], [2, 3], []]), "its clusters do not hold every used unit once"),
        (_set("layers", 0, [[2, 3], [0, 1]]), "its clusters are not in the order of their first units"),
        (_set("layers", 0, [[0, 2], [1, 3]]), "a cluster is spread over several modules"),
        (_set("layers", 0, 7), "its layers.0 is 7: input should be a valid array"),
        (_set("modules", 2, [[2, 2], [0, 0]]), "its modules do not hold every used unit once"),
        (_set("modules", 2, [[2, 3]]), "unit 3 of layer 2, in a network of 4-5-3"),
        (_set("modules", 2, [[2]]), "its modules.2.0.1 is [2]: field required"),
        (_set("unused", []), "its unused units are not those"),
        (_set("unused", None), "its unused is None: input should be a valid array"),
        (_set("clusterings", 0, "chosen", 3), "its layers were put into [3, 2, 3] clusters"),
        (_set("clusterings", 0, "best", 9), "its best number of clusters, 9, has no score"),
        (
            _set("clusterings", 0, "metric", "2", float("nan")),
            "metric.2 is nan: input should be a finite number",
        ),
        (_set("clusterings", 0, "metric", "2", 10**400), "input should be a finite number"),
        (_set("clusterings", 0, "metric", "two", 0.5), "is 'two': input should be a valid integer"),
        (
            _set("clusterings", 0, "tests", 0, "kind", "other"),
            "kind is 'other': input should be 'separate'",
        ),
        (_set("clusterings", 0, "tied", 0), "its clusterings.0.tied is 0: input should be a valid boolean"),
        (
            _set("clusterings", 0, "score", "beauty"),
            "its clusterings.0.score is 'beauty': input should be",
        ),
        (_set("clusterings", 0, None), "its clusterings.0 is None: input should be an object"),
        (_set("clusterings", None), "its clusterings is None: input should be a valid array"),
    ],
)
def test_text_that_contradicts_itself_is_refused(
    found: Hierarchy, change: Callable[[Any], None], said: str
) -> None:
    content = json.loads(found.to_json())
    change(content)
    with pytest.raises(FileFormatError, match=re.escape(said)):
        Hierarchy.from_json(json.dumps(content))


# ---- pictures ----


def _legend(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_metric_is_drawn_for_each_layer_that_has_one(found: Hierarchy) -> None:
    ax = found.plot_metric()
    assert _legend(ax) == ["inputs: 2 clusters", "hidden 1: 2 clusters"]
    metric = found.clusterings[0].metric
    assert np.array_equal(ax.lines[0].get_xydata(), list(metric.items()))
    assert np.array_equal(ax.lines[1].get_xydata(), [[2, metric[2]]])  # a ring around the best
    assert ax.get_ylabel() == "modularity metric (lower is better)"


def test_metric_of_one_layer_into_given_axes(found: Hierarchy) -> None:
    ax = Figure().subplots()
    assert found.plot_metric(layer=1, ax=ax) is ax
    assert _legend(ax) == ["hidden 1: 2 clusters"]
    assert found.plot_metric(layer=2, ax=Figure().subplots()).texts[0].get_text().startswith("no score")
    with pytest.raises(SpecError, match="no scores for layer 3; this hierarchy has them for layers 0 to 2"):
        found.plot_metric(layer=3)


def test_the_network_is_drawn(found: Hierarchy) -> None:
    ax = Figure().subplots()
    assert found.plot(ax=ax) is ax
    assert ax.has_data()
