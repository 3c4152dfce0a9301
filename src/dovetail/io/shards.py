"""Shards: weights in several files, and the index that says which tensor lies in which."""

from __future__ import annotations

from pathlib import Path

from ..errors import FileFormatError
from .fields import parse, take
from .plain import read_text

INDEX = ".index.json"
"""How the names of indices end: ``model.safetensors.index.json``, ``pytorch_model.bin.index.json``."""

_MOST_BYTES = 2**26


def shards_of(index: Path) -> list[Path]:
    """Return the files that an index names; they lie in its own folder.

    Raises
    ------
    FileFormatError
        For what is no index, and for names that lead out of its folder.
    """
    if index.stat().st_size > _MOST_BYTES:
        raise FileFormatError(f"{str(index)!r} is too large for an index of weights")
    try:
        content = parse(read_text(index, _MOST_BYTES))
        if not isinstance(content, dict):
            raise FileFormatError("it is not a JSON object")
        places = take(content, "weight_map", dict)
    except (FileFormatError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{str(index)!r} is no index of weights: {error}") from None
    names = sorted({name for name in places.values() if isinstance(name, str)})
    for name in names:
        if Path(name).name != name or name in {"", ".", ".."} or name.endswith(INDEX):
            raise FileFormatError(f"{str(index)!r} names {name!r:.100}, which is no file beside it")
    if not names:
        raise FileFormatError(f"{str(index)!r} names no files of weights")
    return [index.parent / name for name in names]
