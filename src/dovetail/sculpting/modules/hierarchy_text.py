"""A hierarchy in words, a line for each module."""

from __future__ import annotations

from collections.abc import Iterable

from ..drawing.module_style import counted, layer_name
from .hierarchy import Hierarchy

MOST_NAMES = 12
"""Inputs, or outputs, of a module up to which all are named."""
MOST_MODULES = 40
"""Modules up to which each has its line."""


def describe(hierarchy: Hierarchy) -> str:
    """Return a few lines that say what the modules are; module 0 is M1, as input 0 is x1.

    Examples
    --------
    >>> from dovetail.sculpting.modules.detect import detect_modules
    >>> print(describe(detect_modules([[[1, 0], [0, 1], [0, 0]], [[1, 0, 0], [0, 1, 0], [1, 1, 0]]])))
    2-3-3: 3 modules, 7 units, 6 edges
      M1      {x1, y1}, 1-1-1 units -> M3 (1 edge)
      M2      {x2, y2}, 1-1-1 units -> M3 (1 edge)
      M3      {y3}, 0-0-1 units
      unused  1 unit
    """
    modules = hierarchy.modules
    lines = [
        f"{'-'.join(map(str, hierarchy.sizes))}: {counted(len(modules), 'module')}, "
        f"{counted(sum(map(len, modules)), 'unit')}, {counted(sum(hierarchy.edges_between.values()), 'edge')}"
    ]
    for number in range(len(modules))[:MOST_MODULES]:
        lines.append(f"  {f'M{number + 1}':<6}  {_line(hierarchy, number)}")
    if len(modules) > MOST_MODULES:
        lines.append(f"  and {len(modules) - MOST_MODULES:,} more modules")
    if hierarchy.unused:
        lines.append(f"  unused  {counted(len(hierarchy.unused), 'unit')}")
    layers = len(hierarchy.sizes)
    tied = [layer_name(layer, layers) for layer, entry in enumerate(hierarchy.clusterings) if entry.tied]
    if tied:
        lines.append(f"  ties    {', '.join(tied)}: equal distances, so that other clusters would do as well")
    return "\n".join(lines)


def _line(hierarchy: Hierarchy, number: int) -> str:
    names = [
        *_names("x", "inputs", hierarchy.inputs_of(number)),
        *_names("y", "outputs", hierarchy.outputs_of(number)),
    ]
    per_layer = [0] * len(hierarchy.sizes)
    for layer, _ in hierarchy.modules[number]:
        per_layer[layer] += 1
    line = f"{{{', '.join(names)}}}, {'-'.join(map(str, per_layer))} units"
    fed = [
        f"M{to + 1} ({counted(edges, 'edge')})"
        for (start, to), edges in hierarchy.feeds.items()
        if start == number
    ]
    if len(fed) > MOST_NAMES:
        fed[MOST_NAMES - 1 :] = [f"{len(fed) - MOST_NAMES + 1} more"]
    return line + (f" -> {', '.join(fed)}" if fed else "")


def _names(letter: str, what: str, units: Iterable[int]) -> list[str]:
    names = [f"{letter}{unit + 1}" for unit in sorted(units)]
    if len(names) <= MOST_NAMES:
        return names
    return [*names[:3], f"... {names[-1]} ({len(names):,} {what})"]
