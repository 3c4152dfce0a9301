"""A path: what it is, and what is read from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...cluster.audit_folder import FILE as AUDIT
from ...cluster.saved_audit import SavedAudit, read_audit
from ...engine.run_folder import CONFIG
from ...errors import DovetailError, FileFormatError
from ...opening import kind_of
from .files import PartsSource, SculptureSource, read_each, read_modules, read_parts, read_sculptures
from .run import RunSource, read_run

Source = RunSource | PartsSource | SculptureSource | SavedAudit

_KINDS = (
    "a run folder (dovetail reproduce), specialists or composites (dovetail train, compose), a sculpture (dovetail "
    "sculpt -o, or modules -o FILE.json) or an audit (dovetail audit -o)"
)
_MOST_NAMED = 5


def open_source(path: str | Path) -> Source:
    """Return what there is at a path.

    Raises
    ------
    DovetailError
        When there is nothing, nothing that a report can be made of, or several kinds of things in one folder.
    FileFormatError
        When something there is damaged.
    """
    path = Path(path)
    try:
        if not path.exists():
            raise DovetailError(f"there is no file or folder {str(path)!r}")
        return _folder(path) if path.is_dir() else _file(path)
    except OSError as error:
        raise DovetailError(f"cannot look into {path}: {error.strerror or error}") from error


def _file(path: Path) -> Source:
    match kind_of(path):
        case "part":
            return read_parts(path, [path])
        case "sculpture":
            return read_sculptures(path, [path])
        case "hierarchy":
            return read_modules(path)
        case "audit":
            return read_audit(path)
    if path.suffix == ".safetensors":
        raise DovetailError(
            f"{path} holds weights, and nothing that says of what; look into them with dovetail audit or dovetail "
            "modules first, and report on what these write"
        )
    raise DovetailError(f"{path} is nothing that a report can be made of; name {_KINDS}")


def _folder(path: Path) -> Source:
    kinds, damaged = read_each(_tensor_files(path), kind_of)
    parts = [file for file, kind in kinds.items() if kind == "part"]
    sculptures = [file for file, kind in kinds.items() if kind == "sculpture"]
    texts, _ = read_each(sorted(path.glob("*.json")), kind_of)
    modules = [file for file, kind in texts.items() if kind == "hierarchy"]
    found: dict[str, Callable[[], Source]] = {}
    if (path / CONFIG).is_file():
        found["a run (config.yaml)"] = lambda: read_run(path)
    if (path / AUDIT).is_file():
        found[f"an audit ({AUDIT})"] = lambda: read_audit(path / AUDIT)
    if parts:
        found[f"specialists ({parts[0].name}{', ...' if len(parts) > 1 else ''})"] = lambda: read_parts(
            path, parts
        )
    if sculptures:
        found[f"sculpted networks ({sculptures[0].name}{', ...' if len(sculptures) > 1 else ''})"] = lambda: (
            read_sculptures(path, sculptures)
        )
    elif len(modules) == 1:
        found[f"modules ({modules[0].name})"] = lambda: read_modules(modules[0])
    if len(found) == 1:
        source = next(iter(found.values()))()
        if isinstance(source, PartsSource | SculptureSource):
            return replace(source, damaged=damaged + source.damaged)
        return source
    if found:
        raise DovetailError(
            f"{path} holds several kinds of things: {' and '.join(found)}; put each into a folder of its own, or name "
            "a file"
        )
    if damaged:
        raise FileFormatError(f"{path} holds nothing else that a report can be made of, and {damaged[0]}")
    if inside := folders_inside(path):
        raise DovetailError(f"a report is about one folder; in {str(path)!r} it could be {inside}")
    raise DovetailError(f"{path} {_nothing_in(path, modules)}; name {_KINDS}")


def _nothing_in(path: Path, modules: list[Path]) -> str:
    """Say what there is in a folder that a report cannot be made of."""
    if not any(path.iterdir()):
        return "is empty"
    if modules:
        return f"holds the modules of {len(modules)} networks, of which a report takes one file"
    return "holds nothing that a report can be made of"


def folders_inside(path: str | Path) -> str:
    """Return the names of folders in a folder that reports could be made of, the first few; empty if none could."""
    path = Path(path)
    children = sorted(child for child in path.iterdir() if child.is_dir()) if path.is_dir() else []
    names = [child.name for child in children if not child.name.startswith(".") and _is_source(child)]
    return ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")


def _is_source(folder: Path) -> bool:
    """Whether a folder is a run's or an audit's, or a first file in it holds a network of ours."""
    try:
        if kind_of(folder) is not None:
            return True
        kinds, _ = read_each(_tensor_files(folder)[:1], kind_of)
    except (FileFormatError, OSError):
        return False
    return any(kinds.values())


def _tensor_files(folder: Path) -> list[Path]:
    """Return a folder's ``.safetensors`` files, by name with numbers in their order."""
    return sorted((path for path in folder.glob("*.safetensors") if path.is_file()), key=_by_number)


def _by_number(path: Path) -> list[tuple[int, str]]:
    return [(int(text), "") if text.isdigit() else (-1, text) for text in re.split(r"(\d+)", path.name)]
