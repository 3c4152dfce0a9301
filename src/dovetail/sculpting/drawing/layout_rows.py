"""Layers as rows of groups of units, and how the groups of all layers are moved over one another.

Lengths are in steps: the distance of two units side by side in a small network.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from .layout_order import UNUSED

PAD = 0.5
"""From the outermost units of a group to the border of its area."""
GAP = 0.3
"""Between the areas of two groups in a layer."""
LONGEST_ROW = 64
"""A layer with more units than this is drawn smaller, and in several lines."""
_LINES_DEPTH = 3.0  # steps that such lines take up together
_UNUSED_PITCH = 0.4  # of unused units, beside that of the others
_SWEEPS = 24

Group = tuple[int, NDArray[np.int64]]
"""The number of a module, and its units in a layer in the order in which they are drawn."""


class Row:
    """A layer: groups of units side by side, each in an area of its own.

    Parameters
    ----------
    layer : int
        Which layer it is.
    groups : list of (int, array of int)
        Modules and their units, in the order in which they are drawn.

    Attributes
    ----------
    lines : int
        In how many lines the units are, unused ones apart.
    depth : float
        From the first line to the last.
    pitches : list of float
        For each group the distance of two units side by side; unused ones are closer together.
    rooms : list of float
        For each group the space, at the start of its area, that is kept free.
    middles : array of float
        The middles of the areas, as they were last moved.

    Examples
    --------
    >>> import numpy as np
    >>> row = Row(0, [(0, np.arange(2)), (1, np.array([2]))])
    >>> row.middles.round(2).tolist(), row.length
    ([-0.65, 1.15], 3.3)
    """

    def __init__(self, layer: int, groups: list[Group]) -> None:
        self.layer, self.groups = layer, groups
        total = sum(len(units) for module, units in groups if module != UNUSED)
        pitch = min(1.0, math.sqrt(LONGEST_ROW * _LINES_DEPTH / max(total, 1)))
        self.lines = max(1, math.ceil(total * pitch / LONGEST_ROW))
        self.depth = (self.lines - 1) * pitch
        small = pitch * _UNUSED_PITCH
        self.pitches = [small if module == UNUSED else pitch for module, _ in groups]
        self._lines = [
            1 + int((self.depth + PAD) / small) if module == UNUSED else self.lines for module, _ in groups
        ]
        self.rooms = [0.0] * len(groups)
        self.middles = np.zeros(len(groups))
        self.close_up()

    @property
    def widths(self) -> NDArray[np.float64]:
        """How long the area of each group is."""
        columns = [
            math.ceil(len(units) / lines) for (_, units), lines in zip(self.groups, self._lines, strict=True)
        ]
        return (np.array(columns, np.float64) - 1) * self.pitches + 2 * PAD + self.rooms

    @property
    def offsets(self) -> NDArray[np.float64]:
        """The middles of the areas when they stand as close as they may, the first at 0."""
        widths = self.widths
        return np.cumsum(np.concatenate([[0.0], (widths[1:] + widths[:-1]) / 2 + GAP])[: len(widths)])

    @property
    def ends(self) -> tuple[float, float]:
        """Where the first area starts and the last one ends; both 0 where there is none."""
        if not self.groups:
            return 0.0, 0.0
        return float(self.middles[0] - self.widths[0] / 2), float(self.middles[-1] + self.widths[-1] / 2)

    @property
    def length(self) -> float:
        """From the start of the first area to the end of the last."""
        return round(self.ends[1] - self.ends[0], 9)

    def close_up(self) -> None:
        """Put the areas as close as they may be, around 0."""
        self.middles = self.offsets
        self.middles = self.middles - sum(self.ends) / 2

    def move(self, wanted: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Put the middles as near to where they are wanted as their order and sizes let them.

        A group without a weight stays close to the one before it.
        """
        offsets, held = self.offsets, np.flatnonzero(weights)
        if len(held):
            shifts = isotonic_regression((wanted - offsets)[held], weights=weights[held]).x
            follows = np.searchsorted(held, np.arange(len(offsets)), side="right") - 1
            self.middles = shifts[np.maximum(follows, 0)] + offsets

    def inside(self, group: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return where the units of a group are: along, from the middle of its area; across, from the last line."""
        lines, pitch = self._lines[group], self.pitches[group]
        number = np.arange(len(self.groups[group][1]), dtype=np.float64)
        column, line = number // lines, number % lines
        along = column * pitch + PAD + self.rooms[group] - self.widths[group] / 2
        return along, self.depth / 2 + ((lines - 1) / 2 - line) * pitch


def make_room(rows: Sequence[Row], rooms: Sequence[float]) -> None:
    """Give each module room for its name, in the shortest of the layers that it is in.

    Examples
    --------
    >>> import numpy as np
    >>> rows = [Row(0, [(0, np.arange(3))]), Row(1, [(0, np.arange(2))])]
    >>> make_room(rows, [0.75])
    >>> rows[0].rooms, rows[1].rooms
    ([0.0], [0.75])
    """
    lengths = [row.length for row in rows]
    for module, room in enumerate(rooms):
        mine = [
            (length, layer, number)
            for layer, (row, length) in enumerate(zip(rows, lengths, strict=True))
            for number, (other, _) in enumerate(row.groups)
            if other == module
        ]
        if mine:
            _, layer, number = min(mine)
            rows[layer].rooms[number] = room
            rows[layer].close_up()


def align(
    rows: Sequence[Row], edges: Sequence[NDArray[np.bool_]], fixed: NDArray[np.float64] | None = None
) -> None:
    """Move the groups of all layers over the units that they are connected to, without changing their order.

    Parameters
    ----------
    rows : sequence of Row
        All layers, from the inputs to the outputs.
    edges : sequence of array
        The edges between them, ``[units, units before]``.
    fixed : array of float, optional
        Where the inputs are, when they do not move.

    Examples
    --------
    >>> import numpy as np
    >>> rows = [Row(0, [(0, np.arange(2)), (1, np.arange(2, 4))]), Row(1, [(1, np.array([0]))])]
    >>> align(rows, [np.array([[0, 0, 1, 1]], bool)])
    >>> bool(abs(rows[1].middles[0] - rows[0].middles[1]) < 1e-6)
    True
    """
    places = [np.zeros(edges[0].shape[1]), *(np.zeros(len(links)) for links in edges)]
    if fixed is not None:
        places[0] = fixed
    moving = [row for row in rows[fixed is not None :] if row.groups]

    def note(row: Row) -> None:
        for number, (_, units) in enumerate(row.groups):
            places[row.layer][units] = row.middles[number] + row.inside(number)[0]

    for row in moving:
        note(row)
    for sweep in range(_SWEEPS):
        for row in moving if sweep % 2 else reversed(moving):
            sums, degree = np.zeros(len(places[row.layer])), np.zeros(len(places[row.layer]))
            for near, links in (
                (row.layer - 1, edges[row.layer - 1]),
                (row.layer + 1, edges[min(row.layer, len(edges) - 1)].T),
            ):
                if 0 <= near < len(places):
                    sums += links @ places[near]
                    degree += links.sum(1)
            wanted, weights = row.middles.copy(), np.zeros(len(row.groups))
            for number, (_, units) in enumerate(row.groups):
                if count := degree[units].sum():
                    own = (row.inside(number)[0] * degree[units]).sum()
                    wanted[number], weights[number] = (sums[units].sum() - own) / count, len(units)
            row.move(wanted, weights)
            note(row)
