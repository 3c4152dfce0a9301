"""Which specialists and composites a folder has: what their files say about themselves, read once."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import DovetailError
from ...specialists.files import read_file_manifest
from ...specialists.manifest import Manifest
from ..folder import FoundFile, StudioFolder

MOST_FILES = 500
"""How many files the bench lists; more cards nobody looks through."""


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
