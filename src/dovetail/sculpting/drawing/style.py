"""Names and colours of modules, layers and units in pictures. Needs no plotting library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import ShapeError
from ...plotting import LINE_COLOURS

if TYPE_CHECKING:
    from ..modules.hierarchy import Hierarchy, Unit

MODULE_COLOURS = (*LINE_COLOURS, "#882211", "#8B2BE2", "#99BB66", "#554466", "#4433AA", "#A58BFF")
"""Colours of modules. People who see few colours can tell the later ones apart as well as the first six."""

CROSSING_COLOUR = "#868C93"
"""Of edges from one module to another."""

NO_MODULE, UNUSED = -1, -2
"""In place of the number of a module: for a unit that is in none, and for one that is not used."""


def module_colour(number: int) -> str:
    """Return the colour of a module; after twelve they come again, as rings (see `is_ring`).

    Examples
    --------
    >>> module_colour(0), module_colour(12)
    ('#0072B2', '#0072B2')
    """
    return MODULE_COLOURS[number % len(MODULE_COLOURS)]


def is_ring(number: int) -> bool:
    """Return whether a module's units are drawn as rings, because another module has its colour.

    Examples
    --------
    >>> is_ring(0), is_ring(12), is_ring(24)
    (False, True, False)
    """
    return number >= 0 and number // len(MODULE_COLOURS) % 2 == 1


def checked_names(names: Sequence[str] | None, letter: str, size: int, what: str) -> list[str]:
    """Return the names that were given, or a letter with a number where there are none.

    Raises
    ------
    ShapeError
        When there are more or fewer names than things to name.

    Examples
    --------
    >>> checked_names(None, "x", 3, "inputs")
    ['x1', 'x2', 'x3']
    >>> checked_names(["left"], "x", 1, "inputs")
    ['left']
    """
    if names is None:
        return [f"{letter}{number}" for number in range(1, size + 1)]
    if isinstance(names, str) or len(names) != size:
        given = "one text" if isinstance(names, str) else f"{len(names)} names"
        raise ShapeError(f"{given} for {size} {what}; give a list with one name for each, in their order")
    return [str(name) for name in names]


def layer_name(layer: int, layers: int) -> str:
    """Return what a layer is called.

    Examples
    --------
    >>> [layer_name(layer, 4) for layer in range(4)]
    ['inputs', 'hidden 1', 'hidden 2', 'outputs']
    """
    return "inputs" if layer == 0 else "outputs" if layer == layers - 1 else f"hidden {layer}"


def counted(number: int, what: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "input"), counted(402, "input")
    ('1 input', '402 inputs')
    """
    return f"{number:,} {what}" + "s" * (number != 1)


def composition(module: frozenset[Unit], layers: int) -> str:
    """Return how many inputs, hidden units and outputs there are in a module.

    Examples
    --------
    >>> composition(frozenset({(0, 1), (0, 2), (1, 5), (2, 0)}), 3)
    '2 inputs, 1 hidden, 1 output'
    """
    inputs = sum(layer == 0 for layer, _ in module)
    outputs = sum(layer == layers - 1 for layer, _ in module)
    hidden = len(module) - inputs - outputs
    parts = [counted(inputs, "input")] * (inputs > 0)
    parts += [f"{hidden:,} hidden"] * (hidden > 0)
    return ", ".join(parts + [counted(outputs, "output")] * (outputs > 0))


def unused_note(hierarchy: Hierarchy) -> str:
    """Return what a picture says about unused units; nothing where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.sculpting import Hierarchy
    >>> edges = (np.array([[1, 0]], bool),)
    >>> unused_note(Hierarchy(edges, (), (frozenset({(0, 0), (1, 0)}),), frozenset({(0, 1)})))
    '1 unused unit left out'
    """
    return f"{counted(len(hierarchy.unused), 'unused unit')} left out" if hierarchy.unused else ""
