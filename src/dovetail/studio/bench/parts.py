"""Specialists and composites of a folder: what their files say about themselves, and the parts that were opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Unusable:
    """A file that is no specialist or composite, or is damaged, and why."""

    file: FoundFile
    reason: str


@dataclass(frozen=True)
class Inventory:
    """All that was found; ``complete`` is false where there were too many files to look at all."""

    found: list[Found]
    unusable: list[Unusable]
    complete: bool


class Catalogue:
    """The manifests of a folder's files; what has not changed since is not read again."""

    def __init__(self, folder: StudioFolder) -> None:
        self._folder = folder
        self._known: dict[FoundFile, Found | Unusable] = {}

    def read(self) -> Inventory:
        """Look at the folder now."""
        listing = self._folder.find((".safetensors",), most=MOST_FILES)
        # A file that was written anew has another time or size, and so is another key. Others are forgotten.
        self._known = {file: self._known.get(file) or self._look(file) for file in listing.files}
        entries = self._known.values()
        return Inventory(
            [entry for entry in entries if isinstance(entry, Found)],
            [entry for entry in entries if isinstance(entry, Unusable)],
            listing.complete,
        )

    def _look(self, file: FoundFile) -> Found | Unusable:
        try:
            path = self._folder.existing(file.name)
            return Found(file, read_file_manifest(path))
        except DovetailError as error:
            # Pages name files as the folder does, not by where it is on the disk.
            return Unusable(file, str(error).replace(f"{self._folder.root}/", ""))


class OpenedParts:
    """The parts of a folder by name."""

    def __init__(self, folder: StudioFolder) -> None:
        self._folder = folder
        self._opened = Cache[Specialist | Composite](_LIMIT, _bytes)

    def part(self, name: str) -> Specialist | Composite:
        """Return what a file holds.

        Raises
        ------
        DovetailError
            For a name that is not in the folder, and a file that is too large, damaged or something else.
        """
        path = self._folder.existing(name)
        status = path.stat()
        key = (path, status.st_size, status.st_mtime_ns)
        return self._opened.get(key, lambda: _read(self._folder, name))

    def specialists(self, names: list[str]) -> list[Specialist]:
        """Return the specialists of several files, none twice."""
        parts = [self.part(name) for name in dict.fromkeys(names)]
        for name, part in zip(dict.fromkeys(names), parts, strict=True):
            if not isinstance(part, Specialist):
                raise FileFormatError(f"{name} is a composite; tick specialists, or look at it by itself")
        found = [part for part in parts if isinstance(part, Specialist)]
        _check_weights(found)
        return found


def _read(folder: StudioFolder, name: str) -> Specialist | Composite:
    try:
        part = open_file(folder.existing(name))
    except FileFormatError as error:
        # Pages name files as the folder does, not by where it is on the disk.
        raise FileFormatError(str(error).replace(f"{folder.root}/", "")) from None
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
