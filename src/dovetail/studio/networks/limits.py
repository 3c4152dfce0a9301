"""How much the view opens, groups and draws, so that every answer comes soon and no file fills the memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from ...errors import FileFormatError
from ...specialists.basis import Basis
from ...specialists.files import read_file_manifest
from ...specialists.networks import network_of
from .archive import unpacked_bytes

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


def check_part(path: Path) -> Basis:
    """Refuse a specialist or composite with too many weights, by what its file says; return what it is made for."""
    basis = read_file_manifest(path).basis
    check_shapes(path.name, [tensor.shape for tensor in network_of(basis, None).state_dict().values()])
    return basis


def dense_shapes(widths: Sequence[int]) -> list[tuple[int, int]]:
    """Return the shapes of the matrices between layers of these widths.

    Examples
    --------
    >>> dense_shapes([4, 24, 2])
    [(24, 4), (2, 24)]
    """
    return [(after, before) for before, after in pairwise(widths)]
