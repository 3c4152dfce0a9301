"""Values that nobody expects, and changes of good values into ones that are nearly good."""

from __future__ import annotations

import copy
import json
import sys
from typing import Any

from hypothesis import strategies as st

LONG = "x" * 10_000
VERY_LONG = "y" * 10_000_000
DEEP_TEXT = "[" * 10_000 + "]" * 10_000
_DEEP_MARK = "<very deep>"


def nested(levels: int) -> list[Any]:
    """Return a list in a list in a list."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


NUMBERS = [0, 1, -1, 2, 3, 7, 2**15, 2**24, 2**30, 2**31 - 1, 2**31, 2**40, 2**63, -(2**63), 10**400, 0.0, -0.0, 0.5,
           1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf")]  # fmt: skip
TEXTS = [
    "",
    " ",
    "x",
    "0",
    "ä",
    "🦜",
    "\ud800",
    "\udcff",
    "\x00",
    "\x1b[2J",
    "\n",
    "..",
    "/",
    "mlp:2",
    "me",
    LONG,
]

numbers = st.sampled_from(NUMBERS) | st.integers(-3, 300) | st.floats()
texts = st.sampled_from(TEXTS) | st.text(max_size=12)
values: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([None, True, False, [], {}, [None], {"": {}}]).map(
        copy.deepcopy
    ),  # what is drawn may be changed
    numbers,
    texts,
    st.lists(numbers | texts, max_size=4),
    st.dictionaries(st.text(max_size=3), numbers, max_size=3),
    st.sampled_from([40, 200, 900, 960, 980, 990, 1500]).map(nested),
    st.just(_DEEP_MARK),
)
"""Anything that JSON can say, and NaN."""


@st.composite
def altered(draw: st.DrawFn, tree: Any) -> Any:
    """Return a JSON value with up to three places changed: replaced, left out, doubled, moved by one, or added."""
    tree = copy.deepcopy(tree)
    for _ in range(draw(st.integers(1, 3))):
        container, key = _place(draw, tree)
        if container is None:
            continue
        _change(draw, container, key)
    return tree


def _place(draw: st.DrawFn, tree: Any) -> tuple[Any, Any]:
    """Return a container in a tree and a key of it, by going down from the root."""
    container, key = None, None
    inside = tree
    while isinstance(inside, dict | list) and inside:
        keys = sorted(inside) if isinstance(inside, dict) else range(len(inside))
        container, key = inside, draw(st.sampled_from(list(keys)))
        inside = inside[key]
        if draw(st.integers(0, 3)) == 0:
            break
    return container, key


def _change(draw: st.DrawFn, container: Any, key: Any) -> None:
    how = draw(st.sampled_from(["replace", "replace", "nudge", "delete", "double", "add"]))
    inside = container[key]
    if how == "nudge" and isinstance(inside, int | float) and not isinstance(inside, bool):
        container[key] = inside + draw(st.sampled_from([-1, 1, 0.5]))
    elif how == "delete":
        del container[key]
    elif how == "double" and isinstance(container, list):
        container.insert(key, inside)  # no copy: it may be too deep for one
    elif how == "add" and isinstance(container, dict):
        container[draw(texts)] = draw(values)
    else:
        container[key] = draw(values)


def written(value: Any) -> str:
    """Return JSON text, also of what is nested deeper than Python's own writer goes."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 3000)
    try:
        text = json.dumps(value)
    finally:
        sys.setrecursionlimit(limit)
    return text.replace(f'"{_DEEP_MARK}"', DEEP_TEXT)


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Return bytes with up to four changes: bits flipped, bytes put in, left out or doubled, or the end cut off."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        if not changed:
            break
        place = draw(st.integers(0, len(changed) - 1))
        how = draw(st.sampled_from(["flip", "flip", "put", "remove", "double", "cut"]))
        length = draw(st.sampled_from([1, 1, 2, 8, 100]))
        if how == "flip":
            changed[place] ^= draw(st.integers(1, 255))
        elif how == "put":
            changed[place:place] = draw(st.binary(min_size=1, max_size=12))
        elif how == "remove":
            del changed[place : place + length]
        elif how == "double":
            changed[place:place] = changed[place : place + length]
        else:
            del changed[place:]
    return bytes(changed)
