"""Results: what all of them can be turned into, under the same names everywhere."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from .io.fields import nan_to_null
from .markup import excerpt_html, notebook_html, text_html

if TYPE_CHECKING:
    import pandas as pd


class Result:
    """What came out of something: a table, plain values, JSON, and HTML in notebooks.

    A dataclass that is a result has all four from its fields; others say what their table and their values are.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Walk(Result):
    ...     steps: int
    ...     metres: float = math.nan
    >>> Walk(3).to_json()
    '{"steps": 3, "metres": null}'
    >>> Walk(3).to_frame()["steps"].tolist()
    [3]
    """

    def to_frame(self) -> pd.DataFrame:
        """Return it as a table, of one row."""
        import pandas as pd

        return pd.DataFrame([self.to_dict()])

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON: numbers, texts, lists; None for what is not a number."""
        own: Any = self
        return {field.name: plain(getattr(self, field.name)) for field in fields(own)}

    def to_json(self) -> str:
        """Return what `to_dict` gives as JSON text."""
        return json.dumps(nan_to_null(self.to_dict()), allow_nan=False)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return notebook_html(self._html_pieces())

    def _html_pieces(self) -> Iterable[str]:
        """Yield what a notebook shows, from the top."""
        yield text_html(repr(self).partition("\n")[0])
        yield excerpt_html(self.to_frame())


def plain(value: object) -> object:
    """Return a value as JSON can hold it: tensors and arrays as lists, NaN and infinity as None, all else as its text.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"loss": np.array([0.5, np.nan]), "classes": frozenset({"b", "a"}), "at": (1, 2)})
    {'loss': [0.5, None], 'classes': ['a', 'b'], 'at': [1, 2]}
    """
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, set | frozenset):
        return [plain(entry) for entry in sorted(value)]
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return nan_to_null(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
