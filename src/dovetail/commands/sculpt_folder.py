"""Files that ``dovetail sculpt`` and ``modules`` write: a hierarchy in any form, and a folder of sculptures."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DovetailError, FileFormatError, ShapeError, SpecError, explained
from ..io.plain import read_text
from ..io.write import write_whole
from .files import ENDING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..sculpting import Consensus, Explanation, Hierarchy, Sculpture

_PICTURES = (".png", ".svg", ".pdf")

_CONFIG = "config.json"

_OF_ALL = ("consensus.json", "consensus.png")

_OF_A_SEED = re.compile(r"seed(?P<seed>\d+)\.(safetensors|json|png|html)")


def check_kind(path: Path) -> None:
    """Refuse a file of a kind that is not written."""
    if path.suffix.lower() not in (".json", ".html", *_PICTURES):
        raise SpecError(f"{str(path)!r}: write a .json, .png, .svg, .pdf or .html file")


def write_hierarchy(
    hierarchy: Hierarchy,
    path: Path,
    title: str,
    *,
    image_shape: tuple[int, int] | None = None,
    explanation: Explanation | None = None,
) -> Path:
    """Write a hierarchy in the form that the file's ending says, with what modules compute where that is known."""
    check_kind(path)
    kind = path.suffix.lower()
    if kind in _PICTURES:
        drawn = hierarchy if explanation is None else explanation
        return _save_axes(drawn.plot(title=title, image_shape=image_shape), path)
    if kind == ".json":
        text = hierarchy.to_json()
    else:
        from ..report import hierarchy_html

        inputs, outputs = hierarchy.end_names
        text = hierarchy_html(
            hierarchy, title=title, input_names=inputs, output_names=outputs, explanation=explanation
        )
    return write_whole(path, lambda file: file.write_text(text, encoding="utf-8"))


def write_consensus(folder: Path, agreed: Consensus, sculpture: Sculpture) -> None:
    """Write what searches agree on beside their networks: the hierarchy, and a picture with how sure each module is."""
    write_hierarchy(agreed.hierarchy, folder / "consensus.json", "consensus")
    title = f"{sculpture.task}: consensus of {agreed.networks} networks"
    with suppress(ShapeError):  # too many modules for a picture
        _save_axes(agreed.plot(title=title, image_shape=sculpture.image_shape), folder / "consensus.png")


def _save_axes(ax: Axes, path: Path) -> Path:
    """Write a picture in the form that the file's ending says, and let it go."""
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure

    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    try:
        return write_whole(path, lambda file: figure.savefig(file, format=path.suffix[1:].lower(), dpi=150))
    finally:
        plt.close(figure)


def sculpture_file(folder: Path, seed: int) -> Path:
    """Return where the network of a seed is kept."""
    return folder / f"seed{seed}.safetensors"


def check_settings(folder: Path, settings: dict[str, object], *, force: bool) -> bool:
    """Return whether the folder holds networks of the same settings.

    One whose config is not ours is refused, and one for other settings, unless ``force`` allows it.
    """
    file = folder / _CONFIG
    if not file.exists():
        # It is written before anything else, so that what is there without it is somebody's own.
        others = sorted(old.name for old in folder.iterdir() if _is_written(old.name))
        if others and not force:
            raise DovetailError(
                f"{folder / others[0]} is in the way; take another folder, or --force to replace it"
            )
        return False
    try:
        before = json.loads(read_text(file))
    except (OSError, ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{str(file)!r} cannot be read ({str(error)[:80]}); take another folder"
        ) from error
    if not isinstance(before, dict) or not {"task", "fingerprint"} <= set(before):
        raise FileFormatError(
            f"{str(file)!r} is in the way, and not what dovetail sculpt writes; take another folder"
        )
    different = [name for name in settings if before.get(name) != json.loads(json.dumps(settings[name]))]
    if different and not force:
        name = different[0]
        raise DovetailError(
            f"{str(folder)!r} holds networks sculpted with {name} {before.get(name)!r:.60}, not "
            f"{settings[name]!r:.60}; take another folder, or --force to replace them"
        )
    return not different


