"""The error for what is not there: the studio answers it with status 404."""

from __future__ import annotations

from ..errors import DovetailError


class MissingError(DovetailError):
    """Something asked for by name that does not exist, or no longer does."""
