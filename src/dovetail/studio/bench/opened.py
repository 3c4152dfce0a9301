"""Specialists and composites that were opened, kept as long as their files stay the same."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import FileFormatError, SpecError
from ...specialists import Composite, Part, Specialist, open_file
from ..folder import StudioFolder
from ..recent import Recent

_LIMIT = 256 * 2**20

MOST_WEIGHTS = 250_000_000
"""Weights of all specialists in one request, kept or pruned: files are small, but networks run with their zeros."""


class OpenedParts:
    """The parts of a folder by name."""

    def __init__(self, folder: StudioFolder) -> None:
        self._folder = folder
        self._opened = Recent[Specialist | Composite](_LIMIT, _bytes)

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
