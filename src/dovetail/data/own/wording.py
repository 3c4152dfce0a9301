"""Wording: names of files, columns and classes as messages and files can have them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_HALVES = re.compile("[\ud800-\udfff]")
"""Halves of characters, as Python has bytes in the names of files that are no UTF-8."""

_MOST_CHARACTERS = 80


def readable(value: object) -> str:
    r"""Return a label, or the name of a file, as a text that any file can hold: bytes that are no UTF-8 become ``�``.

    Examples
    --------
    >>> readable("caf\udce9"), readable(b"caf\xe9"), readable(7)
    ('caf�', 'caf�', '7')
    """
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return _HALVES.sub("�", str(value))


def listed(names: Iterable[object], most: int = 5) -> str:
    """Return the first of some names, for a message.

    Examples
    --------
    >>> listed(["cat", "dog", "emu"], most=2), listed([])
    ("'cat', 'dog', …", 'nothing')
    """
    names = list(names)
    shown = ", ".join(f"{readable(name)!r:.{_MOST_CHARACTERS}}" for name in names[:most])
    return f"{shown}, …" if len(names) > most else shown or "nothing"
