"""Success: whether the modules found in a network are the ones planted in its task; counted, never judged by eye.

References
----------
.. [1] Patil, Michael, Dovrolis, "Neural Sculpting: Uncovering hierarchically modular task structure in neural
   networks through pruning and network analysis", NeurIPS 2023, section 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import networkx as nx
import numpy as np

from ...data.boolean import BooleanTask, Planted, PlantedModule, boolean_task
from ...errors import ShapeError, SpecError, unknown_name
from ...result import Result
from ..modules.hierarchy import Hierarchy


@dataclass(frozen=True)
class Match(Result):
    """What a hierarchy has in common with a planted structure.

    A module holds an input or output if that unit is in it. A module feeds another if an edge leads from one
    of its units to a unit of the other.

    Attributes
    ----------
    whole : bool
        The modules are the planted ones: they can be paired off so that both of each pair hold the same inputs
        and the same outputs. A planted module with neither is paired with one of hidden units alone. (Success
        in Figures 7, 8 and 12b of [1]_.)
    feeds : bool
        They also feed one another as planted, and nothing else. Never true when ``whole`` is not.
    inputs, outputs : bool
        Two inputs (outputs) are in one module exactly if they were planted in one. (Input and output modules
        in Figures 10, 12a and 13.)
    hidden : bool
        As many modules hold outputs as planted, and no hidden unit is in any other. (Hidden units separated in
        Figure 10; only for tasks whose inputs need no function of their own before the output modules.)
    intermediate : bool
        As many modules without inputs are fed by modules with inputs as planted. (Single intermediate module
        in Figure 12a, where it counts even if outputs have merged with it.)
    middle : bool
        As many modules as planted hold inputs, hold outputs, and are made of hidden units alone: where none is
        planted, every hidden unit is in a module with inputs or outputs. (Middle layer in Figure 13.)
    expected : Planted
        The structure that the hierarchy was compared with.

    References
    ----------
    .. [1] Patil, Michael, Dovrolis, "Neural Sculpting", NeurIPS 2023, section 5.
    """

    whole: bool
    feeds: bool
    inputs: bool
    outputs: bool
    hidden: bool
    intermediate: bool
    middle: bool
    expected: Planted = field(repr=False)

    def __str__(self) -> str:
        return ", ".join(f"{name} {'yes' if answer else 'no'}" for name, answer in self.to_dict().items())

    def to_dict(self) -> dict[str, object]:
        """Return what agrees, by name."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "expected"}


def compare(
    hierarchy: Hierarchy,
    planted: Planted | BooleanTask | str | Sequence[int],
    *,
    depth: int | Literal["any"] | None = None,
) -> Match:
    """Compare the modules found in a network with those planted in its task.

    Parameters
    ----------
    hierarchy : Hierarchy
        What was found.
    planted : Planted, BooleanTask, str or list of int
        What was planted, or the task (also by the name of its family, such as ``[4, 2, 4]``). Every input must be
        used, except for the pixels of `planted_digits`: of those, each planted module needs some.
    depth : int, "any" or None
        The number of hidden layers for which to take the planted structure; ``"any"`` takes the full structure
        even where the network is too shallow for it. Left out, it is that of the network.

    Returns
    -------
    Match
        What agrees: the whole, the partition of inputs, that of outputs, and other properties.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.data.boolean import boolean_task
    >>> halves = np.kron(np.eye(2), np.ones((1, 2))) > 0
    >>> modules = [{(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)}, {(0, 2), (0, 3), (1, 1), (2, 2), (2, 3)}]
    >>> layers = [[{0, 1}, {2, 3}], [{0}, {1}], [{0, 1}, {2, 3}]]
    >>> found = Hierarchy(
    ...     connections=(halves, halves.T),
    ...     layers=tuple(tuple(map(frozenset, clusters)) for clusters in layers),
    ...     modules=tuple(map(frozenset, modules)),
    ... )
    >>> print(compare(found, boolean_task([4, 2, 4])))
    whole yes, feeds yes, inputs yes, outputs yes, hidden yes, intermediate yes, middle yes
    """
    known = planted if isinstance(planted, Planted | BooleanTask) else boolean_task(planted)
    structure = _planted_for(hierarchy, known, depth)
    pixels = isinstance(structure, PlantedPixels)
    unused = {unit for layer, unit in hierarchy.unused if layer == 0 and pixels}
    found, expected = _with_ends(hierarchy.to_networkx()), _with_ends(structure.to_networkx(), unused)
    whole = Counter(_ends(found)) == Counter(_ends(expected))
    return Match(
        whole=whole,
        feeds=whole and nx.is_isomorphic(found, expected, node_match=dict.__eq__),
        inputs=_partition(found, 0) == _partition(expected, 0),
        outputs=_partition(found, 1) == _partition(expected, 1),
        hidden=_kinds(found)[1] == _kinds(expected)[1] and _outputs_own_hidden(hierarchy),
        intermediate=_fed_by_inputs(found) == _fed_by_inputs(expected),
        middle=_kinds(found) == _kinds(expected),
        expected=structure,
    )


