"""What ``dovetail sculpt -o FOLDER`` keeps in its folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DovetailError, FileFormatError
from ..writing import write_whole
from .hierarchy_file import write_hierarchy

if TYPE_CHECKING:
    from ..data import BooleanTask, Dataset
    from ..sculpting import Statue

_CONFIG = "config.json"


def statue_file(folder: Path, seed: int) -> Path:
    """Return where the network of a seed is kept."""
    return folder / f"seed{seed}.safetensors"


def check_settings(folder: Path, settings: dict[str, object], *, force: bool) -> None:
    """Make the folder and note the settings there; refuse a folder with networks of other settings."""
    file = folder / _CONFIG
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DovetailError(f"cannot make the folder {str(folder)!r}: {error.strerror}") from error
    if file.exists() and not force:
        try:
            before = json.loads(file.read_text())
        except (OSError, ValueError) as error:
            raise FileFormatError(f"{str(file)!r} cannot be read ({error}); --force replaces it") from error
        different = [name for name in settings if before.get(name) != json.loads(json.dumps(settings[name]))]
        if different:
            name = different[0]
            raise DovetailError(
                f"{str(folder)!r} holds networks sculpted with {name} {before.get(name)!r:.60}, not "
                f"{settings[name]!r:.60}; take another folder, or --force to replace them"
            )
    write_whole(file, lambda path: path.write_text(json.dumps(settings, indent=2)))


def save_all(folder: Path, statues: Sequence[Statue], task: BooleanTask | Dataset) -> None:
    """Save each network, its hierarchy, a picture and a page to look into."""
    image, names = _shown(task)
    for statue in statues:
        if statue.outcome != "not learned":
            title = f"{statue.task}, seed {statue.seed}"
            for kind in ("json", "html", "png"):
                write_hierarchy(
                    statue.hierarchy,
                    folder / f"seed{statue.seed}.{kind}",
                    title,
                    image_shape=image,
                    output_names=names,
                )
        # Last, because this file says that the seed is done.
        statue.save(statue_file(folder, statue.seed))


def _shown(task: BooleanTask | Dataset) -> tuple[tuple[int, int] | None, tuple[str, ...] | None]:
    """Return the shape of a task's inputs if they are grey images, and the names of its outputs if they have any."""
    from ..data import Dataset

    if not isinstance(task, Dataset):
        return None, None
    shape = task.input_shape
    return ((shape[1], shape[2]) if len(shape) == 3 and shape[0] == 1 else None), task.classes
