"""JSON from a file, value by value: each is what it should be, or the file is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ..errors import FileFormatError

Value = TypeVar("Value")
Model = TypeVar("Model", bound=BaseModel)

MOST_LEVELS = 50
"""Of lists and objects in each other. Ours need a handful; far more would exhaust Python's stack when they are used."""


def parse(text: str) -> object:
    """Return what a JSON text holds, if it can be used without a second thought.

    Raises
    ------
    FileFormatError
        When it is not JSON, nested too deeply, or has halves of characters in it, which cannot be printed.

    Examples
    --------
    >>> parse('{"sizes": [4, 24]}')
    {'sizes': [4, 24]}
    """
    try:
        content: object = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise FileFormatError(f"it is not JSON, or cut short ({str(error)[:80]})") from None
    waiting = [(content, 1)]
    while waiting:
        value, level = waiting.pop()
        if isinstance(value, str) and not _is_whole(value):
            raise FileFormatError("a text in it has half of a character")
        if isinstance(value, dict | list):
            if level > MOST_LEVELS:
                raise FileFormatError(f"it is nested more than {MOST_LEVELS} levels deep")
            inside = value if isinstance(value, list) else [*value, *value.values()]
            waiting += [(entry, level + 1) for entry in inside if isinstance(entry, str | dict | list)]
    return content


def _is_whole(text: str) -> bool:
    """Whether a text has no surrogates, which JSON can write and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse_newer(content: Mapping[str, object], known: str) -> None:
    """Refuse a file of a kind that this version knows, in a newer schema than it knows.

    Parameters
    ----------
    content : mapping
        What the file says about itself: its ``schema`` and, if it does, the version of ``dovetail`` that wrote it.
    known : str
        The newest schema of this kind that can be read, such as ``"dovetail/1"``.

    Raises
    ------
    FileFormatError
        With what to install.

    Examples
    --------
    >>> refuse_newer({"schema": "example/2", "dovetail": "3.1.0"}, "example/1")
    Traceback (most recent call last):
    dovetail.errors.FileFormatError: its schema is 'example/2', and this version of dovetail reads up to ...
    """
    kind, _, number = known.rpartition("/")
    found = re.fullmatch(re.escape(kind) + r"/(\d{1,9})", str(content.get("schema")))
    if found and int(found[1]) > int(number):
        writer = content.get("dovetail")
        raise FileFormatError(
            f"its schema is {found[0]!r}, and this version of dovetail reads up to {known!r}; install "
            + (f"dovetail-nn {writer:.40} or later" if isinstance(writer, str) else "a newer one")
        )


def read_as(kind: type[Model], text: str) -> Model:
    """Return what a JSON text holds, of a kind that says which fields there are and what their values may be.

    Raises
    ------
    FileFormatError
        That names the first field which is not as it should be.

    Examples
    --------
    >>> class Network(BaseModel):
    ...     sizes: list[int]
    >>> read_as(Network, '{"sizes": [4, "24"]}')
    Traceback (most recent call last):
    dovetail.errors.FileFormatError: its sizes.1 is '24': input should be a valid integer
    """
    try:
        return kind.model_validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "content"
        said = first["msg"][:1].lower() + first["msg"][1:]
        raise FileFormatError(f"its {where} is {first['input']!r:.40}: {said}") from None


def take(content: Mapping[str, object], key: str, kind: type[Value], length: int | None = None) -> Value:
    """Return the value of a key, of a kind and, for a list, of a length.

    Examples
    --------
    >>> take({"sizes": [4, 24]}, "sizes", list, 2)
    [4, 24]
    """
    value = content.get(key)
    if not isinstance(value, kind):
        raise FileFormatError(f"its {key!r} should be a {kind.__name__}, but is {value!r:.40}")
    if length is not None and isinstance(value, list) and len(value) != length:
        raise FileFormatError(f"its {key!r} has {len(value)} entries in place of {length}")
    return value


def whole(value: object) -> int:
    """Return a value that is a whole number from 0.

    Examples
    --------
    >>> whole(3)
    3
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise FileFormatError(f"{value!r:.40} where a whole number should be")
    return value


def number(value: object) -> float:
    """Return a value that is a finite number.

    Examples
    --------
    >>> number(2)
    2.0
    """
    try:
        found = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise FileFormatError(f"{value!r:.40} where a number should be")
    return found


def nan_to_null(value: object) -> object:
    """Return a value with null for NaN and infinity, which JSON does not know.

    Examples
    --------
    >>> nan_to_null({"loss": [0.5, float("nan")]})
    {'loss': [0.5, None]}
    """
    if isinstance(value, dict):
        return {key: nan_to_null(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [nan_to_null(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
