"""What a folder holds: finished files, and only leftovers that nobody takes for one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{8}\.part|\.lock")


@dataclass(frozen=True)
class KeptFile:
    """A file's content, and what tells whether it was written again."""

    content: bytes
    inode: int
    written: int


Kept = Mapping[Path, KeptFile]


def state_of(folder: Path) -> dict[Path, KeptFile]:
    """Return the files of a folder and those below it, less those whose names say that they are unfinished."""
    kept = {}
    for path in sorted(folder.rglob("*")):
        if path.name.startswith("."):
            assert _LEFTOVER.fullmatch(path.name), f"{path} was left, and nobody would clean it away"
        elif path.is_file():
            kept[path] = KeptFile(path.read_bytes(), path.stat().st_ino, path.stat().st_mtime_ns)
    return kept


def finished_units(run: Path) -> dict[str, object]:
    """Return what the units of a run gave, by key."""
    lines = (run / "results.jsonl").read_text().splitlines()
    return {content["key"]: content["row"] for content in map(json.loads, lines)}
