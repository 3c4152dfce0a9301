"""Audits over HTTP: what can be asked, start one, look at one that was saved."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from ...cluster.audit_folder import FILE
from ...errors import FileFormatError
from ..folder import FoundFile, inside
from ..jobs import JobState
from ..networks.files import NetworkList
from ..studio import StudioOf
from .settings import ENDINGS, AuditSettings, settings_of_form
from .shown import audit_shown

router = APIRouter(prefix="/api/audit", tags=["audit"])

_MOST_BYTES = 64 * 2**20
"""The largest ``audit.json`` that is opened; a label for each of a million units is far less."""


class Offer(BaseModel):
    """What there is to audit, and what can be set; ``complete`` is false where there are more files."""

    files: list[FoundFile]
    complete: bool
    settings: dict[str, Any]


@router.get("")
def offer(studio: StudioOf) -> Offer:
    """Return the files that can be opened, and the settings."""
    found = studio.folder.find(ENDINGS)
    broken = {file.name for file in studio.shared(NetworkList).files().files if file.problem}
    good = [file for file in found.files if file.name not in broken]
    return Offer(files=good, complete=found.complete, settings=settings_of_form())


@router.post("")
def start(asked: AuditSettings, studio: StudioOf) -> JobState:
    """Start an audit beside the server."""
    path, output = asked.check_files(studio.folder)
    settings = {
        "asked": asked.model_dump(), "path": str(path), "output": None if output is None else str(output),
    }  # fmt: skip
    return studio.jobs.start("audit", f"Audit of {asked.file}", settings)


@router.get("/saved")
def saved(folder: str, studio: StudioOf) -> dict[str, Any]:
    """Return what to show of an audit that was saved into a folder."""
    path = studio.folder.existing(inside(folder, FILE), _MOST_BYTES)
    try:
        content = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{folder!r:.100} holds no audit: its {FILE} is not JSON; audit again"
        ) from error
    return audit_shown(content)
