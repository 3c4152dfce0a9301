"""Where the units of a hierarchy stand in a picture. Needs no plotting library.

Lengths are in steps: the distance of two units side by side in a small network. `along` runs along a layer, `across`
from the inputs to the outputs; which of them is to the right is the drawing's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..modules.hierarchy import Hierarchy
from .layout_order import UNUSED, membership, order_modules, order_units, surviving
from .layout_rows import PAD, Group, Row, align, make_room

Box = tuple[float, float, float, float]
"""A rectangle: from and to along a layer, from and to across the layers."""
Pixels = tuple[NDArray[np.float64], NDArray[np.float64]]
"""For each input its column along, and its line across, in a picture; whole numbers from 0."""


@dataclass(frozen=True)
class Block:
    """The units of one module in one layer.

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
    blocks : tuple of Block
        Layer by layer, in the order in which they stand.
    lines : tuple of int
        For each layer in how many lines its units are, unused ones apart.
    length, depth : float
        The size of the whole, along and across the layers.
    picture : tuple of float or None
        The area of the picture that the inputs make up, where they do.
    """

    blocks: tuple[Block, ...]
    lines: tuple[int, ...]
    length: float
    depth: float
    picture: Box | None = None

    def places(self, sizes: Sequence[int]) -> list[NDArray[np.float64]]:
        """Return for each layer where its units stand, ``[units, 2]``; NaN for units that are not drawn."""
        found = [np.full((size, 2), np.nan) for size in sizes]
        for block in self.blocks:
            found[block.layer][block.units] = np.stack([block.along, block.across], 1)
        return found

    def areas(self, module: int) -> list[list[tuple[float, float]]]:
        """Return the corners of a module's area, in one piece where its layers follow one another."""
        boxes = [
            (block.layer, block.box)
            for block in self.blocks
            if block.module == module and not (self.picture and block.layer == 0)
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


def lay_out(
    hierarchy: Hierarchy,
    *,
    unused: bool = False,
    pixels: Pixels | None = None,
    rooms: Sequence[float] = (),
    order: Sequence[NDArray[np.int64]] | None = None,
) -> Layout:
    """Return where to draw the units: modules side by side in an order that avoids crossings, over what feeds them.

    Parameters
    ----------
    hierarchy : Hierarchy
        What to draw.
    unused : bool
        Whether unused units have a place too, after the others.
    pixels : pair of arrays, optional
        Where each input is in the picture that they make up. They have no areas then.
    rooms : sequence of float
        For each module how much space its name needs, along a layer. It gets it in the layer with the most to spare.
    order : sequence of array of int, optional
        The units of each layer in their order, when that is known.

    Examples
    --------
    >>> import numpy as np
    >>> edges = (np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool), np.eye(2, dtype=bool))
    >>> left = frozenset({(0, 0), (0, 1), (1, 0), (2, 0)})
    >>> right = frozenset({(0, 2), (0, 3), (1, 1), (2, 1)})
    >>> layout = lay_out(Hierarchy(edges, (), (left, right)))
    >>> [(block.layer, block.module, block.along.round(2).tolist()) for block in layout.blocks[:3]]
    [(0, 0, [0.5, 1.5]), (0, 1, [2.8, 3.8]), (1, 0, [1.0])]
    """
    order = best_order(hierarchy, pixels) if order is None else order
    members = membership(hierarchy)
    rows = [
        Row(layer, _groups(order[layer], members[layer], unused, pixels is not None and layer == 0))
        for layer in range(len(order))
    ]
    moving = rows if pixels is None else rows[1:]
    make_room(moving, rooms)
    size, places = 0.0, None
    if pixels is not None:
        size = _pixel_size(pixels, max(row.length for row in moving))
        places = (pixels[0] + 0.5) * size, (pixels[1] + 0.5) * size
    align(rows, surviving(hierarchy), None if places is None else places[0])
    ends = [row.ends for row in moving if row.groups]
    if pixels is not None:
        ends.append((0.0, float(pixels[0].max() + 1) * size))
    start, end = min((first for first, _ in ends), default=0.0), max((last for _, last in ends), default=0.0)
    step = min(max(0.6, 0.3 + 0.08 * (end - start)), 16.0)
    blocks: list[Block] = []
    height, picture = 0.0, None
    if pixels is not None and places is not None:
        height = float(pixels[1].max() + 1) * size
        picture = (ends[-1][0] - start, ends[-1][1] - start, 0.0, height)
        for module, units in rows[0].groups:
            blocks.append(Block(0, module, units, places[0][units] - start, places[1][units], size, picture))
        height += step
    for row in moving:
        blocks += _blocks(row, start, height)
        height += row.depth + 2 * PAD + step
    return Layout(tuple(blocks), tuple(row.lines for row in rows), end - start, height - step, picture)


def best_order(hierarchy: Hierarchy, pixels: Pixels | None = None) -> tuple[NDArray[np.int64], ...]:
    """Return the units of each layer in an order in which few edges cross.

    Examples
    --------
    >>> import numpy as np
    >>> one = frozenset({(0, 0), (0, 1), (1, 0), (1, 1)})
    >>> [row.tolist() for row in best_order(Hierarchy((np.array([[0, 1], [1, 0]], bool),), (), (one,)))]
    [[1, 0], [0, 1]]
    """
    columns = None if pixels is None else pixels[0]
    return order_units(hierarchy, order_modules(hierarchy, columns), columns)


def _groups(order: NDArray[np.int64], members: NDArray[np.int64], unused: bool, mixed: bool) -> list[Group]:
    """Return the units of a layer in their order, parted by module; the order may mix the modules of a picture."""
    if mixed:
        return [(int(module), order[members[order] == module]) for module in np.unique(members)]
    parts = np.split(order, np.flatnonzero(np.diff(members[order])) + 1)
    groups = [(int(members[part[0]]), part) for part in parts if len(part)]
    return [group for group in groups if unused or group[0] != UNUSED]


def _pixel_size(pixels: Pixels, rest: float) -> float:
    """Return a size of pixels at which the picture suits the other layers."""
    columns, lines = pixels[0].max() + 1, pixels[1].max() + 1
    return float(min(max(10.0, 0.6 * rest) / columns, 12.0 / lines))


def _blocks(row: Row, start: float, height: float) -> list[Block]:
    """Return the groups of a layer where they stand, in a drawing that begins at `start`, on a height."""
    found = []
    for number, (module, units) in enumerate(row.groups):
        along, across = row.inside(number)
        middle, half = float(row.middles[number]) - start, float(row.widths[number]) / 2
        box = (middle - half, middle + half, height, height + row.depth + 2 * PAD)
        across = across + height + PAD
        pitch, room = row.pitches[number], row.rooms[number]
        found.append(Block(row.layer, module, units, along + middle, across, pitch, box, room))
    return found