def _is_written(name: str) -> bool:
    """Whether a file of this name is what sculpting into a folder writes."""
    return name in _OF_ALL or _OF_A_SEED.fullmatch(name) is not None


def clear(folder: Path, seeds: Sequence[int] | None) -> None:
    """Remove what was sculpted into the folder before: of some seeds, or all of it and the settings."""
    with explained(f"cannot replace what is in {str(folder)!r}"):
        found = {old: _OF_A_SEED.fullmatch(old.name) for old in folder.iterdir()}
        going = [old for old, name in found.items() if name and (seeds is None or int(name["seed"]) in seeds)]
        # Networks first: as long as one is there, so is all that belongs to it.
        for old in sorted(going, key=lambda old: old.suffix != ENDING):
            old.unlink()
        for name in _OF_ALL:  # of networks that are there no more
            (folder / name).unlink(missing_ok=True)
        if seeds is None:  # last, because networks without it would be taken for those of other settings
            (folder / _CONFIG).unlink(missing_ok=True)


def open_kept(folder: Path, seeds: Sequence[int], settings: dict[str, object]) -> dict[int, Sculpture]:
    """Return the networks of these seeds that the folder has; each says itself how it was made.

    Raises
    ------
    DovetailError
        For one that was made otherwise, and for what cannot be read.
    """
    from ..sculpting import open_sculpture

    kept: dict[int, Sculpture] = {}
    for seed in seeds:
        file = sculpture_file(folder, seed)
        if file.exists():
            try:
                kept[seed] = open_sculpture(file)
            except FileFormatError as error:
                raise FileFormatError(f"{error}; delete it, or sculpt anew with --force") from error
            if other := _difference(kept[seed], seed, settings):
                raise DovetailError(
                    f"{file} is in the way: it was sculpted with {other}; take another folder, or --force to replace it"
                )
    return kept


def _difference(sculpture: Sculpture, seed: int, settings: dict[str, object]) -> str:
    """Say in what a network was made otherwise than asked; nothing of settings that were left to the task."""
    made = sculpture.settings.model_dump(mode="json") | {
        "seed": sculpture.seed,
        "fingerprint": sculpture.fingerprint or None,  # files of before do not say
    }
    if settings["from"] is not None:  # whose layers they are
        made.pop("hidden")
    for name, value in {**settings, "seed": seed}.items():
        wanted = json.loads(json.dumps(value))
        if None not in (wanted, made.get(name)) and made[name] != wanted:
            return f"{name} {made[name]!r:.60}, not {wanted!r:.60}"
    return ""


def save_all(folder: Path, sculptures: Sequence[Sculpture], settings: dict[str, object]) -> None:
    """Save the settings, and each network, its hierarchy, a picture and a page to look into."""
    write_whole(folder / _CONFIG, lambda path: path.write_text(json.dumps(settings, indent=2)))
    for sculpture in sculptures:
        show(folder, sculpture)
        # Last, because this file says that the seed is done.
        sculpture.save(sculpture_file(folder, sculpture.seed))


def show(folder: Path, sculpture: Sculpture) -> None:
    """Write what belongs to a network and is not there: its hierarchy, a picture and a page to look into."""
    if sculpture.outcome == "not learned":
        return
    for kind in ("json", "html", "png"):
        file = folder / f"seed{sculpture.seed}.{kind}"
        if not file.exists():
            title = f"{sculpture.task}, seed {sculpture.seed}"
            with suppress(ShapeError):  # too many modules for a picture
                write_hierarchy(
                    sculpture.hierarchy, file, title, image_shape=sculpture.image_shape,
                    explanation=sculpture.explanation,
                )  # fmt: skip
