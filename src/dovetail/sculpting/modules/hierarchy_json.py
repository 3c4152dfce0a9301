"""A hierarchy as JSON text, and back, with care: a text that contradicts itself is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypedDict, TypeVar, get_args

import numpy as np

from ...errors import FileFormatError
from ...io.fields import number, parse, refuse_newer, take, whole
from ..settings import Score
from .agglomerate import LayerClustering, SeparabilityTest
from .reach import Edges, used_units

if TYPE_CHECKING:
    from .hierarchy import Unit

SCHEMA = "dovetail.hierarchy/1"

Value = TypeVar("Value")

MOST_EDGES = 2**28
"""That there may be in all, one byte each: more would fill a machine's memory."""

MOST_MISSING = 1000
"""Units that may be neither in a cluster nor unused before the sizes themselves are not believed."""


class HierarchyFields(TypedDict):
    """What a `Hierarchy` is made from."""

    connections: tuple[Edges, ...]
    layers: tuple[tuple[frozenset[int], ...], ...]
    modules: tuple[frozenset[Unit], ...]
    unused: frozenset[Unit]
    clusterings: tuple[LayerClustering, ...]


def write_fields(hierarchy: HierarchyFields) -> str:
    """Return the fields of a hierarchy as JSON.

    ``connections`` lists for each layer after the inputs, and each of its units, the units before it that feed it.

    Examples
    --------
    >>> from dovetail.sculpting import detect_modules
    >>> print(detect_modules([[[1, 1, 0]]]).to_json()[:109])
    {"schema": "dovetail.hierarchy/1", "sizes": [3, 1], "connections": [[[0, 1]]], "layers": [[[0, 1]], [[0]]], "
    """
    content = {
        "schema": SCHEMA,
        "sizes": _sizes(hierarchy),
        "connections": [
            [np.flatnonzero(row).tolist() for row in edges] for edges in hierarchy["connections"]
        ],
        "layers": [[sorted(cluster) for cluster in clusters] for clusters in hierarchy["layers"]],
        "modules": [sorted(module) for module in hierarchy["modules"]],
        "unused": sorted(hierarchy["unused"]),
        "clusterings": [
            {
                "metric": {str(count): value for count, value in clustering.metric.items()},
                "chosen": clustering.chosen,
                "best": clustering.best,
                "tests": [vars(test) for test in clustering.tests],
                "tied": clustering.tied,
                "score": clustering.score,
            }
            for clustering in hierarchy["clusterings"]
        ],
    }
    return json.dumps(content)


def read_fields(text: str) -> HierarchyFields:
    """Return the fields of the hierarchy that a JSON text holds.

    Raises
    ------
    FileFormatError
        When it is of another kind or version, incomplete, or contradicts itself.

    Examples
    --------
    >>> read_fields('{"schema": "something/2"}')
    Traceback (most recent call last):
    dovetail.errors.FileFormatError: not a hierarchy: its schema is 'something/2', not 'dovetail.hierarchy/1'
    """
    try:
        content = parse(text)
    except FileFormatError as error:
        raise FileFormatError(f"not a hierarchy: {error}") from None
    if isinstance(content, dict):
        refuse_newer(content, SCHEMA)
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(content, dict) or schema != SCHEMA:
        raise FileFormatError(f"not a hierarchy: its schema is {schema!r:.40}, not {SCHEMA!r}")
    try:
        return _fields(content)
    except FileFormatError as error:
        raise FileFormatError(f"this hierarchy is damaged or was altered: {error}") from error


def _sizes(hierarchy: HierarchyFields) -> list[int]:
    connections = hierarchy["connections"]
    return [connections[0].shape[1], *map(len, connections)]


def _fields(content: Mapping[str, object]) -> HierarchyFields:
    connections = _connections(content)
    sizes = [connections[0].shape[1], *map(len, connections)]
    layers = tuple(
        tuple(frozenset(_numbers(cluster, size)) for cluster in _list(clusters, "a layer"))
        for clusters, size in zip(take(content, "layers", list, len(sizes)), sizes, strict=True)
    )
    modules = tuple(frozenset(_units(module, sizes)) for module in take(content, "modules", list))
    unused = frozenset(_units(content.get("unused"), sizes))
    clusterings = tuple(_clustering(entry) for entry in take(content, "clusterings", list))
    hierarchy: HierarchyFields = {
        "connections": connections, "layers": layers, "modules": modules, "unused": unused,
        "clusterings": clusterings,
    }  # fmt: skip
    _check(hierarchy)
    return hierarchy


