"""Options after a path, as the command line has them: ``wine.csv:target=quality``, and the same said in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...errors import SpecError, unknown_name
from ..sources import expand_user

_MOST_CHARACTERS = 4096
"""Of a path that there can be."""


def is_there(text: str) -> bool:
    """Return whether a text names a file or a folder."""
    try:
        return bool(text.strip()) and expand_user(text).exists()
    except (OSError, ValueError):  # no name that a file can have
        return False


def path_and_options(text: str) -> tuple[str, str]:
    """Return a path that exists, and what follows it after a colon; names of files may have colons themselves."""
    for place in reversed([mark.start() for mark in re.finditer(":", text)]):
        if is_there(text[:place]):
            return text[:place], text[place + 1 :]
    return "", ""


def is_option(name: str) -> bool:
    """Return whether a path may have an option that is called so."""
    return name in _OPTIONS


def read_options(path: str, text: str) -> dict[str, Any]:
    """Return what follows a path as options of `read`."""
    options: dict[str, Any] = {}
    for item in text.split(",") if text.strip() else ():
        option, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not value:
            column = "quality" if equals or options else item
            raise SpecError(
                f"{item!r:.80} after {path} is no option, written name=value, such as target={column:.80}; columns "
                "with a comma in their name can be given in Python, to dovetail.read"
            )
        if option not in _OPTIONS:
            raise unknown_name(f"option of {path}", option, _OPTIONS)
        if option in options:
            raise SpecError(f"option {option!r} of {path} is given twice")
        options[option] = _OPTIONS[option](value)
    return options


def in_python(text: str) -> str | None:
    """Return the call of `read` for a path that is there, with options after a colon or without; None for others.

    Examples
    --------
    >>> in_python("digits"), in_python("nowhere.csv:target=quality")
    (None, None)
    """
    if len(text) > _MOST_CHARACTERS:
        return None
    path, options = (text, "") if is_there(text) else path_and_options(text)
    if not path:
        return None
    try:
        given = "".join(f", {name}={value!r}" for name, value in read_options(path, options).items())
    except SpecError:  # such as "wine.csv:target="
        given = ""
    usual = ", target=..." if expand_user(path).is_file() else ""
    return f"dovetail.read({path!r:.200}{given or usual})"


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
    "texts": str,
    "seed": _seed,
    "name": str,
}
