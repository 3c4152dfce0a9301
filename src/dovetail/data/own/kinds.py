"""Kinds of files and folders that data is read from, told by the ending of their name."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Literal

from ...errors import DataError

Kind = Literal["table", "texts", "arrays", "picture", "archive", "folder"]

_BY_ENDING: dict[str, Kind] = {
    **dict.fromkeys((".csv", ".tsv", ".parquet"), "table"),
    **dict.fromkeys((".jsonl", ".json", ".txt"), "texts"),
    **dict.fromkeys((".npz", ".npy"), "arrays"),
    **dict.fromkeys((".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm"), "picture"),
    **dict.fromkeys((".tif", ".tiff", ".webp"), "picture"),
    ".zip": "archive",
}

PICTURES = tuple(ending for ending, kind in _BY_ENDING.items() if kind == "picture")
"""Endings of files that are taken for pictures, in small letters."""

_INSTEAD = {
    **dict.fromkeys((".xls", ".xlsx", ".ods"), "save the sheet as .csv"),
    **dict.fromkeys(
        (".pkl", ".pickle", ".joblib", ".pt", ".pth"),
        "files with Python objects are never opened, because they can run code; save arrays with numpy.savez, or hand "
        "what is in it to Dataset.from_arrays, from_frame or from_torch",
    ),
    ".py": "of code, name the function in it that returns samples and labels: module:function",
    **dict.fromkeys((".7z", ".bz2", ".gz", ".rar", ".tar", ".tgz", ".xz", ".zst"), "unpack it first"),
}


def kind_by_ending(name: str) -> Kind | None:
    """Return what a file is by its name alone; None for what is not read.

    Examples
    --------
    >>> kind_by_ending("wine.CSV"), kind_by_ending("wine.xlsx")
    ('table', None)
    """
    return _BY_ENDING.get(Path(name).suffix.lower())


def kind_of(path: Path) -> Kind:
    """Return what is at a path: a folder, or a file of a kind that is read.

    Raises
    ------
    DataError
        When nothing is there, or something that is not read: the way out is in the message.
    """
    if path == Path():  # also an empty text, most likely of a variable that was never set
        raise DataError("no file or folder was named; of the current folder, name what is in it")
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # a ValueError for bytes of 0 in a path
        absent = isinstance(error, FileNotFoundError)
        why = "there is no" if absent else f"cannot look at the ({getattr(error, 'strerror', None) or error})"
        raise DataError(f"{why} file or folder {path}; check the path") from None
    if stat.S_ISDIR(mode):
        return "folder"
    if not stat.S_ISREG(mode):
        raise DataError(
            f"{path} is no regular file but a pipe, a socket or a device; write what comes from it into a file first"
        )
    kind = kind_by_ending(path.name)
    if kind is None:
        ending = path.suffix.lower()
        instead = _INSTEAD.get(ending, f"files are told by their ending: {', '.join(_BY_ENDING)}")
        raise DataError(f"{path} is of a kind that is not read ({ending or 'no ending'}): {instead}")
    return kind
