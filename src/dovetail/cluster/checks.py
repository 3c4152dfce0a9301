"""Refuse numbers that make no sense, naming the value."""

from __future__ import annotations

import numpy as np

from ..errors import SpecError


def whole_number(name: str, value: int, least: int) -> int:
    """Return a whole number of at least ``least``, numpy's too; refuse anything else.

    Examples
    --------
    >>> whole_number("k", np.int64(4), least=2)
    4
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SpecError(f"{name} must be a whole number of at least {least}, not {value!r:.80}")
    return int(value)
