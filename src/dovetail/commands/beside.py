"""Specialists that new ones are trained beside: opened, and written anew once they are introduced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch

from ..errors import DovetailError
from .files import check_free, files_in, open_parts
from .trunk import on_trunk

if TYPE_CHECKING:
    from ..data import Dataset
    from ..specialists import Composite, Part, Specialist, Team
    from ..specialists.settings import TrainingSettings
    from ..trunks import Trunk

_ROUNDING = 1e-3
"""By how much weights may differ that the same steps give on another machine."""


class Others(NamedTuple):
    """What there is already, and where it goes once it is introduced: ``files`` has one for each part.

    ``kept`` is what lies there from when the same command was given before: not written again.
    """

    parts: Sequence[Specialist | Composite]
    files: Sequence[Path]
    kept: dict[Path, Part]

    @classmethod
    def opened(cls, paths: Sequence[Path], output: Path, trunk: Trunk | None, *, force: bool) -> Others:
        """Open files, and refuse to write over others before any work is done."""
        files = files_in(paths)
        goals = [output / file.name for file in files]
        if len(set(goals)) < len(goals):
            raise DovetailError("two of the files of --beside have the same name; give one of them another")
        from ..specialists import Sums

        opened = open_parts(files)
        parts = [part for part in opened if not isinstance(part, Sums)]
        if len(parts) < len(opened):
            raise DovetailError(
                "--beside takes specialists; sums need nothing beside them: make more with dovetail sums, and add them "
                "with dovetail compose"
            )
        kept: dict[Path, Part] = {}
        if output.is_dir():
            for part, file, goal in zip(parts, files, goals, strict=True):
                if goal.is_file() and not force and not goal.samefile(file):
                    (there,) = open_parts([goal])
                    if _may_come_of(there, part):
                        kept[goal] = there
                        continue
                check_free(goal, force=force)
        return cls(on_trunk(parts, trunk), goals, kept)

    def data(self, text: str) -> Dataset:
        """Return data of new classes, prepared like theirs."""
        from ..specialists import data_beside

        return data_beside(self.parts[0], text)

    def amount(
        self, data: Dataset, settings: TrainingSettings, rewarded: list[list[int]] | None
    ) -> tuple[Dataset, TrainingSettings, int]:
        """Return what new specialists learn, draws from cards among it, how, and how many there are for each seed."""
        from ..specialists.growth import train_beside

        usual = type(settings).model_fields["net"].default
        net = None if settings.net == usual else settings.net
        grown = train_beside(data, self.parts, net, rewarded, seed=0)
        return grown.data, settings.model_copy(update={"net": str(grown.net)}), len(grown.rewarded)

    def introduce(self, team: Team, data: Dataset, *, device: str | None, quiet: bool) -> list[Path]:
        """Introduce them to new specialists, and write them; composites are put together as they were.

        Returns those files that were not there yet.
        """
        from ..specialists import Composite, introduce

        members = introduce(self.parts, team, data, device=device, progress=not quiet)
        made: dict[Path, Specialist | Composite] = {}
        for part, file in zip(self.parts, self.files, strict=True):
            own, members = members[: len(part.specialists)], members[len(part.specialists) :]
            made[file] = part.of(own) if isinstance(part, Composite) else own[0]
        for file, there in self.kept.items():
            if not _same(there, made[file]):
                raise DovetailError(
                    f"{file} is in the way (it was introduced to other classes, or otherwise); replace it (--force), "
                    "or use another folder"
                )
        written = [file for file in made if file not in self.kept]
        for file in written:
            made[file].save(file)
        return written


def _may_come_of(there: Part, part: Part) -> bool:
    """Whether one part may be another after an introduction: trained as that was, to know the same."""
    if type(there) is not type(part) or len(there.specialists) != len(part.specialists):
        return False
    return all(
        new.known == old.known and _training(new) == _training(old)
        for new, old in zip(there.specialists, part.specialists, strict=True)
    )


def _training(part: Specialist) -> object:
    metrics = {name: value for name, value in part.provenance.metrics.items() if name != "introduced"}
    return replace(part.provenance, metrics=metrics)


def _same(there: Part, made: Part) -> bool:
    """Whether two parts are the same up to rounding."""
    if there == made:
        return True
    return repr(there) == repr(made) and all(
        _alike(*pair) for pair in zip(there.specialists, made.specialists, strict=True)
    )


def _alike(first: Specialist, second: Specialist) -> bool:
    if first.blueprint != second.blueprint or first.known != second.known:
        return False
    others = second.state
    return all(
        torch.allclose(tensor, others[name], rtol=_ROUNDING, atol=_ROUNDING)
        for name, tensor in first.state.items()
    )