def _connections(content: Mapping[str, object]) -> tuple[Edges, ...]:
    sizes = [whole(size) for size in take(content, "sizes", list)]
    if len(sizes) < 2 or 0 in sizes:
        raise FileFormatError(f"layers of {sizes!r:.80} units")
    edges_in_all = sum(before * after for before, after in pairwise(sizes))
    too_large = edges_in_all > MOST_EDGES or sum(sizes) > _listed(content) + MOST_MISSING
    found = []
    layers = take(content, "connections", list, len(sizes) - 1)
    for (before, after), rows in zip(pairwise(sizes), layers, strict=True):
        if len(_list(rows, "connections")) != after or too_large:
            raise FileFormatError(f"connections of {len(rows)} units to {before} in a layer of {after}")
        edges = np.zeros((after, before), bool)
        for unit, row in enumerate(rows):
            edges[unit, _numbers(row, before)] = True
        edges.setflags(write=False)
        found.append(edges)
    return tuple(found)


def _listed(content: Mapping[str, object]) -> int:
    """Return how many units a text names: it bounds what is allocated for a text of its length."""
    clusters = [cluster for layer in take(content, "layers", list) for cluster in _list(layer, "a layer")]
    return sum(len(_list(units, "a set of units")) for units in (*clusters, content.get("unused")))


def _check(hierarchy: HierarchyFields) -> None:
    """Refuse clusters and modules that do not divide up the used units."""
    numbers = enumerate(used_units(hierarchy["connections"]))
    used = [(layer, unit) for layer, units in numbers for unit in units.tolist()]
    everything = {(layer, unit) for layer, size in enumerate(_sizes(hierarchy)) for unit in range(size)}
    if hierarchy["unused"] != everything.difference(used):
        raise FileFormatError("its unused units are not those without a path from an input or to an output")
    clusters = [
        frozenset((layer, unit) for unit in cluster)
        for layer, found in enumerate(hierarchy["layers"])
        for cluster in found
    ]
    for what, groups in (("clusters", clusters), ("modules", list(hierarchy["modules"]))):
        if sorted(unit for group in groups for unit in group) != used or not all(groups):
            raise FileFormatError(f"its {what} do not hold every used unit once")
        if groups != sorted(groups, key=min):
            raise FileFormatError(f"its {what} are not in the order of their first units")
    module_of = {unit: number for number, module in enumerate(hierarchy["modules"]) for unit in module}
    if any(len({module_of[unit] for unit in cluster}) > 1 for cluster in clusters):
        raise FileFormatError("a cluster is spread over several modules")
    counts = [clustering.chosen for clustering in hierarchy["clusterings"]]
    if counts and counts != [len(found) for found in hierarchy["layers"]]:
        raise FileFormatError(f"its layers were put into {counts} clusters, but have others")


def _clustering(entry: object) -> LayerClustering:
    if not isinstance(entry, dict):
        raise FileFormatError(f"{entry!r:.40} where the clustering of a layer should be")
    metric = {}
    for count, value in take(entry, "metric", dict).items():
        if not (count.isascii() and count.isdigit() and len(count) < 10):
            raise FileFormatError(f"{count!r:.40} where a number of clusters should be")
        metric[int(count)] = number(value)
    best = entry.get("best")
    if best is not None and whole(best) not in metric:
        raise FileFormatError(f"its best number of clusters, {best}, has no score")
    tests = tuple(_test(test) for test in take(entry, "tests", list))
    tied, score = take(entry, "tied", bool), take(entry, "score", str)
    if score not in get_args(Score):
        raise FileFormatError(f"unknown score {score!r:.40}")
    return LayerClustering(metric, whole(entry.get("chosen")), best, tests, tied, score)


def _test(entry: object) -> SeparabilityTest:
    if not isinstance(entry, dict) or entry.get("kind") not in ("separate", "single"):
        raise FileFormatError(f"{entry!r:.40} where a separability test should be")
    numbers = (number(entry.get(name)) for name in ("shared", "expected", "score"))
    return SeparabilityTest(entry["kind"], take(entry, "positive", bool), *numbers)


def _units(value: object, sizes: Sequence[int]) -> list[Unit]:
    found = []
    for pair in _list(value, "a set of units"):
        layer, unit = (whole(number) for number in _list(pair, "a unit", 2))
        if layer >= len(sizes) or unit >= sizes[layer]:
            raise FileFormatError(
                f"unit {unit} of layer {layer}, in a network of {'-'.join(map(str, sizes))}"
            )
        found.append((layer, unit))
    return _distinct(found)


def _numbers(value: object, size: int) -> list[int]:
    found = [whole(number) for number in _list(value, "a set of units")]
    if any(number >= size for number in found):
        raise FileFormatError(f"unit {max(found)} in a layer of {size}")
    return _distinct(found)


def _distinct(units: list[Value]) -> list[Value]:
    if len(set(units)) < len(units):
        raise FileFormatError(f"a unit is named twice in {units!r:.40}")
    return units


def _list(value: object, what: str, length: int | None = None) -> list[object]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise FileFormatError(f"{value!r:.40} where {what} should be")
    return value
