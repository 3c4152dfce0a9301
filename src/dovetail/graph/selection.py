"""A part of a graph: some of its layers, some units of them, some heads of attention."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from ..errors import SpecError, unknown_name
from .graph import Group, Head, Indices, NetworkGraph

_RANGES = re.compile(r"(?P<layer>.+):(?P<ranges>\d+(-\d+)?(,\d+(-\d+)?)*)")


def part_of(graph: NetworkGraph, layers: Sequence[str], units: Sequence[str]) -> NetworkGraph:
    """Return the graph of all nodes that are named, and of the connections between these.

    Parameters
    ----------
    graph : NetworkGraph
        A whole network.
    layers : sequence of str
        Names of layers; ``*`` stands for any part of one.
    units : sequence of str
        ``"LAYER:0-3,7"`` names units of a layer by their numbers, from 0; ``"MODULE head 2"`` what a head has.

    Examples
    --------
    >>> import dovetail as dt
    >>> whole = dt.network_graph([np.ones((3, 4)), np.ones((2, 3))])
    >>> part = part_of(whole, ["layer*"], ["input:0,2-3"])
    >>> part.groups[0], part.unit_of[:3].tolist()
    (Group(name='input', size=3), [0, 2, 3])
    """
    first = graph.groups[0].name
    for given, option, example in ((layers, "layers", [first]), (units, "units", [f"{first}:0-15"])):
        if isinstance(given, str):
            raise SpecError(f"{option} is a list of names, not one text: [{given!r}]")
        if not isinstance(given, Iterable) or not all(isinstance(name, str) for name in given):
            raise SpecError(f"{option} is a list of names, such as {example}; got {given!r:.80}")
    kept = np.zeros(len(graph), dtype=bool)
    for name in layers:
        kept |= _of_layers(graph, name)
    for text in units:
        kept |= _of_units(graph, text)
    if not kept.any():
        raise SpecError("no layer and no unit is named; leave layers and units out for the whole network")
    new = np.where(kept, np.cumsum(kept) - 1, -1)
    blocks = []
    for whole in graph.blocks:
        if kept[whole.outputs].all() and kept[whole.inputs].all():
            blocks.append(replace(whole, outputs=new[whole.outputs], inputs=new[whole.inputs]))
            continue
        for block in [whole] if whole.groups == 1 else whole.parts():
            rows, columns = kept[block.outputs], kept[block.inputs]
            if rows.any() and columns.any():
                blocks.append(
                    replace(
                        block,
                        outputs=new[block.outputs[rows]],
                        inputs=new[block.inputs[columns]],
                        weights=np.ascontiguousarray(block.weights[np.ix_(rows, columns)]),
                    )
                )
    sizes = np.bincount(graph.group_of[kept], minlength=len(graph.groups))
    groups = [Group(group.name, int(size)) for group, size in zip(graph.groups, sizes, strict=True) if size]
    heads = [
        Head(head.name, *(new[nodes] for nodes in (head.queries, head.keys, head.values)))
        for head in graph.heads
        if kept[np.concatenate([head.queries, head.keys, head.values])].all()
    ]
    of_units = None
    if graph.of_units is not None:
        of_units = np.where(graph.of_units < 0, -1, new[graph.of_units])
    return NetworkGraph(tuple(groups), tuple(blocks), tuple(heads), of_units, graph.unit_of[kept])


def _of_layers(graph: NetworkGraph, name: str) -> NDArray[np.bool_]:
    """Return which nodes are in layers of a name."""
    names = [group.name for group in graph.groups]
    found = [number for number, own in enumerate(names) if own == name or fnmatchcase(own, name)]
    if not found:
        raise unknown_name("layer", name, names)
    return np.isin(graph.group_of, found)


def _of_units(graph: NetworkGraph, text: str) -> NDArray[np.bool_]:
    """Return which nodes a text names: units of a layer, or a head."""
    kept = np.zeros(len(graph), dtype=bool)
    heads = [head for head in graph.heads if head.name == text or fnmatchcase(head.name, text)]
    for head in heads:
        kept[np.concatenate([head.queries, head.keys, head.values])] = True
    if heads:
        return kept
    found = _RANGES.fullmatch(text)
    if found is None:
        raise SpecError(
            f"{text!r:.100} names no units; write LAYER:0-15,40 or the name of a head, MODULE head 3 (layers: "
            f"{', '.join(group.name for group in graph.groups):.400})"
        )
    here = _of_layers(graph, found["layer"])
    numbers = _numbers(found["ranges"])
    kept = here & np.isin(graph.unit_of, numbers)
    missing = np.setdiff1d(numbers, graph.unit_of[here])
    if len(missing):
        last = int(graph.unit_of[here].max())
        raise SpecError(f"layer {found['layer']!r} has no unit {missing[0]}; its last one is {last}")
    return kept


def _numbers(ranges: str) -> Indices:
    found: list[Indices] = []
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        if len(first) > 9 or len(last) > 9:
            raise SpecError(f"no layer has so many units: {part!r:.40}")
        found.append(np.arange(int(first), int(last or first) + 1))
    return np.concatenate(found)
