"""Pictures with a class each: brought to one size, those that cannot be read left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ...errors import DataError, SpecError
from ..content import Content
from ..preparation import Pictures
from ..preparation.pictures import MOST_ON_A_SIDE, check_pillow, is_grey, opened
from ..split import Split
from .labels import Labels, class_labels
from .like import Like, ids_like, preparation_of
from .official import three_rows
from .progress import shown
from .rows import empty_rows
from .wording import readable

USUAL_SIDE = 64
"""The most pixels on a side where no size is asked for: networks are small, and so is memory."""

_LOOKED_AT = 2000
"""Training pictures whose size and colours are looked at, evenly over all."""

_MOST_UNREADABLE = 0.1
"""Share of the pictures that may be left out because they cannot be read."""

_THREADS = 4
"""That decode files; each may hold a large picture."""

_AT_ONCE = 256
_NAMED = 3

Size = int | tuple[int, int]


def pictures_content(
    pictures: Sequence[Any],
    labels: object,
    *,
    official: NDArray[np.int64] | None = None,
    classes: Sequence[str] | None = None,
    split: Sequence[float] | None = None,
    like: Like | None = None,
    size: Size | None = None,
    seed: int = 0,
    name: str = "pictures",
    notes: tuple[str, ...] = (),
) -> Content:
    """Return pictures with a class each as a data set.

    Parameters
    ----------
    pictures : sequence
        Raw pictures, as `Pictures` takes them. They are asked for one at a time, and not kept.
    labels : array or sequence
        A class for each.
    official : array of int, optional
        0, 1 or 2 for each picture of train, val or test, where there are such splits already.
    classes : sequence of str, optional
        Names of the classes in the order of their ids; by default the labels that occur.
    split : tuple of float, optional
        Shares of train, val and test; by default 64, 16 and 20 %.
    like : Dataset, Specialist or Composite, optional
        Prepare pictures as those of this one were, with its class list.
    size : int or (int, int), optional
        Height and width; by default what most training pictures have, up to 64.
    seed : int
        What splits are drawn from.
    name : str
        What messages call the data.
    notes : tuple of str
        What was noticed before.
    """
    check_pillow()
    same = None if like is None else _same(like, size, name)
    found = (
        class_labels(labels, classes)
        if like is None
        else Labels(ids_like(labels, like, classes), like.classes)
    )
    if len(found.ids) != len(pictures):
        raise DataError(f"{name}: {len(pictures):,} pictures and {len(found.ids):,} labels; each needs one")
    rows, more = three_rows(found.ids, official, shares=split, seed=seed, name=name)
    preparation, chosen = (
        _chosen([pictures[row] for row in _some(rows[0])], size, name) if same is None else (same, ())
    )
    unreadable: list[str] = []
    made: dict[int, Split] = {}
    for some in rows:
        if id(some) not in made:  # a split may stand in for another
            made[id(some)] = _decoded(pictures, found.ids, some, preparation, unreadable, name)
    left_out = _left_out(unreadable, len(found.ids), name)
    return Content(
        [made[id(some)] for some in rows],
        found.classes,
        "classes",
        preparation,
        (*notes, *found.notes, *more, *chosen, *left_out),
    )


def check_size(size: object) -> tuple[int, int]:
    """Return height and width from what a user gave.

    Examples
    --------
    >>> check_size(32), check_size((24, 32))
    ((32, 32), (24, 32))
    """
    sides = (size, size) if isinstance(size, int) else size
    if (
        not isinstance(sides, tuple | list)
        or len(sides) != 2
        or not all(isinstance(side, int) and not isinstance(side, bool) for side in sides)
        or not all(1 <= side <= MOST_ON_A_SIDE for side in sides)
    ):
        raise SpecError(
            f"size is a whole number of pixels from 1 to {MOST_ON_A_SIDE:,}, or height and width; got {size!r:.40}"
        )
    return sides[0], sides[1]


def _some(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a few rows, evenly over all."""
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), _LOOKED_AT)).astype(np.int64)]


