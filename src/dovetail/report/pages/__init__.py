"""Pages of reports: one file for each kind of thing that a report is about, with its sections."""

from __future__ import annotations

from .audit import audit_page
from .audits import audits_page
from .parts import parts_page
from .run import run_page
from .sculpture import sculpture_page

__all__ = ["audit_page", "audits_page", "parts_page", "run_page", "sculpture_page"]
