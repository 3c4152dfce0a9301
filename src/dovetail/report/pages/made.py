"""The section on how things were made: settings, versions, seeds, hardware and times, as far as the files know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ...markup import Marks
from ..page import Page, folded
from ..table import LONG

if TYPE_CHECKING:
    import pandas as pd

_LONGEST, _LONGEST_LIST = 600, 80

_MOST_VALUES = 12

_WIDE = 60
"""Characters from which a value may break over lines."""


def add_made(
    page: Page, facts: Mapping[str, object], details: Mapping[str, pd.DataFrame] | None = None
) -> None:
    """Add what is known about how things were made.

    Parameters
    ----------
    page : Page
        What to add to.
    facts : mapping of str to object
        What, and what it was; what is None is left out.
    details : mapping of str to DataFrame, optional
        Tables by what they show.
    """
    import pandas as pd

    page.heading("How it was made")
    rows = [(name.replace("_", " "), value_text(value)) for name, value in facts.items() if value is not None]
    tables = {"": pd.DataFrame(rows, columns=["what", "value"]), **(details or {})}
    for caption, frame in tables.items():
        fold = caption if len(frame) > LONG else ""
        with folded(page, fold):
            page.table(frame, "" if fold else caption, digits=1, marks=_long_texts(frame))


def _long_texts(frame: pd.DataFrame) -> Marks:
    """Return marks for cells whose text may break over lines."""
    return {
        (row, column): "long"
        for row, values in enumerate(frame.itertuples(index=False, name=None))
        for column, value in enumerate(values)
        if isinstance(value, str) and len(value) > _WIDE
    }


def value_text(value: object, *, whole: bool = False) -> str:
    """Return a value from a file as a reader wants to see it, shortened if it is very long and not wanted whole.

    Examples
    --------
    >>> value_text([0.05, 0.1]), value_text(True), value_text("mlp:512"), value_text([[[0], [4]], [[1], [4]]])
    ('0.05, 0.1', 'yes', 'mlp:512', '[[0], [4]], [[1], [4]]')
    >>> value_text({"every": 10, "from": 0.5}), value_text(None)
    ('every 10, from 0.5', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        text = ", ".join(f"{name} {_nested(entry, whole)}" for name, entry in value.items()) or "none"
    elif isinstance(value, list | tuple):
        text = ", ".join(_nested(entry, whole) for entry in value) or "none"
    else:
        text = str(value)
    return text if whole else _cut(text, _LONGEST_LIST if isinstance(value, list | tuple) else _LONGEST)


def _nested(value: object, whole: bool) -> str:
    text = value_text(value, whole=whole)
    return f"[{text}]" if isinstance(value, list | tuple | dict) else text


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} …"


def distinct_text(values: Iterable[object]) -> str:
    """Return the different values of one setting, the first few of them.

    Examples
    --------
    >>> distinct_text([64, 64]), distinct_text(["me", "xe", "me"])
    ('64', 'me; xe')
    """
    # What differs only beyond where it is cut is shown twice all the same.
    different = {value_text(value, whole=True): value for value in values}
    texts = list(map(value_text, different.values()))
    more = f"; {len(texts) - _MOST_VALUES} more" if len(texts) > _MOST_VALUES else ""
    return "; ".join(texts[:_MOST_VALUES]) + more
