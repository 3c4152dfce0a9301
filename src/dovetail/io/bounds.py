"""Bounds on what a file may claim: nothing is allocated before its content bears its sizes out.

A short file can claim any size: a sparse tensor without an entry, one number repeated a billion times, a list of units
that nothing connects. What it claims may be many times what it holds, as in a sparse network, and no more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import FileFormatError

FREE = 2**25
"""Entries that a file may claim whatever it holds: 128 MiB of 32-bit numbers."""
TIMES = 2000
"""How many times as many it may claim as it holds; a network pruned to a thousandth claims half of it."""
MOST_LAYERS = 2000
"""The deepest network that is looked into: work on layers one by one, and on all pairs, has an end."""
_MOST_IN_A_TENSOR = 2**40


def check_shape(name: str, shape: Sequence[int]) -> None:
    """Refuse a shape that no tensor can be worked with in, if only because another of its sizes is 0.

    Examples
    --------
    >>> check_shape("fc.weight", [0, 2**60])
    Traceback (most recent call last):
    dovetail.errors.FileFormatError: 'fc.weight' claims the shape [0, 1152921504606846976]; no tensor is of that size
    """
    if math.prod(max(1, size) for size in shape) > _MOST_IN_A_TENSOR:
        raise FileFormatError(
            f"{name!r:.100} claims the shape {list(shape)!r:.100}; no tensor is of that size"
        )


def check_borne_out(what: str, claimed: int, held: int) -> None:
    """Refuse a claim of far more entries than there are.

    Parameters
    ----------
    what : str
        What claims them.
    claimed, held : int
        How many entries it would have once they are all written out, and how many are in the file.

    Examples
    --------
    >>> check_borne_out("its network", 400_000_000, 10)
    Traceback (most recent call last):
    dovetail.errors.FileFormatError: its network claims 400,000,000 entries, and the file holds 10 of them: ...
    """
    if claimed > FREE + TIMES * held:
        raise FileFormatError(
            f"{what} claims {claimed:,} entries, and the file holds {held:,} of them: it is damaged, or was "
            "made to fill memory"
        )


def check_layers(count: int) -> None:
    """Refuse more layers than any network has that can be looked into.

    Examples
    --------
    >>> check_layers(100_000)
    Traceback (most recent call last):
    dovetail.errors.FileFormatError: 100,000 layers, and networks of at most 2,000 are looked into
    """
    if count > MOST_LAYERS:
        raise FileFormatError(f"{count:,} layers, and networks of at most {MOST_LAYERS:,} are looked into")
