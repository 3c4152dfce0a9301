"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# Examples are small; on a busy machine a single slow one says nothing.
settings.register_profile("dovetail", deadline=None)
settings.load_profile("dovetail")
