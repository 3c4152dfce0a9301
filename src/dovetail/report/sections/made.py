"""How it was made: settings, versions, seeds, hardware and times, as far as the files know."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..page import Page
from ..table import Marks

if TYPE_CHECKING:
    import pandas as pd

_LONGEST = 600
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
        page.table(frame, caption, digits=1, marks=_long_texts(frame))


def _long_texts(frame: pd.DataFrame) -> Marks:
    """Return marks for cells whose text may break over lines."""
    return {
        (row, column): "long"
        for row, values in enumerate(frame.itertuples(index=False, name=None))
        for column, value in enumerate(values)
        if isinstance(value, str) and len(value) > _WIDE
    }


def value_text(value: object) -> str:
    """Return a value from a file as a reader wants to see it, shortened if it is very long.

    Examples
    --------
    >>> value_text([0.05, 0.1]), value_text(True), value_text("mlp:512")
    ('0.05, 0.1', 'yes', 'mlp:512')
    """
    if isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, str):
        text = value
    elif isinstance(value, list | tuple) and not any(
        isinstance(entry, list | tuple | dict) for entry in value
    ):
        text = ", ".join(value_text(entry) for entry in value)
    elif isinstance(value, float):
        text = f"{value:g}"
    else:
        text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
