"""Specialists that new ones are trained beside: opened, and written anew once they are introduced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import DovetailError
from .files import check_free, files_in, open_parts
from .trunk import on_trunk

if TYPE_CHECKING:
    from ..data import Dataset
    from ..specialists import Composite, Specialist, Team
    from ..trunks import Trunk


class Others(NamedTuple):
    """What there is already, and where it goes once it is introduced: ``files`` has one for each part."""

    parts: Sequence[Specialist | Composite]
    files: Sequence[Path]

    @classmethod
    def opened(cls, paths: Sequence[Path], output: Path, trunk: Trunk | None, *, force: bool) -> Others:
        """Open files, and refuse to write over others before any work is done."""
        files = files_in(paths)
        goals = [output / file.name for file in files]
        if len(set(goals)) < len(goals):
            raise DovetailError("two of the files of --beside have the same name; give one of them another")
        if output.is_dir():
            for goal in goals:
                check_free(goal, force=force)
        from ..specialists import Sums

        opened = open_parts(files)
        parts = [part for part in opened if not isinstance(part, Sums)]
        if len(parts) < len(opened):
            raise DovetailError(
                "--beside takes specialists; sums need nothing beside them: make more with dovetail sums, and add them "
                "with dovetail compose"
            )
        return cls(on_trunk(parts, trunk), goals)

    def data(self, text: str) -> Dataset:
        """Return data of new classes, prepared like theirs."""
        from ..specialists import data_beside

        return data_beside(self.parts[0], text)

    def introduce(self, team: Team, data: Dataset, *, device: str | None, quiet: bool) -> list[Path]:
        """Introduce them to new specialists, and write them; composites are put together as they were."""
        from ..specialists import Composite, introduce

        members = introduce(self.parts, team, data, device=device, progress=not quiet)
        for part, file in zip(self.parts, self.files, strict=True):
            own, members = members[: len(part.specialists)], members[len(part.specialists) :]
            made = part.of(own) if isinstance(part, Composite) else own[0]
            made.save(file)
        return list(self.files)
