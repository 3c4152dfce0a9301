"""The layout of a picture: where the units of a hierarchy stand. Needs no plotting library.

Lengths are in steps: the distance of two units side by side in a small network. `along` runs along a layer, `across`
from the inputs to the outputs; which of them is to the right is the drawing's business.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from ...errors import ShapeError
from .order import order_modules, order_units
from .style import UNUSED

if TYPE_CHECKING:
    from ..modules.hierarchy import Hierarchy

Box = tuple[float, float, float, float]
"""A rectangle: from and to along a layer, from and to across the layers."""
Pixels = tuple[NDArray[np.float64], NDArray[np.float64]]
"""For each input its column along, and its line across, in a picture; whole numbers from 0."""

MOST_MODULES = MOST_LAYERS = 300
"""Of a network that is drawn; with 400 modules, their order alone takes five seconds."""
PAD = 0.5
"""From the outermost units of a group to the border of its area."""
GAP = 0.3
"""Between the areas of two groups in a layer."""
LONGEST_ROW = 64
"""A layer with more units than this is drawn smaller, and in several lines."""
_LINES_DEPTH = 3.0  # steps that such lines take up together
_SWEEPS = 24

Group = tuple[int, NDArray[np.int64]]
"""The number of a module, and its units in a layer in the order in which they are drawn."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of a layer: the units of one module in it.

    Attributes
    ----------
    layer, module : int
        Whose units they are; the module is below 0 for units in none.
    units : array of int
        The numbers of the units in their layer.
    along, across : array of float
        Where each of them stands.
    pitch : float
        The distance of two of them side by side.
    box : tuple of float
        The area of the module here: (from, to) along the layer, then across.
    room : float
        How much of it, at its start, is kept free for the module's name.
    """

    layer: int
    module: int
    units: NDArray[np.int64]
    along: NDArray[np.float64]
    across: NDArray[np.float64]
    pitch: float
    box: Box
    room: float = 0.0


@dataclass(frozen=True)
class Layout:
    """Where everything is, from (0, 0) to (`length`, `depth`).

    Attributes
    ----------
    stretches : tuple of Stretch
        Layer by layer, in the order in which they stand.
    lines : tuple of int
        For each layer in how many lines its units are.
    length, depth : float
        The size of the whole, along and across the layers.
    picture : tuple of float or None
        The area of the picture that the inputs make up, where they do.
    """

    stretches: tuple[Stretch, ...]
    lines: tuple[int, ...]
    length: float
    depth: float
    picture: Box | None = None

    def places(self, sizes: Sequence[int]) -> list[NDArray[np.float64]]:
        """Return for each layer where its units stand, ``[units, 2]``; NaN for units that are not drawn."""
        found = [np.full((size, 2), np.nan) for size in sizes]
        for stretch in self.stretches:
            found[stretch.layer][stretch.units] = np.stack([stretch.along, stretch.across], 1)
        return found

    @property
    def middles(self) -> dict[int, float]:
        """The layers that have something in them, and the middle of each across the drawing."""
        return {stretch.layer: (stretch.box[2] + stretch.box[3]) / 2 for stretch in self.stretches}

    def areas(self, module: int) -> list[list[tuple[float, float]]]:
        """Return the corners of a module's area, in one piece where its layers follow one another."""
        boxes = [
            (stretch.layer, stretch.box)
            for stretch in self.stretches
            if stretch.module == module and not (self.picture and stretch.layer == 0)
        ]
        pieces: list[list[Box]] = []
        for place, (layer, box) in enumerate(boxes):
            if place and layer == boxes[place - 1][0] + 1:
                pieces[-1].append(box)
            else:
                pieces.append([box])
        return [
            [(start, height) for start, _, low, high in piece for height in (low, high)]
            + [(end, height) for _, end, low, high in reversed(piece) for height in (high, low)]
            for piece in pieces
        ]


def rounded(corners: Sequence[tuple[float, float]], radius: float) -> list[NDArray[np.float64]]:
    """Return for each corner where a curve around it begins, the corner, and where the curve ends, ``[3, 2]``.

    Examples
    --------
    >>> rounded([(0, 0), (4, 0), (4, 4)], 1)[1].tolist()
    [[3.0, 0.0], [4.0, 0.0], [4.0, 1.0]]
    """
    points = np.array(corners, np.float64)
    found = []
    for before, corner, after in zip(np.roll(points, 1, 0), points, np.roll(points, -1, 0), strict=True):
        ends = []
        for other in (before, after):
            length = float(np.hypot(*(other - corner)))
            ends.append(corner + (other - corner) * min(radius / length, 0.5) if length else corner)
        found.append(np.stack([ends[0], corner, ends[1]]))
    return found


