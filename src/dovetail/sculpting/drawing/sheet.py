"""The sheet that a network is drawn on: how large it is, where things are on it, and which names there is space for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .layout import PAD, Layout, Stretch
from .style import counted, layer_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..modules.hierarchy import Hierarchy

STEP = 30.0
"""Points for a step, where there is space enough."""
WIDEST, HIGHEST = 936.0, 792.0
"""Of a new figure, in points."""
NARROWEST, LOWEST = 200.0, 130.0
LARGE, SMALL, TINY = 11.0, 7.5, 7.0
"""Sizes of text other than names, in points."""
NAME_SIZE = 8.0
"""Of names of units and modules, in points."""
LINE = 10.5
"""From one line of text to the next, in points."""
SPACE = 4.0
"""Between a drawing and the text beside it, in points."""
_MOST_LINES = 3  # of counts beside a layer
_TITLE = 28.0  # points that a title takes
_MOST_ROOM = 3.0  # steps for the name of a module
_FLAT, _UPRIGHT, _COUNTS, _NOTHING = range(4)  # ways to name inputs and outputs, the most telling first
_MARK = 30.0  # points that a mark in the legend takes, with the space around it


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


class Sheet:
    """A sheet for one drawing: how large it is, and what is written on it.

    Parameters
    ----------
    hierarchy : Hierarchy
        What is drawn.
    names : three lists of str
        Of all inputs, outputs and modules.
    texts : list of str
        What the legend says of each module.
    note : str
        What to write in the corner.
    title : str or None
        What to write above.
    legend : bool or None
        Whether there is a list of modules; None: when their names do not fit elsewhere, but it does.
    ax : Axes or None
        What to draw into; None: a new figure.

    Attributes
    ----------
    scale : float
        Points for a step, once it is open.
    labels : two of Labels
        What is written beside the inputs, and beside the outputs.
    with_layer_names, with_legend : bool
        Whether these are written.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        names: tuple[list[str], list[str], list[str]],
        texts: list[str],
        note: str,
        title: str | None,
        legend: bool | None,
        ax: Axes | None,
    ) -> None:
        self.hierarchy, self.names, self.texts = hierarchy, names, texts
        self.note, self.title, self.legend = note, title, legend
        self._ax, self._space, self._largest = ax, (WIDEST, HIGHEST - _TITLE * bool(title)), STEP
        if ax is not None:
            extent, point = ax.get_window_extent(), ax.figure.dpi / 72
            self._space, self._largest = (extent.width / point, extent.height / point), 1.5 * STEP
        self.scale = self._largest
        self.labels = [Labels((), False, 0.0)] * 2
        self.with_layer_names = self._layer_names_width() < 0.22 * self._space[0]
        self.with_legend = bool(legend)

    def rooms(self, layout: Layout) -> list[float]:
        """Return how much room along a layer the name of each module needs, given a layout without such rooms."""
        self._fit(layout)
        widths = [text_width(name, bold=True) for name in self.names[2]]
        return [min((width + 2) / (0.9 * self.scale), _MOST_ROOM) for width in widths]

    def open(self, layout: Layout) -> Axes:
        """Choose what is written and how large a step is; return axes with the limits to draw within."""
        self._choose(layout)
        left, right, bottom, top = self._margins([labels.depth for labels in self.labels])
        wide, high = _size(layout)
        ax = self._ax or self._new_axes(wide * self.scale + left + right, high * self.scale + bottom + top)
        ax.set_xlim(-left / self.scale, wide + right / self.scale)
        ax.set_ylim(-bottom / self.scale, high + top / self.scale)
        ax.set_aspect("equal", adjustable="box")
        ax.set_axis_off()
        return ax

    def _choose(self, layout: Layout) -> None:
        """Choose what is written, as much as there is space for, and how many points a step has."""
        self._fit(layout)
        width, height = self._space
        fits = self._legend_width() < 0.35 * width and len(self.names[2]) * 1.3 * LINE < height
        if self.legend is None and fits and not self._all_modules_named(layout):
            self.with_legend = True
            self._fit(layout)

    def _fit(self, layout: Layout) -> None:
        """Find the most telling names of inputs and outputs that there is space for, and the scale that they leave."""
        hows, depths = [_FLAT, _FLAT], [0.0, 0.0]
        largest = self._scale_beside(layout, depths)
        while True:
            self.scale = self._scale_beside(layout, depths)
            self.labels = [self._end_labels(layout, end, how) for end, how in enumerate(hows)]
            shorter = [
                how + (how < _COUNTS and not labels.complete)
                for how, labels in zip(hows, self.labels, strict=True)
            ]
            if self.scale < 0.6 * largest:  # the network matters more than the names
                deepest = depths.index(max(depths))
                shorter[deepest] = min(hows[deepest] + 1, _NOTHING)
            deeper = [max(labels.depth, depth) for labels, depth in zip(self.labels, depths, strict=True)]
            if shorter != hows:
                hows, depths = shorter, [0.0, 0.0]
            elif deeper != depths:
                depths = deeper
            else:
                return

    def _scale_beside(self, layout: Layout, depths: list[float]) -> float:
        """Return how many points a step can have when names of such a depth are beside the network."""
        left, right, bottom, top = self._margins(depths)
        (wide, high), (width, height) = _size(layout), self._space
        return max(1.0, min(self._largest, (width - left - right) / wide, (height - bottom - top) / high))

    def _end_labels(self, layout: Layout, end: int, how: int) -> Labels:
        """Return the names of the inputs or of the outputs, or what takes less space."""
        layer = 0 if end == 0 else len(layout.lines) - 1
        stretches = [stretch for stretch in layout.stretches if stretch.layer == layer]
        if how == _NOTHING:
            return Labels((), False, 0.0)
        if how == _COUNTS:
            what = "output" if end else "input"
            return group_labels(stretches, self.names[2], what, self.scale, layout.length)
        if layout.lines[layer] > 1 or (layout.picture and end == 0):
            return Labels((), False, 0.0, complete=False)
        return unit_labels(stretches, self.names[end], self.scale, along=how == _FLAT)

    def _margins(self, depths: list[float]) -> tuple[float, float, float, float]:
        """Return the points needed at the left, right, bottom and top of the network."""
        legend = self.with_legend * self._legend_width()
        note = LINE * bool(self.note)
        inputs, outputs = (depth + 2 * SPACE for depth in depths)
        left = SPACE + self.with_layer_names * self._layer_names_width()
        return left, SPACE + legend, inputs + note, outputs

    def _layer_names_width(self) -> float:
        layers = len(self.hierarchy.sizes)
        return max(text_width(layer_name(layer, layers), SMALL) for layer in range(layers)) + 3 * SPACE

    def _legend_width(self) -> float:
        return (
            max((text_width(line) for text in self.legend_texts() for line in text.splitlines()), default=0.0)
            + _MARK
        )

    def legend_texts(self) -> list[str]:
        """Return what the legend says of each module."""
        return [f"{name}: {text}" for name, text in zip(self.names[2], self.texts, strict=True)]

    def is_named(self, stretch: Stretch) -> bool:
        """Return whether the name of a stretch's module stands in it."""
        if stretch.module < 0 or not stretch.room:
            return False
        return text_width(self.names[2][stretch.module], bold=True) < (stretch.room + PAD / 2) * self.scale

    def _all_modules_named(self, layout: Layout) -> bool:
        named = {stretch.module for stretch in layout.stretches if self.is_named(stretch)}
        for labels in self.labels:
            named |= {label.module for label in labels.labels if label.group}
        return named.issuperset(range(len(self.hierarchy.modules)))

    def _new_axes(self, width: float, height: float) -> Axes:
        """Return axes that fill a new figure, below its title."""
        import matplotlib.pyplot as plt

        title = _TITLE if self.title else 0.0
        least = text_width(self.title, LARGE) + 4 * SPACE if self.title else 0.0
        width, height = max(width, NARROWEST, min(least, WIDEST)), max(height, LOWEST)
        figure = plt.figure(figsize=(width / 72, (height + title) / 72))
        return figure.add_axes((0, 0, 1, height / (height + title)))


