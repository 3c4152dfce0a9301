"""What turns raw samples into the numbers a network sees, kept with the data and in every file made from it.

One file each for `Numbers` (arrays), `Table`, `Words` (what texts hold), `Texts` (as they are), `Pictures` and
`Features` (of a trunk), and what they share in `base`; `column` and `values` are what a `Table` is made of.
`read_preparation` takes one from a file.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from ...errors import FileFormatError
from .base import Preparation
from .features import Features
from .numbers import Numbers, Scale
from .pictures import Pictures
from .table import Table
from .texts import Texts
from .words import Words

__all__ = [
    "Features",
    "Numbers",
    "Pictures",
    "Preparation",
    "Scale",
    "Table",
    "Texts",
    "Words",
    "read_preparation",
]

_KINDS: dict[str, type[Preparation]] = {
    "features": Features,
    "numbers": Numbers,
    "pictures": Pictures,
    "table": Table,
    "texts": Texts,
    "words": Words,
}


def read_preparation(content: Any) -> Preparation:
    """Return the preparation that a file describes.

    Raises
    ------
    FileFormatError
        When it is none, naming the field.

    Examples
    --------
    >>> read_preparation({"kind": "numbers", "raw_shape": [2]}).input_shape
    (2,)
    """
    kind = content.get("kind") if isinstance(content, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise FileFormatError(
            f"its inputs are prepared by {kind!r:.40}, which is none of {', '.join(_KINDS)}"
        )
    try:
        return TypeAdapter(_KINDS[kind]).validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "content"
        raise FileFormatError(f"its preparation of inputs is not right: {where}: {first['msg']}") from None
