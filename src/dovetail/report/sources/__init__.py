"""What a report can be made of: each file here recognises one kind of path and reads all that is in it."""

from __future__ import annotations

from .audit import AuditSource
from .open import Source, folders_inside, open_source
from .parts import PartFile, PartsSource
from .run import RunSource
from .sculpture import SculptureSource

__all__ = [
    "AuditSource",
    "PartFile",
    "PartsSource",
    "RunSource",
    "SculptureSource",
    "Source",
    "folders_inside",
    "open_source",
]
