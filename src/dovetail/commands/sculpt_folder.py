"""What ``dovetail sculpt -o FOLDER`` keeps in its folder."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DovetailError, FileFormatError
from ..writing import write_whole
from .hierarchy_file import write_hierarchy

if TYPE_CHECKING:
    from ..sculpting import Statue

_CONFIG = "config.json"
_OURS = re.compile(r"config\.json|seed\d+\.(safetensors|json|png|html)")


def statue_file(folder: Path, seed: int) -> Path:
    """Return where the network of a seed is kept."""
    return folder / f"seed{seed}.safetensors"


def check_settings(folder: Path, settings: dict[str, object], *, force: bool) -> None:
    """Make the folder; refuse one with networks of other settings, or clear it by force."""
    file = folder / _CONFIG
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if force:
            for old in (path for path in folder.iterdir() if _OURS.fullmatch(path.name)):
                old.unlink()
    except OSError as error:
        raise DovetailError(f"cannot make the folder {str(folder)!r}: {error.strerror}") from error
    if file.exists():
        try:
            before = json.loads(file.read_text())
            if not isinstance(before, dict):
                raise ValueError("it holds no settings")
        except (OSError, ValueError) as error:
            raise FileFormatError(f"{str(file)!r} cannot be read ({error}); --force replaces it") from error
        different = [name for name in settings if before.get(name) != json.loads(json.dumps(settings[name]))]
        if different:
            name = different[0]
            raise DovetailError(
                f"{str(folder)!r} holds networks sculpted with {name} {before.get(name)!r:.60}, not "
                f"{settings[name]!r:.60}; take another folder, or --force to replace them"
            )


def open_kept(folder: Path, seeds: Sequence[int]) -> dict[int, Statue]:
    """Return the networks of these seeds that the folder has."""
    from ..sculpting import open_statue

    kept: dict[int, Statue] = {}
    for seed in seeds:
        file = statue_file(folder, seed)
        if file.exists():
            try:
                kept[seed] = open_statue(file)
            except FileFormatError as error:
                raise FileFormatError(f"{error}; delete it, or sculpt anew with --force") from error
    return kept


def save_all(folder: Path, statues: Sequence[Statue], settings: dict[str, object]) -> None:
    """Save the settings, and each network, its hierarchy, a picture and a page to look into."""
    write_whole(folder / _CONFIG, lambda path: path.write_text(json.dumps(settings, indent=2)))
    for statue in statues:
        if statue.outcome != "not learned":
            title = f"{statue.task}, seed {statue.seed}"
            for kind in ("json", "html", "png"):
                write_hierarchy(
                    statue.hierarchy, folder / f"seed{statue.seed}.{kind}", title, image_shape=statue.image_shape,
                    output_names=statue.output_names,
                )  # fmt: skip
        # Last, because this file says that the seed is done.
        statue.save(statue_file(folder, statue.seed))
