"""A sculpture: networks that ``dovetail sculpt`` keeps, or modules that ``dovetail modules`` has written as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ...errors import DovetailError, FileFormatError
from ...io.fields import parse
from ...io.header import read_header
from ...sculpting import Hierarchy, Sculpture, open_sculpture
from ...sculpting.modules.hierarchy_json import SCHEMA as HIERARCHY_SCHEMA
from ...sculpting.sculpture import SCHEMA
from .each_file import read_each

MOST_FILES = 300
_LARGEST_CONFIG = 100_000


@dataclass(frozen=True)
class SculptureSource:
    """Sculpted networks, or modules alone.

    Attributes
    ----------
    path : Path
        The file or folder.
    sculptures : dict of str to Sculpture
        Networks by file.
    hierarchies : dict of str to Hierarchy
        What to draw, by a name for readers.
    config : dict
        How they were sculpted, where the folder says.
    versions : tuple of str
        Of Dovetail, when they were written.
    unread : int
        Files that were not read, because there are so many.
    damaged : tuple of str
        What is wrong with files that cannot be read, a sentence each.
    """

    path: Path
    sculptures: dict[str, Sculpture]
    hierarchies: dict[str, Hierarchy]
    config: dict[str, object] = field(default_factory=dict)
    versions: tuple[str, ...] = ()
    unread: int = 0
    damaged: tuple[str, ...] = ()


def is_sculpture(header: dict[str, object]) -> bool:
    """Whether a file with this header holds a sculpted network."""
    return header.get("schema") == SCHEMA


def is_hierarchy(path: Path) -> bool:
    """Whether a file begins as one with modules does."""
    try:
        with path.open(encoding="utf-8") as file:
            return HIERARCHY_SCHEMA.rstrip("0123456789") in file.read(200)
    except (OSError, UnicodeDecodeError):
        return False


def read_sculptures(path: Path, files: list[Path]) -> SculptureSource:
    """Read sculpted networks, and the settings in their folder.

    Raises
    ------
    FileFormatError
        When all files are damaged, with the name of the first; or the modules of one cannot be found.
    """
    found, damaged = read_each(files[:MOST_FILES], open_sculpture)
    if not found:
        raise FileFormatError(damaged[0])
    drawn: dict[str, Hierarchy] = {}
    for file, sculpture in found.items():
        if sculpture.outcome == "not learned":
            continue
        name = sculpture.task if len(found) == 1 else f"seed {sculpture.seed}"
        try:
            drawn[file.stem if name in drawn else name] = sculpture.hierarchy
        except (DovetailError, ValueError) as error:
            raise FileFormatError(f"the modules of {file.name!r} cannot be found: {error}") from error
    versions = tuple(dict.fromkeys(str(read_header(file).get("dovetail", "unknown")) for file in found))
    config = _config(path / "config.json") if path.is_dir() else {}
    sculptures = {file.name: sculpture for file, sculpture in found.items()}
    return SculptureSource(
        path, sculptures, drawn, config, versions, max(0, len(files) - MOST_FILES), damaged
    )


def read_modules(path: Path) -> SculptureSource:
    """Read modules from a JSON file."""
    try:
        found = Hierarchy.from_json(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"cannot read {path}: {error}") from error
    except FileFormatError as error:
        raise FileFormatError(f"{path} cannot be used: {error}") from None
    return SculptureSource(path, {}, {path.name: found})


def _config(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > _LARGEST_CONFIG:
            raise ValueError("it is too large")
        content = parse(path.read_text("utf-8"))
    except (OSError, ValueError, FileFormatError) as error:
        raise FileFormatError(f"{path} cannot be read ({str(error)[:80]})") from None
    return content if isinstance(content, dict) else {}
