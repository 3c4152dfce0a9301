"""DATA of the command line: a known name, a file or folder, or a function, each with options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import pandas as pd

from ..errors import DataError, DovetailError, SpecError
from ..importing import is_code, made_by
from .content import Content
from .dataset import Dataset
from .own.arrays import arrays_content
from .own.like import Like, preparation_of
from .own.path_options import is_option, is_there, path_and_options, read_options
from .own.read import TextsAs, read
from .own.tables import frame_content
from .own.texts import texts_content
from .registry import data_spec, load
from .sources import expand_user

_LOOKED_AT = 2000
"""Names in a folder among which the one is looked for that was meant."""


def open_data(text: str, *, like: Like | None = None, texts: TextsAs = "words") -> Dataset:
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
    texts : {"words", "raw"}
        As in `read`, where the text does not say it.

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
    if is_there(text):
        return read(text, like=like, texts=texts)
    path, options = path_and_options(text)
    has_options = "=" in options or is_option(options)
    if path and not path.endswith(".py") and (expand_user(path).is_file() or has_options):
        return read(path, like=like, **{"texts": texts} | read_options(path, options))
    if is_code(text):
        return _made(text, like, texts)
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


def _made(text: str, like: Like | None, texts: TextsAs) -> Dataset:
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
    return Dataset.from_content(
        name, _pair_content(*found, like=like, raw_texts=texts == "raw", name=name), {"function": text}
    )


def _pair_content(x: Any, y: Any, *, like: Like | None, raw_texts: bool, name: str) -> Content:
    """Return samples and labels, by what the samples are."""
    if isinstance(x, pd.DataFrame):
        target = "class"
        while target in x:
            target += "_"
        frame = x.assign(**{target: list(y)})
        return frame_content(frame, target, like=like, raw_texts=raw_texts, name=name)
    if isinstance(x, Sequence) and len(x) and isinstance(x[0], str):
        return texts_content(x, y, like=like, raw=raw_texts, name=name)
    return arrays_content(x, y, like=like, name=name)


def _nowhere(text: str) -> DovetailError:
    """Return the error for a text that names nothing."""
    if text == "-":
        return DataError(
            "standard input is read only by dovetail predict; write what comes from it into a file, whose name tells "
            "what it is (rows.csv, texts.jsonl), and name that"
        )
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
        # A link that leads nowhere has the name that was asked for.
        beside = [one.name for one in islice(path.parent.iterdir(), _LOOKED_AT) if one.name != path.name]
    except (OSError, ValueError):
        beside = []
    near = difflib.get_close_matches(path.name[:200], beside, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(str(path.with_name(one))) for one in near)}?" if near else "."