def _same(like: Like, size: Size | None, name: str) -> Pictures:
    preparation = preparation_of(like)
    if not isinstance(preparation, Pictures):
        raise DataError(f"{name}: these are pictures, and it takes something else: {preparation.describe()}")
    if size is not None and check_size(size) != preparation.size:
        raise SpecError(
            f"size {check_size(size)} was asked for, but like= has pictures of {preparation.size}; leave size out"
        )
    return preparation


def _chosen(pictures: Sequence[Any], size: Size | None, name: str) -> tuple[Pictures, tuple[str, ...]]:
    """Return the size and channels that suit training pictures, by their headers."""
    sizes: Counter[tuple[int, int]] = Counter()
    grey = 0
    problem = None
    for picture in pictures:
        try:
            with opened(picture) as image:
                turned = image.getexif().get(0x0112, 1) >= 5  # the camera was held upright: rows are columns
                sizes[image.size if turned else image.size[::-1]] += 1
                grey += is_grey(image)
        except DataError as error:  # such pictures are counted when all are decoded
            problem = error
    if not sizes:
        raise DataError(
            f"{name}: none of {len(pictures):,} pictures to train on can be read; the last one: {problem}"
        )
    seen = sizes.total()
    notes = []
    if 0 < grey < seen:
        notes.append(f"{grey:,} of {seen:,} pictures are grey, the others in colour: all are taken as colour")
    sides = _usual_size(sizes) if size is None else check_size(size)
    if sizes[sides] < seen:
        notes.append(
            f"{seen - sizes[sides]:,} of {seen:,} pictures are of other sizes than {sides[0]} × {sides[1]}: they are "
            "scaled to cover it, and their middle is cut out"
        )
    return Pictures(size=sides, channels=1 if grey == seen else 3), tuple(notes)


def _usual_size(sizes: Counter[tuple[int, int]]) -> tuple[int, int]:
    """Return the size that more than half of the pictures have, else a square; both up to the usual most."""
    (height, width), count = sizes.most_common(1)[0]
    if 2 * count <= sizes.total():
        shorter = np.repeat([min(size) for size in sizes], list(sizes.values()))
        height = width = int(np.median(shorter))
    shrink = min(1.0, USUAL_SIDE / max(height, width))
    return max(1, round(height * shrink)), max(1, round(width * shrink))


def _decoded(
    pictures: Sequence[Any],
    ids: NDArray[np.int64],
    rows: NDArray[np.int64],
    preparation: Pictures,
    unreadable: list[str],
    name: str,
) -> Split:
    """Return the chosen pictures that can be read; why others cannot is added to a list."""
    x = empty_rows((len(rows), *preparation.input_shape), np.float32)
    kept: list[int] = []
    for row, pixels in zip(rows.tolist(), each_picture(pictures, rows, preparation, name), strict=True):
        if isinstance(pixels, DataError):
            unreadable.append(str(pixels))
            if len(unreadable) > max(_NAMED, _MOST_UNREADABLE * len(ids)):
                break
        else:
            x[len(kept)] = preparation.scaled(pixels).numpy()
            kept.append(row)
    return Split(torch.from_numpy(x[: len(kept)]), torch.from_numpy(ids[kept]))


def each_picture(
    pictures: Sequence[Any], rows: NDArray[np.int64], preparation: Pictures, name: str
) -> Iterator[NDArray[np.uint8] | DataError]:
    """Yield the pixels of each picture, or why it cannot be read: files by several threads, in their order."""

    def decode(row: int) -> NDArray[np.uint8] | DataError:
        try:
            return preparation.resized(pictures[row])
        except DataError as error:
            return error

    files = isinstance(pictures[0], str | Path)
    with ThreadPoolExecutor(_THREADS if files else 1) as pool:
        for start in shown(range(0, len(rows), _AT_ONCE), f"reading {name}"):
            yield from pool.map(decode, rows[start : start + _AT_ONCE].tolist())


def _left_out(unreadable: list[str], count: int, name: str) -> tuple[str, ...]:
    if not unreadable:
        return ()
    why = readable("; ".join(unreadable[:_NAMED]) + ("; …" if len(unreadable) > _NAMED else ""))
    if len(unreadable) > _MOST_UNREADABLE * count:
        raise DataError(f"{name}: too many of {count:,} pictures cannot be read: {why}")
    return (f"{len(unreadable):,} of {count:,} pictures cannot be read and are left out: {why}",)
