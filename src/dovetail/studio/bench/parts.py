"""Specialists and composites of a folder: what their files say about themselves, and the parts that were opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from ...errors import DovetailError, FileFormatError, SpecError
from ...specialists import Composite, Part, Specialist, open_file
from ...specialists.files import read_file_manifest
from ...specialists.manifest import Manifest
from ..cache import Cache
from ..folder import FoundFile, StudioFolder

MOST_FILES = 500
"""How many files the bench lists; more cards nobody looks through."""

_LIMIT = 256 * 2**20

MOST_WEIGHTS = 250_000_000
"""Weights of all specialists in one request, kept or pruned: files are small, but networks run with their zeros."""


@dataclass(frozen=True)
class Found:
    """A file with the manifest in it."""

    file: FoundFile
    manifest: Manifest


class UnusableFile(BaseModel):
    """A file that is no specialist or composite, or is damaged, and why."""

    file: str
    reason: str


@dataclass(frozen=True)
class Inventory:
    """All that was found; ``complete`` is false where there were too many files to look at all."""

    found: list[Found]
    unusable: list[UnusableFile]
    complete: bool


class FolderParts:
    """The specialists and composites of a folder; what has not changed since is not read again."""

    def __init__(self, folder: StudioFolder) -> None:
        self._folder = folder
        self._seen = Cache[Found | UnusableFile](2 * MOST_FILES)
        self._opened = Cache[Specialist | Composite](_LIMIT, _bytes)

    def inventory(self) -> Inventory:
        """Look at the folder now; of each file only at what it says about itself."""
        listing = self._folder.find((".safetensors",), most=MOST_FILES)
        seen = [self._seen.get(file, partial(self._look, file)) for file in listing.files]
        return Inventory(
            [entry for entry in seen if isinstance(entry, Found)],
            [entry for entry in seen if isinstance(entry, UnusableFile)],
            listing.complete,
        )

    def _look(self, file: FoundFile) -> Found | UnusableFile:
        try:
            return Found(file, read_file_manifest(self._folder.existing(file.name)))
        except DovetailError as error:
            return UnusableFile(file=file.name, reason=self._folder.without_root(str(error)))

    def part(self, name: str) -> Specialist | Composite:
        """Return what a file holds.

        Raises
        ------
        DovetailError
            For a name that is not in the folder, and a file that is too large, damaged or something else.
        """
        version = self._folder.version(name)
        return self._opened.get(version, lambda: _read(version.path))

    def specialists(self, names: list[str]) -> list[Specialist]:
        """Return the specialists of several files, none twice."""
        parts = [self.part(name) for name in dict.fromkeys(names)]
        for name, part in zip(dict.fromkeys(names), parts, strict=True):
            if not isinstance(part, Specialist):
                raise FileFormatError(f"{name} is a composite; tick specialists, or look at it by itself")
        found = [part for part in parts if isinstance(part, Specialist)]
        _check_weights(found)
        return found


def _read(path: Path) -> Specialist | Composite:
    part = open_file(path)
    _check_weights(part.specialists)
    return part


def _check_weights(specialists: Sequence[Specialist]) -> None:
    weights = sum(packed.shape.numel() for part in specialists for packed in part.weights.values())
    if weights > MOST_WEIGHTS:
        raise SpecError(
            f"{weights / 1e6:,.0f} million weights in {len(specialists)} networks are more than the "
            f"{MOST_WEIGHTS / 1e6:,.0f} million that the bench runs; use fewer, or the command line"
        )


def _bytes(part: Part) -> int:
    """Return what the weights of a part take."""
    kept = [packed for one in part.specialists for packed in one.weights.values()]
    return sum(
        tensor.nbytes for packed in kept for tensor in (packed.values, packed.positions) if tensor is not None
    )
