"""JSON out of text lines: one value in a line, or values one after the other, no more than memory holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ...errors import DataError
from .text_lines import TextLines

MOST_JSON = 2**27
"""Characters that are read at once, and take many times as much."""

_LOOKED_AT = 2**16
"""Characters in which the first item is looked for."""

_SPACE = re.compile(r"\s*")


def parsed(text: str, where: str) -> Any:
    """Return the value that a text holds.

    Raises
    ------
    DataError
        For what is no JSON, naming where it stands.

    Examples
    --------
    >>> parsed('{"width": 2.5}', "line 1")
    {'width': 2.5}
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # a ValueError for numbers of thousands of digits, too
        raise DataError(f"{where} is no JSON ({error})") from None


def values_in(text: str, name: str) -> Iterator[Any]:
    r"""Yield the values that a text holds, one in each line or over several.

    Raises
    ------
    DataError
        For what is no JSON, naming the line.

    Examples
    --------
    >>> list(values_in('{"width":\n 2.5}\n[3, 4] [5, 6]\n', "rows"))
    [{'width': 2.5}, [3, 4], [5, 6]]
    """
    decoder = json.JSONDecoder()
    place = _after_space(text, 0)
    while place < len(text):
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name} is no JSON ({error})") from None
        yield value
        place = _after_space(text, place)


def first_item(lines: TextLines) -> Any:
    r"""Return the first value, or the first in the list that begins the text; None where there is none that is short.

    Examples
    --------
    >>> import io
    >>> for text in ('{"width": 2}\n{"width": 3}\n', '[\n  {"width": 2},\n  {"width": 3}]', "width\n2\n"):
    ...     with TextLines(io.StringIO(text)) as lines:
    ...         print(first_item(lines))
    {'width': 2}
    {'width': 2}
    None
    """
    start = ""
    for line in lines:
        start += line[:_LOOKED_AT].lstrip()
        if len(start) >= _LOOKED_AT:
            break
    try:
        return json.JSONDecoder().raw_decode(start.removeprefix("[").lstrip())[0]
    except (ValueError, RecursionError):
        return None


def whole_text(lines: TextLines, instead: str) -> str:
    """Return all lines as one text; of one that is too long, the error says what to do instead."""
    return "".join(_up_to_most(lines, instead))


def _up_to_most(lines: TextLines, instead: str) -> Iterator[str]:
    length = 0
    for line in lines:
        length += len(line)
        if length > MOST_JSON:
            raise DataError(f"{lines.name} has more than {MOST_JSON:,} characters; {instead}")
        yield line


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place
