"""The job that teaches a composite new classes, from drawings or from data in the studio's folder."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...data import Dataset, read
from ...errors import DovetailError
from ...specialists import Composite, open_file
from ...specialists.data_for import data_beside
from ..draw.pad import read_ink
from ..folder import StudioFolder
from ..held_data import DataCache
from ..jobs import Tell
from .examples import drawings_data
from .teaching import FOLDER, base_of, check_new, data_path, drawn_for, free_path, old_classes, taught

_STEPS = 3


def run(settings: dict[str, Any], tell: Tell) -> dict[str, object]:
    """Teach, save, and measure; the file is told as soon as it is there.

    ``settings`` has ``root``, the studio's folder, the ``files`` that are grown, and either ``name`` and ``inks`` or
    ``data``, a file or folder, with its ``target``.
    """
    begun = time.perf_counter()
    folder = StudioFolder(settings["root"])
    tell(0, _STEPS, "opening what there is")
    base = base_of([open_file(folder.existing(file)) for file in settings["files"]])
    data = _drawings(base, settings) if "inks" in settings else _from_folder(base, folder, settings)
    new = [name for name in data.classes if name not in base.known]
    tell(1, _STEPS, f"teaching {', '.join(new)[:200]}")
    grown = taught(base, data)
    goal = folder.resolve(FOLDER)
    goal.mkdir(exist_ok=True)
    file = folder.relative(grown.save(free_path(goal, "-".join(new)[:60]), replace=False))
    found: dict[str, object] = {
        "file": file,
        "new": new,
        "classes": list(grown.known),
        "samples": len(data.train),
        "seconds": time.perf_counter() - begun,
        "old": None,
        "note": "",
    }
    tell(2, _STEPS, "measuring the classes that were there", found)
    try:
        held = DataCache(folder).of_part(base)
        found["old"] = old_classes(base, grown, new, held).model_dump()
    except DovetailError as error:
        found["note"] = f"What became of the others cannot be measured: {folder.without_root(str(error))}"
    return found


def _with_target(base: Composite, path: Path, target: str) -> Dataset:
    """Return what `data_beside` does, of a table whose column of classes is named."""
    found = read(path, target=target)
    if base.preparation is None:
        return found
    classes = tuple(dict.fromkeys((*base.classes, *found.classes)))
    return read(path, target=target, like=replace(base.blueprint, classes=classes))


def _drawings(base: Composite, settings: dict[str, Any]) -> Dataset:
    name = settings["name"].strip()
    check_new(base, [name])
    return drawings_data([read_ink(ink) for ink in settings["inks"]], name, drawn_for(base))


def _from_folder(base: Composite, folder: StudioFolder, settings: dict[str, Any]) -> Dataset:
    path, target = data_path(folder, settings["data"]), settings["target"]
    try:
        found = data_beside(base, str(path)) if target is None else _with_target(base, path, target)
    except DovetailError as error:
        raise DovetailError(folder.without_root(str(error))) from error
    check_new(base, [name for name in found.classes if name not in base.known])
    return found
