"""The files in the studio's folder that may hold a network, and what is wrong with those that cannot be opened."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Literal

from pydantic import BaseModel
from torch.serialization import get_unsafe_globals_in_checkpoint

from ...errors import DovetailError, FileFormatError
from ...file_header import read_header
from ...sculpting.files import SCHEMA as STATUE
from ...sculpting.modules.hierarchy_json import SCHEMA as MODULES
from ...specialists.manifest import SCHEMA as PART
from ..folder import StudioFolder
from .limits import MOST_TEXT_BYTES, check_bytes

_TORCH = (".pt", ".pth", ".ckpt", ".bin")
_MOST = 500
_PICKLE, _START_BYTES = b"\x80", 64


class NetworkFile(BaseModel):
    """A file, what it seems to hold, and why it cannot be opened where it cannot."""

    name: str
    bytes: int
    kind: Literal["sculpture", "specialist or composite", "modules", "checkpoint"]
    problem: str | None = None


class NetworkFiles(BaseModel):
    """The files that were found; ``complete`` is false where there are more."""

    files: list[NetworkFile]
    complete: bool


def list_networks(folder: StudioFolder) -> NetworkFiles:
    """Return the files that may hold networks, by the first bytes of each; none is read as a whole."""
    found = folder.find((".safetensors", ".json", *_TORCH), most=_MOST)
    files = []
    for file in found.files:
        path = folder.resolve(file.name)
        entry = NetworkFile(name=file.name, bytes=file.size, kind="checkpoint")
        try:
            if file.name.endswith(".json"):
                if not _is_modules(path):
                    continue
                entry.kind = "modules"
                folder.check_size(path, MOST_TEXT_BYTES)
            else:
                check_bytes(path)
                entry.kind = _kind(path)
        except (DovetailError, OSError) as error:
            entry.problem = str(error)
        files.append(entry)
    return NetworkFiles(files=files, complete=found.complete)


def _kind(path: Path) -> Literal["sculpture", "specialist or composite", "checkpoint"]:
    if path.name.endswith(_TORCH):
        _check_torch(path)
        return "checkpoint"
    schema = read_header(path).get("schema")
    return "sculpture" if schema == STATUE else "specialist or composite" if schema == PART else "checkpoint"


def _check_torch(path: Path) -> None:
    """Refuse what cannot be a file of PyTorch, and one with objects in it, which would have to be run."""
    archive = zipfile.is_zipfile(path)
    if not archive and _start(path)[:1] != _PICKLE:
        raise FileFormatError(f"{path.name!r} is damaged, cut short, or no file of weights")
    if not archive:
        return  # PyTorch's old format: opening it will tell
    try:
        objects = get_unsafe_globals_in_checkpoint(path)
    except Exception as error:  # as in `load_checkpoint`: a damaged file makes torch fail in a dozen ways
        raise FileFormatError(f"{path.name!r} is damaged, or no file of weights") from error
    if objects:
        raise FileFormatError(f"{path.name!r} holds Python objects ({objects[0]}), which are never loaded")


def _is_modules(path: Path) -> bool:
    """Whether a JSON file starts as one with modules does; other JSON files are no concern of this view."""
    try:
        return MODULES.encode() in _start(path)
    except OSError:
        return False


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_START_BYTES)
