"""Audits over HTTP: what can be asked, start one, look at those that were saved, and at several side by side."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from ...cluster.audit_folder import FILE
from ...errors import DovetailError, FileFormatError
from ..folder import FoundFile, inside
from ..jobs import JobState
from ..networks.files import NetworkList
from ..studio import Studio, StudioOf
from .settings import ENDINGS, AuditSettings, settings_of_form
from .shown import audit_shown, audits_shown

router = APIRouter(prefix="/api/audit", tags=["audit"])

_MOST_BYTES = 64 * 2**20
"""The largest ``audit.json`` that is opened; a label for each of a million units is far less."""


_MOST_BESIDE = 12
"""Audits that are looked at side by side."""

SavedName = Annotated[str, Query(max_length=1_100)]


class SavedFolder(BaseModel):
    """A folder with an audit, and when it was written, in seconds since 1970."""

    folder: str
    modified: float


class Offer(BaseModel):
    """What there is to audit, what can be set, and what is saved; ``complete`` is false where there is more."""

    files: list[FoundFile]
    saved: list[SavedFolder]
    complete: bool
    settings: dict[str, Any]


@router.get("")
def offer(studio: StudioOf) -> Offer:
    """Return the files that can be opened, the settings, and the audits that are saved."""
    found = studio.folder.find(ENDINGS)
    saved = studio.folder.find((FILE,))
    broken = {file.name for file in studio.shared(NetworkList).files().files if file.problem}
    good = [file for file in found.files if file.name not in broken]
    folders = [
        SavedFolder(folder=PurePosixPath(file.name).parent.as_posix(), modified=file.modified)
        for file in saved.files
        if PurePosixPath(file.name).name == FILE
    ]
    return Offer(
        files=good,
        saved=sorted(folders, key=lambda one: -one.modified),
        complete=found.complete and saved.complete,
        settings=settings_of_form(),
    )


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
    return audit_shown(_content(studio, folder))


@router.get("/compare")
def compare(
    of: Annotated[list[SavedName], Query(min_length=1, max_length=_MOST_BESIDE)], studio: StudioOf
) -> dict[str, Any]:
    """Return several audits side by side: ``saved:FOLDER``, or ``job:ID`` of one that has ended in this session."""
    return audits_shown([_named(studio, name) for name in of])


def _named(studio: Studio, name: str) -> tuple[str, object]:
    """Return what to call an audit, and what its file has or would have."""
    kind, _, rest = name.partition(":")
    if kind == "saved":
        return rest, _content(studio, rest)
    if kind != "job":
        raise DovetailError(f"{name!r:.100} names no audit; write saved:FOLDER or job:ID")
    job = studio.jobs.get(rest)
    if job.kind != "audit" or job.state != "done":
        raise DovetailError(f"{job.title!r} is no audit that has ended; wait for it, or leave it out")
    return job.title, job.result["audit"]


def _content(studio: Studio, folder: str) -> object:
    path = studio.folder.existing(inside(folder, FILE), _MOST_BYTES)
    try:
        return json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{folder!r:.100} holds no audit: its {FILE} is not JSON; audit again"
        ) from error
