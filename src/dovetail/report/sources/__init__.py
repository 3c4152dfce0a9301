"""What a report can be made of: each file here recognises one kind of path and reads all that is in it."""

from __future__ import annotations

from ...cluster.saved_audit import SavedAudit
from .files import PartFile, PartsSource, SculptureSource
from .open import Source, folders_inside, open_source
from .run import RunSource

__all__ = [
    "PartFile",
    "PartsSource",
    "RunSource",
    "SavedAudit",
    "SculptureSource",
    "Source",
    "folders_inside",
    "open_source",
]
