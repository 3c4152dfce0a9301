"""A hierarchy as JSON text, and back, with care: a text that contradicts itself is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from pydantic import BaseModel, Field, NonNegativeInt, PositiveInt

from ...errors import FileFormatError
from ...io.bounds import check_borne_out, check_layers
from ...io.fields import parse, read_as, refuse_newer
from .agglomerate import LayerClustering
from .reach import Edges, used_units

if TYPE_CHECKING:
    from .hierarchy import Hierarchy, Unit

SCHEMA = "dovetail.hierarchy/1"

Value = TypeVar("Value")

MOST_MISSING = 1000
"""Units that may be neither in a cluster nor unused before the sizes themselves are not believed."""


class HierarchyFile(BaseModel):
    """What the text holds; ``connections`` are, for each unit after the inputs, the units before it that feed it."""

    sizes: Annotated[list[PositiveInt], Field(min_length=2)]
    connections: list[list[list[NonNegativeInt]]]
    layers: list[list[list[NonNegativeInt]]]
    modules: list[list[tuple[NonNegativeInt, NonNegativeInt]]]
    unused: list[tuple[NonNegativeInt, NonNegativeInt]]
    clusterings: tuple[LayerClustering, ...]
    input_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None


def plain_fields(hierarchy: Hierarchy) -> dict[str, object]:
    """Return a hierarchy as plain values, ready for JSON.

    Examples
    --------
    >>> from dovetail.sculpting import detect_modules
    >>> print(detect_modules([[[1, 1, 0]]]).to_json()[:109])
    {"schema": "dovetail.hierarchy/1", "sizes": [3, 1], "connections": [[[0, 1]]], "layers": [[[0, 1]], [[0]]], "
    """
    names = {"input_names": hierarchy.input_names, "output_names": hierarchy.output_names}
    return {
        "schema": SCHEMA,
        "sizes": hierarchy.sizes,
        "connections": [[np.flatnonzero(row).tolist() for row in edges] for edges in hierarchy.connections],
        "layers": [[sorted(cluster) for cluster in clusters] for clusters in hierarchy.layers],
        "modules": [sorted(module) for module in hierarchy.modules],
        "unused": sorted(hierarchy.unused),
        "clusterings": [asdict(clustering) for clustering in hierarchy.clusterings],
        **{name: given for name, given in names.items() if given is not None},
    }


def read_fields(text: str) -> dict[str, Any]:
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
    if schema != SCHEMA:
        raise FileFormatError(f"not a hierarchy: its schema is {schema!r:.40}, not {SCHEMA!r}")
    try:
        file = read_as(HierarchyFile, text)
        check_layers(len(file.sizes))
        fields: dict[str, Any] = {
            "connections": _connections(file),
            "layers": tuple(
                tuple(frozenset(_numbers(cluster, size)) for cluster in clusters)
                for clusters, size in zip(file.layers, file.sizes, strict=True)
            ),
            "modules": tuple(frozenset(_units(module, file.sizes)) for module in file.modules),
            "unused": frozenset(_units(file.unused, file.sizes)),
            "clusterings": file.clusterings,
        }
        _check(file.sizes, **fields)
        names = {"input_names": file.input_names, "output_names": file.output_names}
        for (what, given), size in zip(names.items(), (file.sizes[0], file.sizes[-1]), strict=True):
            if given is not None and len(given) != size:
                raise FileFormatError(f"its {what} are {len(given)}, for {size} units")
        return {**fields, **names}
    except FileFormatError as error:
        raise FileFormatError(f"this hierarchy is damaged or was altered: {error}") from error


def _connections(file: HierarchyFile) -> tuple[Edges, ...]:
    sizes = file.sizes
    found = [len(rows) for rows in file.connections]
    # What is allocated is bounded by how many units the text names, whatever sizes it claims.
    named = sum(len(cluster) for clusters in file.layers for cluster in clusters) + len(file.unused)
    edges_in_all = sum(before * after for before, after in pairwise(sizes))
    too_large = sum(sizes) > named + MOST_MISSING
    if found != sizes[1:] or len(file.layers) != len(sizes) or too_large:
        raise FileFormatError(
            f"connections of {found!r:.80} units, clusters of {len(file.layers)} layers and {named} units in layers of "
            f"{sizes!r:.80}"
        )
    check_borne_out("its network", edges_in_all, sum(len(row) for rows in file.connections for row in rows))
    connections = []
    for rows, (before, after) in zip(file.connections, pairwise(sizes), strict=True):
        edges = np.zeros((after, before), bool)
        for unit, row in enumerate(rows):
            edges[unit, _numbers(row, before)] = True
        edges.setflags(write=False)
        connections.append(edges)
    return tuple(connections)


def _check(
    sizes: Sequence[int],
    connections: Sequence[Edges],
    layers: Sequence[Sequence[frozenset[int]]],
    modules: Sequence[frozenset[Unit]],
    unused: frozenset[Unit],
    clusterings: Sequence[LayerClustering],
) -> None:
    """Refuse clusters and modules that do not divide up the used units."""
    used = [(layer, unit) for layer, units in enumerate(used_units(connections)) for unit in units.tolist()]
    everything = {(layer, unit) for layer, size in enumerate(sizes) for unit in range(size)}
    if unused != everything.difference(used):
        raise FileFormatError("its unused units are not those without a path from an input or to an output")
    clusters = [
        frozenset((layer, unit) for unit in cluster)
        for layer, found in enumerate(layers)
        for cluster in found
    ]
    for what, groups in (("clusters", clusters), ("modules", list(modules))):
        if sorted(unit for group in groups for unit in group) != used or not all(groups):
            raise FileFormatError(f"its {what} do not hold every used unit once")
        if groups != sorted(groups, key=min):
            raise FileFormatError(f"its {what} are not in the order of their first units")
    module_of = {unit: number for number, module in enumerate(modules) for unit in module}
    if any(len({module_of[unit] for unit in cluster}) > 1 for cluster in clusters):
        raise FileFormatError("a cluster is spread over several modules")
    counts = [clustering.chosen for clustering in clusterings]
    if counts and counts != [len(found) for found in layers]:
        raise FileFormatError(f"its layers were put into {counts} clusters, but have others")
    for clustering in clusterings:
        if clustering.best is not None and clustering.best not in clustering.metric:
            raise FileFormatError(f"its best number of clusters, {clustering.best}, has no score")


def _units(units: list[Unit], sizes: Sequence[int]) -> list[Unit]:
    for layer, unit in units:
        if layer >= len(sizes) or unit >= sizes[layer]:
            network = "-".join(map(str, sizes))
            raise FileFormatError(f"unit {unit} of layer {layer}, in a network of {network}")
    return _distinct(units)


def _numbers(units: list[int], size: int) -> list[int]:
    if max(units, default=0) >= size:
        raise FileFormatError(f"unit {max(units)} in a layer of {size}")
    return _distinct(units)


def _distinct(units: list[Value]) -> list[Value]:
    if len(set(units)) < len(units):
        raise FileFormatError(f"a unit is named twice in {units!r:.40}")
    return units
