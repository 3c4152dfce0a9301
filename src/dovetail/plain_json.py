"""Values as JSON knows them."""

from __future__ import annotations

import math


def plain_json(value: object) -> object:
    """Return a value with null for NaN and infinity, which JSON does not know.

    Examples
    --------
    >>> plain_json({"loss": [0.5, float("nan")]})
    {'loss': [0.5, None]}
    """
    if isinstance(value, dict):
        return {key: plain_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
