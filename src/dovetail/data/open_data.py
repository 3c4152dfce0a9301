"""DATA of the command line: a known name, a file or folder, or a function, each with options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import pandas as pd

from ..errors import DataError, DovetailError, SpecError, unknown_name
from ..importing import is_code, made_by
from .content import Content
from .dataset import Dataset
from .own.arrays import arrays_content
from .own.like import Like, preparation_of
from .own.read import read
from .own.tables import frame_content
from .own.texts import texts_content
from .registry import data_spec, load
from .sources import expand_user

_LOOKED_AT = 2000
"""Names in a folder among which the one is looked for that was meant."""


def open_data(text: str, *, like: Like | None = None) -> Dataset:
    """Return the data set that a text names.

    Parameters
    ----------
    text : str
        A name that `load` knows (``"har:features=time"``); a file or folder that `read` takes, with its options after
        a colon (``"wine.csv:target=quality,split=fold"``, ``"photos:size=32,seed=1"``, ``"wine.csv:split=8/1/1"``); or
        a function ``"package.module:function"``, found from the current folder too, that returns a Dataset or a pair of
        samples and labels. A known name comes before a file that is called the same: that is ``"./digits"``.
    like : Dataset, Specialist or Composite, optional
        As in `read`, for samples that are not prepared yet.

    Raises
    ------
    SpecError
        For a name that is not known, with the nearest ones, and for options that do not exist.
    DataError
        For what `read` refuses.

    Examples
    --------
    >>> open_data("digits")
    Dataset('digits', 1149/288/360, input_shape=(1, 8, 8), outputs=10)
    """
    if is_known(text):
        return load(text)
    if _is_there(text):
        return read(text, like=like)
    path, options = path_and_options(text)
    is_option = "=" in options or options in _OPTIONS
    if path and not path.endswith(".py") and (expand_user(path).is_file() or is_option):
        return read(path, like=like, **read_options(path, options))
    if is_code(text):
        return _made(text, like)
    raise _nowhere(text)


def is_known(text: str) -> bool:
    """Return whether a text names a data set that is loaded by name.

    Examples
    --------
    >>> is_known("har:features=time"), is_known("wine.csv")
    (True, False)
    """
    try:
        data_spec(re.split("[:,]", text, maxsplit=1)[0])
    except SpecError:
        return False
    return True


def _is_there(text: str) -> bool:
    try:
        return bool(text.strip()) and expand_user(text).exists()
    except (OSError, ValueError):  # no name that a file can have
        return False


def path_and_options(text: str) -> tuple[str, str]:
    """Return a path that exists, and what follows it after a colon; names of files may have colons themselves."""
    for place in reversed([mark.start() for mark in re.finditer(":", text)]):
        if _is_there(text[:place]):
            return text[:place], text[place + 1 :]
    return "", ""


def read_options(path: str, text: str) -> dict[str, Any]:
    """Return what follows a path as options of `read`."""
    options: dict[str, Any] = {}
    for item in text.split(",") if text.strip() else ():
        option, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not value:
            raise SpecError(
                f"{item!r:.80} after {path} is no option, written name=value, such as target=quality; columns with a "
                "comma in their name can be given in Python, to dovetail.read"
            )
        if option not in _OPTIONS:
            raise unknown_name(f"option of {path}", option, _OPTIONS)
        if option in options:
            raise SpecError(f"option {option!r} of {path} is given twice")
        options[option] = _OPTIONS[option](value)
    return options


def _split(text: str) -> str | tuple[float, ...]:
    """Return shares, or else the name of a column."""
    shares = text.split("/")
    try:
        return tuple(map(float, shares)) if len(shares) == 3 else text
    except ValueError:
        return text


def _size(text: str) -> int | tuple[int, int]:
    sides = re.fullmatch(r"([0-9]{1,9})(?:[x×]([0-9]{1,9}))?", text)
    if sides is None:
        raise SpecError(f"size is a number of pixels, or height x width, such as 24x32; got {text!r:.40}")
    return (int(sides[1]), int(sides[2])) if sides[2] else int(sides[1])


def _seed(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise SpecError(f"seed is a whole number, 0 or more; got {text!r:.40}")
    return int(text)


_OPTIONS: dict[str, Callable[[str], Any]] = {
    "target": str,
    "split": _split,
    "size": _size,
    "seed": _seed,
    "name": str,
}


def _made(text: str, like: Like | None) -> Dataset:
    """Return what a function makes."""
    found = made_by(text, "function", ready=Dataset)
    if isinstance(found, Dataset):
        return found
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise DataError(
            f"{text} gives a {type(found).__name__}; a dovetail.Dataset is needed, or a pair of samples and labels"
        )
    if like is not None:
        preparation_of(like)
    name = text.rpartition(":")[2]
    return Dataset.from_content(name, _pair_content(*found, like=like, name=name), {"function": text})


def _pair_content(x: Any, y: Any, *, like: Like | None, name: str) -> Content:
    """Return samples and labels, by what the samples are."""
    if isinstance(x, pd.DataFrame):
        target = "class"
        while target in x:
            target += "_"
        return frame_content(x.assign(**{target: list(y)}), target, like=like, name=name)
    if isinstance(x, Sequence) and len(x) and isinstance(x[0], str):
        return texts_content(x, y, like=like, name=name)
    return arrays_content(x, y, like=like, name=name)


def _nowhere(text: str) -> DovetailError:
    """Return the error for a text that names nothing."""
    name = text if "=" not in text else text.partition(":")[0]
    try:
        data_spec(name)
        return DataError(f"there is no data set {name!r:.200}")
    except SpecError as error:
        unknown = str(error)
    if not re.search(r"[/\\]|^[.~]|\.\w+$", name):
        return SpecError(
            f"{unknown}; and there is no file or folder {name!r:.200}{_meant(name)}".removesuffix(".")
        )
    known = unknown.partition(" Known: ")[2]
    return DataError(f"there is no file or folder {name!r:.200}{_meant(name)} Known data sets: {known}")


def _meant(name: str) -> str:
    """Return a question for the files beside one that is not there."""
    path = expand_user(name)
    try:
        beside = [one.name for one in islice(path.parent.iterdir(), _LOOKED_AT)]
    except (OSError, ValueError):
        beside = []
    near = difflib.get_close_matches(path.name[:200], beside, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(str(path.with_name(one))) for one in near)}?" if near else "."
