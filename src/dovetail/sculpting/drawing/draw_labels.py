"""Which names fit beside the inputs and outputs of a drawing: all, upright ones, or only counts for each module."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import isotonic_regression

from .layout import Block
from .layout_order import UNUSED
from .module_style import counted

NAME_SIZE = 8.0
"""Of names of units and modules, in points."""
LINE = 10.5
"""From one line of text to the next, in points."""
SPACE = 4.0
"""Between a drawing and the text beside it, in points."""
_MOST_LINES = 3


@dataclass(frozen=True)
class Label:
    """A text beside a layer: where along it (in steps), for which module, for all its units or one, in which line."""

    text: str
    along: float
    module: int
    group: bool = False
    line: int = 0


@dataclass(frozen=True)
class Labels:
    """The texts beside a layer.

    Attributes
    ----------
    labels : tuple of Label
        What is written.
    upright : bool
        Whether it is turned by a quarter.
    depth : float
        How far it reaches away from the layer, in points.
    complete : bool
        Whether nothing had to be left out.
    """

    labels: tuple[Label, ...]
    upright: bool
    depth: float
    complete: bool = True


@lru_cache(maxsize=10_000)
def text_width(text: str, size: float = NAME_SIZE, bold: bool = False) -> float:
    """Return how wide a line of text is, in points.

    Examples
    --------
    >>> 5 < text_width("x1") < text_width("x1", bold=True) < 15
    True
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def unit_labels(blocks: Sequence[Block], names: Sequence[str], scale: float, along: bool) -> Labels:
    """Return the names of all used units of a layer; they are not complete when they do not fit.

    Parameters
    ----------
    blocks : sequence of Block
        The units.
    names : sequence of str
        The names of all units of the layer.
    scale : float
        Points for a step.
    along : bool
        Whether names lie along the layer, rather than across it.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(0, 0, np.arange(2), np.array([0.5, 1.5]), np.zeros(2), 1.0, (0, 2, 0, 1))
    >>> [unit_labels([block], ["long name", "another one"], 30, along).complete for along in (True, False)]
    [False, True]
    """
    found = [
        Label(names[unit], float(place), block.module)
        for block in blocks
        if block.module != UNUSED
        for unit, place in zip(block.units, block.along, strict=True)
    ]
    found.sort(key=lambda label: label.along)
    places = np.array([label.along for label in found]) * scale
    widths = np.array([text_width(label.text) for label in found])
    taken = widths + 3 if along else np.full(len(found), LINE)
    fits = bool(np.all(np.diff(places) >= (taken[1:] + taken[:-1]) / 2))
    return Labels(tuple(found), not along, LINE if along else float(widths.max(initial=0.0)), fits)


def group_labels(
    blocks: Sequence[Block],
    names: Sequence[str],
    what: str,
    scale: float,
    length: float,
    along: bool,
) -> Labels:
    """Return how many units each module has in a layer: as many of these texts as fit, in up to three lines.

    Parameters
    ----------
    blocks : sequence of Block
        The units.
    names : sequence of str
        The names of all modules.
    what : str
        What a unit of this layer is called.
    scale : float
        Points for a step.
    length : float
        Of the layer, in steps.
    along : bool
        Whether texts lie along the layer, rather than across it.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(0, 0, np.arange(402), np.arange(402) / 9, np.zeros(402), 0.1, (0, 45, 0, 1))
    >>> group_labels([block], ["left"], "input", 20, 50, along=True).labels[0].text
    'left: 402 inputs'
    """
    shown = [block for block in blocks if block.module >= 0]
    shown.sort(key=lambda block: float(block.along.mean()))
    texts = [f"{names[block.module]}: {counted(len(block.units), what)}" for block in shown]
    middles = [float(block.along.min() + block.along.max()) / 2 * scale for block in shown]
    widths = [text_width(text) + 8 for text in texts]
    placed = (
        _in_lines(middles, widths, length * scale) if along else _one_below_another(middles, length * scale)
    )
    found = [
        Label(text, place[0] / scale, block.module, True, place[1])
        for text, block, place in zip(texts, shown, placed, strict=True)
        if place is not None
    ]
    lines = 1 + max((label.line for label in found), default=-1)
    depth = lines * LINE if along else max((text_width(label.text) for label in found), default=0.0)
    return Labels(tuple(found), False, depth, complete=len(found) == len(shown))


def _in_lines(middles: list[float], widths: list[float], length: float) -> list[tuple[float, int] | None]:
    """Return for each text its middle and a line in which it does not run into another; None where there is none."""
    found: list[tuple[float, int] | None] = []
    ends = [-math.inf] * _MOST_LINES
    for wanted, width in zip(middles, widths, strict=True):
        middle = max(min(wanted, length - width / 2), width / 2)
        line = next((line for line, end in enumerate(ends) if end <= middle - width / 2), None)
        if line is not None:
            ends[line] = middle + width / 2
        found.append(None if line is None else (middle, line))
    return found


def _one_below_another(middles: list[float], length: float) -> list[tuple[float, int] | None]:
    """Return where texts stand that must not cover each other, near to where they are wanted; None where too many."""
    if len(middles) * LINE > length + LINE:
        return [None] * len(middles)
    offsets = np.arange(len(middles)) * LINE
    shifts = isotonic_regression(np.array(middles) - offsets).x if middles else offsets
    return [(float(place), 0) for place in shifts + offsets]
