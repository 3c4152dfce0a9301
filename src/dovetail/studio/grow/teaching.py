"""Teaching: a specialist for new classes beside a composite, and what that does to the classes that were there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel
from torch import Tensor

from ...data import Dataset
from ...errors import DovetailError, SpecError
from ...specialists import Composite, Part, Specialist
from ...specialists.adding import add_class
from ...specialists.composite import compose_quietly
from ...specialists.evaluate import run_network
from ..draw.preparations import can_draw
from ..folder import StudioFolder
from ..held_data import ENDINGS, HeldData

FOLDER = "grown"
"""Where grown composites go, in the studio's folder."""

LONGEST_NAME = 40

_EPOCHS, _PATIENCE = 20, 5
"""A single class beside others learns fast, and somebody waits for it."""

TABLES = tuple(ending for ending in ENDINGS if ending not in (".json", ".zip"))
"""Endings of files with samples, a row each."""

_MOST_FILES_OF_A_NAME = 1000


class OldClasses(BaseModel):
    """What becomes of the classes that were there, on the test samples of all that the composite knew before.

    Attributes
    ----------
    samples : int
        How many there are.
    before, after, dropped : float
        Accuracy before, with the new class, and when it is left out again.
    taken : int
        How many are taken for the new class.
    classes : list of str
        Which classes.
    each : list of tuple of float
        For each of them, accuracy before and after.
    """

    samples: int
    before: float
    after: float
    dropped: float
    taken: int
    classes: list[str]
    each: list[tuple[float, float]]


def base_of(parts: Sequence[Part]) -> Composite:
    """Return what some parts give together: specialists as one composite, and a composite as it is.

    Raises
    ------
    SpecError
        When they are of both kinds.
    """
    if len(parts) == 1 and isinstance(parts[0], Composite):
        return parts[0]
    members = [part for part in parts if isinstance(part, Specialist)]
    if not members or len(members) < len(parts):
        raise SpecError("a class is added to specialists, or to one composite; choose files of one kind")
    in_slots = all(member.provenance.slots for member in members)
    return compose_quietly(members, "sum" if in_slots else "logits")


def drawn_for(composite: Composite) -> str:
    """Return the data whose inputs drawings are made into for a composite.

    Raises
    ------
    SpecError
        When nobody can draw for it.
    """
    names = list(dict.fromkeys(member.provenance.data for member in composite.specialists))
    for name in names:
        if can_draw(name):
            return name
    raise SpecError(f"inputs of {names[0]!r:.80} cannot be drawn; add a class from data in the folder")


def check_new(base: Part, names: Sequence[str]) -> None:
    """Refuse names that cannot be those of new classes of a composite."""
    for name in names:
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise SpecError(
                f"{name!r:.60} cannot be the name of a class; use 1 to {LONGEST_NAME} letters, digits and signs"
            )
        if name in base.known:
            raise SpecError(f"{name!r} is known already; give the new class another name")


def data_path(folder: StudioFolder, name: str) -> Path:
    """Return the path of a table or a folder of images in the studio's folder; nothing else may be named as data.

    Raises
    ------
    DovetailError
        When it is not there, or of another kind: a name of Python code, above all.
    """
    path = folder.resolve(name)
    if path.is_dir() and path != folder.root:
        return path
    if path.suffix not in TABLES:
        raise DovetailError(
            f"{name!r:.100} is no table ({', '.join(TABLES)}) and no folder in the studio's folder; choose one of these"
        )
    return folder.existing(name)


def taught(base: Composite, data: Dataset) -> Composite:
    """Return a composite that knows the classes of data, too; its members are introduced to them."""
    return add_class(base, data, epochs=_EPOCHS, patience=_PATIENCE, progress=False)


def old_classes(base: Composite, grown: Composite, new: Sequence[str], data: HeldData) -> OldClasses:
    """Measure the classes that were there, before and after and with the new ones left out again."""
    names = np.array(data.classes, dtype=object)[data.test.y.numpy()]
    known = [name for name in data.classes if name in base.known]
    here = np.isin(names, known)
    x, names = data.test.x[torch.from_numpy(here)], names[here]
    before, after, dropped = (_answers(part, x) for part in (base, grown, grown.without(*new)))

    def of(said: NDArray[np.object_], name: str) -> float:
        mine = names == name
        return float((said[mine] == name).mean()) if mine.any() else float("nan")

    return OldClasses(
        samples=len(x),
        before=float((before == names).mean()),
        after=float((after == names).mean()),
        dropped=float((dropped == names).mean()),
        taken=int(np.isin(after, list(new)).sum()),
        classes=known,
        each=[(of(before, name), of(after, name)) for name in known],
    )


def _answers(part: Part, x: Tensor) -> NDArray[np.object_]:
    logits = run_network(part.module(), x)
    said: NDArray[np.object_] = np.array(part.classes, dtype=object)[logits.argmax(1).numpy()]
    return said


def free_path(folder: Path, name: str) -> Path:
    """Return a path for a grown composite that nothing has yet.

    Examples
    --------
    >>> free_path(Path("nowhere"), "A star!").as_posix()
    'nowhere/a-star.safetensors'
    """
    stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "class"
    for number in range(1, _MOST_FILES_OF_A_NAME):
        path = folder / f"{stem}{'' if number == 1 else f'-{number}'}.safetensors"
        if not path.exists():
            return path
    raise DovetailError(f"there are too many files called {stem} in {FOLDER}; move some away")
