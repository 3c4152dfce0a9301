"""Limits on what the view opens, groups and draws, so that every answer comes soon and no file fills the memory."""

from __future__ import annotations

import math
import struct
import zipfile
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from ...errors import FileFormatError
from ...specialists.blueprint import Blueprint
from ...specialists.files import read_file_manifest

MOST_BYTES = 256 * 2**20
"""Of a file of weights."""

MOST_TEXT_BYTES = 8 * 2**20
"""Of a file with modules as JSON."""

MOST_WEIGHTS = 40_000_000
"""In a network once it is unpacked: sparse files can hold networks that are far larger than they are."""

MOST_UNITS, MOST_EDGES = 1_500, 20_000
"""In a drawing."""
MOST_GROUPED = 6_000
"""Units among which modules or clusters are looked for: a few seconds."""

MOST_NEIGHBOURS = 16
"""That are listed of a unit, the strongest first."""

_MOST_DIRECTORY_BYTES = 4 * 2**20
"""Of the list of entries at the end: some forty thousand tensors. Python takes a second for that many."""


def check_bytes(path: Path, most: int = MOST_BYTES) -> None:
    """Refuse a file that is too large, or that a small archive would unpack to."""
    size = path.stat().st_size
    if size <= most:
        size = max(size, unpacked_bytes(path) or 0)
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


def check_part(path: Path) -> Blueprint:
    """Refuse a specialist or composite with too many weights, by what its file says; return what it is made for."""
    blueprint = read_file_manifest(path).blueprint
    check_shapes(path.name, [tensor.shape for tensor in blueprint.network().state_dict().values()])
    return blueprint


def dense_shapes(widths: Sequence[int]) -> list[tuple[int, int]]:
    """Return the shapes of the matrices between layers of these widths.

    Examples
    --------
    >>> dense_shapes([4, 24, 2])
    [(24, 4), (2, 24)]
    """
    return [(after, before) for before, after in pairwise(widths)]


def unpacked_bytes(path: Path) -> int | None:
    """Return how many bytes an archive unpacks to; None for a file that is none.

    Raises
    ------
    FileFormatError
        When the archive is damaged, or has far more entries than a network has tensors.
    """
    if not zipfile.is_zipfile(path):
        return None
    try:
        with path.open("rb") as file:
            # What ZipFile itself asks first, and all that can be known before it goes through the whole list.
            end = zipfile._EndRecData(file)  # type: ignore[attr-defined]
        if end[zipfile._ECD_SIZE] > _MOST_DIRECTORY_BYTES:  # type: ignore[attr-defined]
            raise FileFormatError(f"{path.name!r} has more entries than a network has tensors")
        with zipfile.ZipFile(path) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        raise FileFormatError(f"{path.name!r} is damaged or cut short ({str(error)[:100]})") from error