def _size(layout: Layout) -> tuple[float, float]:
    """Return width and height of a network, in steps."""
    return max(layout.length, 1.0), max(layout.depth, 1.0)


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


def unit_labels(stretches: Sequence[Stretch], names: Sequence[str], scale: float, along: bool) -> Labels:
    """Return the names of all used units of a layer; they are not complete when they do not fit.

    Parameters
    ----------
    stretches : sequence of Stretch
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
    >>> stretch = Stretch(0, 0, np.arange(2), np.array([0.5, 1.5]), np.zeros(2), 1.0, (0, 2, 0, 1))
    >>> [unit_labels([stretch], ["long name", "another one"], 30, along).complete for along in (True, False)]
    [False, True]
    """
    found = [
        Label(names[unit], float(place), stretch.module)
        for stretch in stretches
        for unit, place in zip(stretch.units, stretch.along, strict=True)
    ]
    found.sort(key=lambda label: label.along)
    places = np.array([label.along for label in found]) * scale
    widths = np.array([text_width(label.text) for label in found])
    needed = widths + 3 if along else np.full(len(found), LINE)
    fits = bool(np.all(np.diff(places) >= (needed[1:] + needed[:-1]) / 2))
    return Labels(tuple(found), not along, LINE if along else float(widths.max(initial=0.0)), fits)


def group_labels(
    stretches: Sequence[Stretch], names: Sequence[str], what: str, scale: float, length: float
) -> Labels:
    """Return how many units each module has in a layer: as many of these texts as fit, in up to three lines.

    Parameters
    ----------
    stretches : sequence of Stretch
        The units.
    names : sequence of str
        The names of all modules.
    what : str
        What a unit of this layer is called.
    scale : float
        Points for a step.
    length : float
        Of the layer, in steps.

    Examples
    --------
    >>> import numpy as np
    >>> stretch = Stretch(0, 0, np.arange(402), np.arange(402) / 9, np.zeros(402), 0.1, (0, 45, 0, 1))
    >>> group_labels([stretch], ["left"], "input", 20, 50).labels[0].text
    'left: 402 inputs'
    """
    shown = [stretch for stretch in stretches if stretch.module >= 0]
    shown.sort(key=lambda stretch: float(stretch.along.mean()))
    texts = [f"{names[stretch.module]}: {counted(len(stretch.units), what)}" for stretch in shown]
    middles = [float(stretch.along.min() + stretch.along.max()) / 2 * scale for stretch in shown]
    widths = [text_width(text) + 8 for text in texts]
    placed = _in_lines(middles, widths, length * scale)
    found = [
        Label(text, place[0] / scale, stretch.module, True, place[1])
        for text, stretch, place in zip(texts, shown, placed, strict=True)
        if place is not None
    ]
    lines = 1 + max((label.line for label in found), default=-1)
    return Labels(tuple(found), False, lines * LINE, complete=len(found) == len(shown))


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
