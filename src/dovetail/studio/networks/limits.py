"""How much the view opens, groups and draws, so that every answer comes soon and no file fills the memory."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from ...errors import FileFormatError

MOST_BYTES = 256 * 2**20
"""Of a file of weights."""
MOST_TEXT_BYTES = 8 * 2**20
"""Of a file with modules as JSON."""
MOST_WEIGHTS = 40_000_000
"""In a network once it is unpacked: sparse files can hold networks that are far larger than they are."""
MOST_UNITS, MOST_EDGES = 1_500, 20_000
"""In a drawing."""
MOST_NEIGHBOURS = 16
"""That are listed of a unit, the strongest first."""


def check_bytes(path: Path, most: int = MOST_BYTES) -> None:
    """Refuse a file that is too large, or that a small archive would unpack to."""
    size = path.stat().st_size
    if size <= most and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    if size > most:
        raise FileFormatError(
            f"{path.name!r} holds {size / 2**20:,.0f} MiB; the studio opens up to {most // 2**20}"
        )


def check_shapes(name: str, shapes: Iterable[Sequence[int]]) -> None:
    """Refuse a network with too many weights, before any of them is unpacked.

    Examples
    --------
    >>> check_shapes("a.safetensors", [(512, 784), (10, 512)])
    """
    weights = sum(map(math.prod, shapes))
    if weights > MOST_WEIGHTS:
        raise FileFormatError(
            f"{name!r} has {weights:,} weights; the studio opens networks with up to {MOST_WEIGHTS:,}"
        )


def dense_shapes(widths: Sequence[int]) -> list[tuple[int, int]]:
    """Return the shapes of the matrices between layers of these widths.

    Examples
    --------
    >>> dense_shapes([4, 24, 2])
    [(24, 4), (2, 24)]
    """
    return [(after, before) for before, after in pairwise(widths)]
