"""Specialists and composites: one file, or a folder with many."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...errors import FileFormatError
from ...io.header import read_header
from ...specialists import Composite, Specialist, open_file
from ...specialists.manifest import SCHEMA
from .each_file import read_each

MOST_FILES = 300
"""In a folder; more would take long to read and make a page that nobody reads."""


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
        Files that were not read, because there are so many.
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


def is_part(header: dict[str, object]) -> bool:
    """Whether a file with this header holds a specialist or composite."""
    return header.get("schema") == SCHEMA


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