def _with_ends(graph: nx.DiGraph[Any], left_out: Set[int] = frozenset()) -> nx.DiGraph[Any]:
    """Return modules with what they hold of a network's two ends; a task cannot name hidden units."""
    modules: nx.DiGraph[Any] = nx.DiGraph(graph.edges)
    for name, held in graph.nodes.items():
        inputs = frozenset(held["inputs"])
        # A module of which no input is used keeps them all, so that no found module is like it.
        modules.add_node(name, inputs=inputs - left_out or inputs, outputs=frozenset(held["outputs"]))
    return modules


def _ends(modules: nx.DiGraph[Any]) -> list[tuple[frozenset[int], frozenset[int]]]:
    return [(held["inputs"], held["outputs"]) for held in modules.nodes.values()]


def _partition(modules: nx.DiGraph[Any], side: int) -> set[frozenset[int]]:
    return {ends[side] for ends in _ends(modules)} - {frozenset()}


def _kinds(modules: nx.DiGraph[Any]) -> tuple[int, int, int]:
    """Return how many modules hold inputs, hold outputs, and hold neither."""
    ends = _ends(modules)
    neither = sum(not inputs and not outputs for inputs, outputs in ends)
    return sum(bool(inputs) for inputs, _ in ends), sum(bool(outputs) for _, outputs in ends), neither


def _fed_by_inputs(modules: nx.DiGraph[Any]) -> int:
    holds = modules.nodes(data="inputs")
    return len({fed for feeder, fed in modules.edges if holds[feeder] and not holds[fed]})


def _planted_for(
    hierarchy: Hierarchy, planted: Planted | BooleanTask, depth: int | Literal["any"] | None
) -> Planted:
    structure = planted.planted if isinstance(planted, BooleanTask) else planted
    if structure is None:
        raise SpecError(
            f"{planted!r} has no planted structure to compare with; describe it with dovetail.sculpting.Planted"
        )
    if isinstance(depth, str) and depth != "any":
        raise SpecError(
            f"depth={depth!r}: give a number of hidden layers, 'any', or None for the network's own"
        )
    if depth != "any":
        structure = structure.for_depth(len(hierarchy.sizes) - 2 if depth is None else depth)
    inputs, outputs = (
        frozenset().union(*units)
        for units in ([module.inputs for module in structure], [module.outputs for module in structure])
    )
    if not inputs <= set(range(hierarchy.sizes[0])) or outputs != set(range(hierarchy.sizes[-1])):
        raise ShapeError(
            f"a network with {hierarchy.sizes[0]} inputs and {hierarchy.sizes[-1]} outputs is not for a task with "
            f"{len(inputs)} and {len(outputs)} in its planted modules; compare it with its own task"
        )
    return structure


def _outputs_own_hidden(hierarchy: Hierarchy) -> bool:
    last = len(hierarchy.sizes) - 1
    layers = [{layer for layer, _ in module} for module in hierarchy.modules]
    return all(last in reached for reached in layers if reached & set(range(1, last)))


_TASKS = ("two-digits", "digit-xor")
_BITS = ("bit 4", "bit 2", "bit 1")


@dataclass(frozen=True)
class PlantedPixels(Planted):
    """A planted structure whose inputs are the pixels of an image, of which a network leaves many unused."""


def planted_digits(
    task: Literal["two-digits", "digit-xor"], *, height: int = 28, width: int = 28, classes: int = 10
) -> PlantedPixels:
    """Return the modules of a task on two images side by side.

    Parameters
    ----------
    task : {"two-digits", "digit-xor"}
        The data set. ``two-digits`` has two modules, each with the pixels of one image and the outputs for its
        class. ``digit-xor`` has an input module for each image, and three outputs that read both.
    height, width : int
        Size of one image; pixels of both are numbered row by row, ``2 * width`` in a row.
    classes : int
        Classes of images, for ``two-digits``.

    Examples
    --------
    >>> [str(module) for module in planted_digits("two-digits", height=1, width=2, classes=2)]
    ['left {x1, x2, y1, y2}', 'right {x3, x4, y3, y4}']
    >>> [str(module) for module in planted_digits("digit-xor", height=2, width=1)][:3]
    ['left {x1, x3} -> bit 4, bit 2, bit 1', 'right {x2, x4} -> bit 4, bit 2, bit 1', 'bit 4 {y1}']
    """
    if task not in _TASKS:
        raise unknown_name("task on two images", task, _TASKS)
    if min(height, width, classes) < 1:
        raise SpecError(f"height, width and classes must be 1 or more; got {height}, {width} and {classes}")
    pixels = np.arange(2 * height * width).reshape(height, 2, width)
    left, right = (frozenset(pixels[:, side].ravel().tolist()) for side in range(2))
    if task == "two-digits":
        outputs = [frozenset(range(side * classes, (side + 1) * classes)) for side in range(2)]
        return PlantedPixels(
            (PlantedModule("left", left, outputs[0]), PlantedModule("right", right, outputs[1]))
        )
    inputs = (PlantedModule("left", left, feeds=_BITS), PlantedModule("right", right, feeds=_BITS))
    bits = (PlantedModule(name, outputs=frozenset({unit})) for unit, name in enumerate(_BITS))
    return PlantedPixels((*inputs, *bits))
