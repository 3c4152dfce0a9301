"""Files that a report is about: specialists and composites, sculptures, or modules; one file, or a folder with many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ...errors import DovetailError, FileFormatError
from ...io.fields import parse
from ...io.header import read_header
from ...opening import open_hierarchy
from ...sculpting import Hierarchy, Sculpture, open_sculpture
from ...specialists import Composite, Specialist, open_file

MOST_FILES = 300
"""In a folder; more would take long to read and make a page that nobody reads."""

_LARGEST_CONFIG = 100_000

Read = TypeVar("Read")


@dataclass(frozen=True)
class PartFile:
    """A specialist or composite, and what only its file knows.

    Attributes
    ----------
    name : str
        Of the file.
    part : Specialist or Composite
        What is in it.
    size : int
        Bytes.
    version : str
        Of Dovetail, when it was written.
    """

    name: str
    part: Specialist | Composite
    size: int
    version: str


@dataclass(frozen=True)
class PartsSource:
    """Specialists and composites.

    Attributes
    ----------
    path : Path
        The file or folder.
    files : tuple of PartFile
        What is there, by name.
    unread : int
        Files that were not read, because there are more than `MOST_FILES`.
    damaged : tuple of str
        What is wrong with files that cannot be read, a sentence each.
    """

    path: Path
    files: tuple[PartFile, ...]
    unread: int = 0
    damaged: tuple[str, ...] = ()

    @property
    def specialists(self) -> list[Specialist]:
        """The specialists, each once: those with files of their own, or else the members of composites."""
        own = [file.part for file in self.files if isinstance(file.part, Specialist)]
        members = [member for composite in self.composites for member in composite.specialists]
        return list(dict.fromkeys(own or members))

    @property
    def composites(self) -> list[Composite]:
        """The composites, each once."""
        return list(dict.fromkeys(file.part for file in self.files if isinstance(file.part, Composite)))


def read_parts(path: Path, files: list[Path]) -> PartsSource:
    """Read specialists and composites.

    Raises
    ------
    FileFormatError
        When all of them are damaged, with the name of the first.
    """
    found, damaged = read_each(files[:MOST_FILES], _read)
    if not found:
        raise FileFormatError(damaged[0])
    return PartsSource(path, tuple(found.values()), max(0, len(files) - MOST_FILES), damaged)


def _read(file: Path) -> PartFile:
    version = str(read_header(file).get("dovetail", "unknown"))
    return PartFile(file.name, open_file(file), file.stat().st_size, version)


def read_each(
    files: Iterable[Path], read: Callable[[Path], Read]
) -> tuple[dict[Path, Read], tuple[str, ...]]:
    """Return what files hold, and for each that cannot be read a sentence that names it and says why."""
    found: dict[Path, Read] = {}
    damaged = []
    for file in files:
        try:
            found[file] = read(file)
        except FileFormatError as error:
            damaged.append(str(error).replace(str(file), file.name))
    return found, tuple(damaged)


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
        Files that were not read, because there are more than `MOST_FILES`.
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
    found = open_hierarchy(path)
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