def lay_out(
    hierarchy: Hierarchy,
    *,
    pixels: Pixels | None = None,
    rooms: Sequence[float] = (),
    order: Sequence[NDArray[np.int64]] | None = None,
) -> Layout:
    """Return where to draw the units: modules side by side in an order that avoids crossings, over what feeds them.

    Parameters
    ----------
    hierarchy : Hierarchy
        What to draw.
    pixels : pair of arrays, optional
        Where each input is in the picture that they make up. They have no areas then.
    rooms : sequence of float
        For each module how much space its name needs, along a layer. It gets it in the layer with the most to spare.
    order : sequence of array of int, optional
        The units of each layer in their order, when that is known.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.sculpting import Hierarchy
    >>> edges = (np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool), np.eye(2, dtype=bool))
    >>> left = frozenset({(0, 0), (0, 1), (1, 0), (2, 0)})
    >>> right = frozenset({(0, 2), (0, 3), (1, 1), (2, 1)})
    >>> layout = lay_out(Hierarchy(edges, (), (left, right)))
    >>> [(stretch.layer, stretch.module, stretch.along.round(2).tolist()) for stretch in layout.stretches[:3]]
    [(0, 0, [0.5, 1.5]), (0, 1, [2.8, 3.8]), (1, 0, [1.0])]
    """
    order = best_order(hierarchy, pixels) if order is None else order
    members = hierarchy.membership
    rows = [
        Row(layer, _groups(order[layer], members[layer], pixels is not None and layer == 0))
        for layer in range(len(order))
    ]
    moving = rows if pixels is None else rows[1:]
    make_room(moving, rooms)
    size, places = 0.0, None
    if pixels is not None:
        size = _pixel_size(pixels, max(row.length for row in moving))
        places = (pixels[0] + 0.5) * size, (pixels[1] + 0.5) * size
    align(rows, hierarchy.used_edges, None if places is None else places[0])
    ends = [row.ends for row in moving if row.groups]
    if pixels is not None:
        ends.append((0.0, float(pixels[0].max() + 1) * size))
    start, end = min((first for first, _ in ends), default=0.0), max((last for _, last in ends), default=0.0)
    step = min(max(0.6, 0.3 + 0.08 * (end - start)), 16.0)
    stretches: list[Stretch] = []
    height, picture = 0.0, None
    if pixels is not None and places is not None:
        height = float(pixels[1].max() + 1) * size
        picture = (ends[-1][0] - start, ends[-1][1] - start, 0.0, height)
        for module, units in rows[0].groups:
            stretches.append(
                Stretch(0, module, units, places[0][units] - start, places[1][units], size, picture)
            )
        height += step
    for row in moving:
        stretches += _stretches(row, start, height)
        height += row.depth + 2 * PAD + step
    return Layout(tuple(stretches), tuple(row.lines for row in rows), end - start, height - step, picture)


def check_drawable(hierarchy: Hierarchy) -> None:
    """Refuse more modules or layers than anybody could tell apart in a picture, which would take minutes to order.

    Raises
    ------
    ShapeError
        With what else there is.
    """
    modules, layers = len(hierarchy.modules), len(hierarchy.sizes)
    if modules > MOST_MODULES or layers > MOST_LAYERS:
        raise ShapeError(
            f"{modules:,} modules in {layers:,} layers are too many to draw ({MOST_MODULES} and {MOST_LAYERS} are the "
            "most); keep them as .json, or look at the table that to_frame() gives"
        )


def best_order(hierarchy: Hierarchy, pixels: Pixels | None = None) -> tuple[NDArray[np.int64], ...]:
    """Return the units of each layer in an order in which few edges cross.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.sculpting import Hierarchy
    >>> one = frozenset({(0, 0), (0, 1), (1, 0), (1, 1)})
    >>> [row.tolist() for row in best_order(Hierarchy((np.array([[0, 1], [1, 0]], bool),), (), (one,)))]
    [[1, 0], [0, 1]]
    """
    check_drawable(hierarchy)
    columns = None if pixels is None else pixels[0]
    return order_units(hierarchy, order_modules(hierarchy, columns), columns)


def _groups(order: NDArray[np.int64], members: NDArray[np.int64], mixed: bool) -> list[Group]:
    """Return the used units of a layer in their order, parted by module; that of a picture's pixels may mix modules."""
    if mixed:
        return [(int(module), order[members[order] == module]) for module in np.unique(members)]
    parts = np.split(order, np.flatnonzero(np.diff(members[order])) + 1)
    groups = [(int(members[part[0]]), part) for part in parts if len(part)]
    return [group for group in groups if group[0] != UNUSED]


def _pixel_size(pixels: Pixels, rest: float) -> float:
    """Return a size of pixels at which the picture suits the other layers."""
    columns, lines = pixels[0].max() + 1, pixels[1].max() + 1
    return float(min(max(10.0, 0.6 * rest) / columns, 12.0 / lines))


def _stretches(row: Row, start: float, height: float) -> list[Stretch]:
    """Return the groups of a layer where they stand, in a drawing that begins at `start`, on a height."""
    found = []
    for number, (module, units) in enumerate(row.groups):
        along, across = row.inside(number)
        middle, half = float(row.middles[number]) - start, float(row.widths[number]) / 2
        box = (middle - half, middle + half, height, height + row.depth + 2 * PAD)
        across = across + height + PAD
        room = row.rooms[number]
        found.append(Stretch(row.layer, module, units, along + middle, across, row.pitch, box, room))
    return found


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
        In how many lines the units are.
    depth : float
        From the first line to the last.
    pitch : float
        The distance of two units side by side.
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
        total = sum(len(units) for _, units in groups)
        self.pitch = min(1.0, math.sqrt(LONGEST_ROW * _LINES_DEPTH / max(total, 1)))
        self.lines = max(1, math.ceil(total * self.pitch / LONGEST_ROW))
        self.depth = (self.lines - 1) * self.pitch
        self.rooms = [0.0] * len(groups)
        self.middles = np.zeros(len(groups))
        self.close_up()

    @property
    def widths(self) -> NDArray[np.float64]:
        """How long the area of each group is."""
        columns = [math.ceil(len(units) / self.lines) for _, units in self.groups]
        return (np.array(columns, np.float64) - 1) * self.pitch + 2 * PAD + self.rooms

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
        number = np.arange(len(self.groups[group][1]), dtype=np.float64)
        column, line = number // self.lines, number % self.lines
        along = column * self.pitch + PAD + self.rooms[group] - self.widths[group] / 2
        return along, self.depth - line * self.pitch


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
