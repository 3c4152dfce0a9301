"""Specialists and composites: one file, or a folder with many."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...file_header import read_header
from ...specialists import Composite, Specialist, open_file
from ...specialists.manifest import SCHEMA

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
    left_out : int
        Files that were not read, because there are so many.
    """

    path: Path
    files: tuple[PartFile, ...]
    left_out: int = 0

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
        When one of them is damaged, with its name.
    """
    found = [
        PartFile(
            file.name, open_file(file), file.stat().st_size, str(read_header(file).get("dovetail", "unknown"))
        )
        for file in files[:MOST_FILES]
    ]
    return PartsSource(path, tuple(found), len(files) - len(found))
