"""Which sections a report has: one file for each kind of thing that it is about."""

from __future__ import annotations

from .audit_page import audit_page
from .parts_page import parts_page
from .run_page import run_page
from .sculpture_page import sculpture_page

__all__ = ["audit_page", "parts_page", "run_page", "sculpture_page"]
