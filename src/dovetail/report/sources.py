"""What a report can be made of: whatever there is at a path, recognised and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from ..cluster.audit_folder import FILE as AUDIT
from ..cluster.saved_audit import SavedAudit, read_audit
from ..engine import Run
from ..engine.run_folder import CONFIG
from ..errors import DovetailError, FileFormatError, explained
from ..io.fields import parse
from ..io.header import read_header
from ..io.plain import read_text
from ..opening import Kind, kind_of, open_hierarchy, open_run
from ..sculpting import Hierarchy, Sculpture, open_sculpture
from ..specialists import Composite, Specialist, open_file

MOST_FILES = 300
"""In a folder; more would take long to read and make a page that nobody reads."""

_LARGEST_CONFIG = 100_000
_KINDS = (
    "a run folder (dovetail reproduce), specialists or composites (dovetail train, compose), a sculpture (dovetail "
    "sculpt -o, or modules -o FILE.json), an audit (dovetail audit -o) or a folder of these"
)
_MOST_NAMED = 5

Read = TypeVar("Read")


@dataclass(frozen=True)
class PartFile:
    """A specialist or composite, and what only its file knows.

    Attributes
    ----------
    name : str
        Of the file.
    part : Specialist or Composite
        What is in it.
    size : int
        Bytes.
    version : str
        Of Dovetail, when it was written.
    """

    name: str
    part: Specialist | Composite
    size: int
    version: str


@dataclass(frozen=True)
class PartsSource:
    """Specialists and composites.

    Attributes
    ----------
    path : Path
        The file or folder.
    files : tuple of PartFile
        What is there, by name.
    unread : int
        Files that were not read, because there are more than `MOST_FILES`.
    damaged : tuple of str
        What is wrong with files that cannot be read, a sentence each.
    """

    path: Path
    files: tuple[PartFile, ...]
    unread: int = 0
    damaged: tuple[str, ...] = ()

    @property
    def specialists(self) -> list[Specialist]:
        """The specialists, each once: those with files of their own, or else the members of composites."""
        own = [file.part for file in self.files if isinstance(file.part, Specialist)]
        members = [member for composite in self.composites for member in composite.specialists]
        return list(dict.fromkeys(own or members))

    @property
    def composites(self) -> list[Composite]:
        """The composites, each once."""
        return list(dict.fromkeys(file.part for file in self.files if isinstance(file.part, Composite)))


@dataclass(frozen=True)
class SculptureSource:
    """Sculpted networks, or modules alone.

    Attributes
    ----------
    path : Path
        The file or folder.
    sculptures : dict of str to Sculpture
        Networks by file.
    hierarchies : dict of str to Hierarchy
        What to draw, by a name for readers.
    output_names : dict of str to sequence of str or None
        What the outputs of each drawing are called.
    config : dict
        How they were sculpted, where the folder says.
    versions : tuple of str
        Of Dovetail, when they were written.
    unread : int
        Files that were not read, because there are more than `MOST_FILES`.
    damaged : tuple of str
        What is wrong with files that cannot be read, a sentence each.
    """

    path: Path
    sculptures: dict[str, Sculpture]
    hierarchies: dict[str, Hierarchy]
    output_names: dict[str, Sequence[str] | None] = field(default_factory=dict)
    config: dict[str, object] = field(default_factory=dict)
    versions: tuple[str, ...] = ()
    unread: int = 0
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True)
class AuditsSource:
    """Several audits, each in a folder of its own.

    Attributes
    ----------
    path : Path
        The folder that these lie in.
    audits : dict of str to SavedAudit
        By the names of their folders, numbers in their order.
    unread : int
        Folders that were not read, because there are more than `MOST_FILES`.
    damaged : tuple of str
        What is wrong with audits that cannot be read, a sentence each.
    """

    path: Path
    audits: dict[str, SavedAudit]
    unread: int = 0
    damaged: tuple[str, ...] = ()


Source = Run | PartsSource | SculptureSource | SavedAudit | AuditsSource


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
    with explained(f"cannot look into {path}"):
        if not path.exists():
            raise DovetailError(f"there is no file or folder {str(path)!r}")
        return _folder(path) if path.is_dir() else _file(path)


def _file(path: Path) -> Source:
    kind = kind_of(path)
    if kind in _READERS:
        return _READERS[kind][1](path, [path])
    if kind == "sums":
        raise DovetailError(f"{path} holds sums, of which there is no report; dovetail inspect shows them")
    if path.suffix == ".safetensors":
        raise DovetailError(
            f"{path} holds weights, and nothing that says of what; look into them with dovetail audit or dovetail "
            "modules first, and report on what these write"
        )
    raise DovetailError(f"{path} is nothing that a report can be made of; name {_KINDS}")


def _folder(path: Path) -> Source:
    found: dict[Kind, list[Path]] = {}
    if (path / CONFIG).is_file():
        found["run"] = [path / CONFIG]
    if (path / AUDIT).is_file():
        found["audit"] = [path / AUDIT]
    tensors, damaged = _read_each(_tensor_files(path), kind_of)
    texts, _ = _read_each(sorted(path.glob("*.json")), kind_of)
    for file, held in (tensors | texts).items():
        if held in ("part", "sculpture", "hierarchy"):
            found.setdefault(held, []).append(file)
    modules = found.get("hierarchy", [])
    if "sculpture" in found or len(modules) > 1:  # those that sculptures come with, or too many
        found.pop("hierarchy", None)
    if len(found) == 1:
        ((only, files),) = found.items()
        source = _READERS[only][1](path, files)
        if isinstance(source, PartsSource | SculptureSource):
            return replace(source, damaged=damaged + source.damaged)
        return source
    if found:
        several = " and ".join(
            f"{_READERS[kind][0]} ({files[0].name}{', ...' if len(files) > 1 else ''})"
            for kind, files in found.items()
        )
        raise DovetailError(
            f"{path} holds several kinds of things: {several}; put each into a folder of its own, or name a file"
        )
    inside = sorted((file for file in path.glob(f"*/{AUDIT}") if file.is_file()), key=_by_number)
    if len(inside) > 1 and not damaged:
        return _read_audits(path, inside)
    if damaged:
        raise FileFormatError(f"{path} holds nothing else that a report can be made of, and {damaged[0]}")
    if others := folders_inside(path):
        raise DovetailError(f"a report is about one folder; in {str(path)!r} it could be {others}")
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
        kinds, _ = _read_each(_tensor_files(folder)[:1], kind_of)
    except (FileFormatError, OSError):
        return False
    return any(kinds.values())


def _tensor_files(folder: Path) -> list[Path]:
    """Return a folder's ``.safetensors`` files, by name with numbers in their order."""
    return sorted((path for path in folder.glob("*.safetensors") if not path.is_dir()), key=_by_number)


def _by_number(path: Path) -> list[tuple[int, str]]:
    name = path.parent.name if path.name == AUDIT else path.name
    return [(int(text), "") if text.isdigit() else (-1, text) for text in re.split(r"(\d+)", name)]


def _read_audits(path: Path, files: list[Path]) -> AuditsSource:
    found, damaged = _read_some(files, read_audit)
    audits = {file.parent.name: audit for file, audit in found.items()}
    return AuditsSource(path, audits, max(0, len(files) - MOST_FILES), damaged)


def _read_parts(path: Path, files: list[Path]) -> PartsSource:
    found, damaged = _read_some(files, _part_file)
    return PartsSource(path, tuple(found.values()), max(0, len(files) - MOST_FILES), damaged)


def _part_file(file: Path) -> PartFile:
    return PartFile(file.name, open_file(file), file.stat().st_size, _version(file))


def _read_sculptures(path: Path, files: list[Path]) -> SculptureSource:
    """Read sculpted networks, and the settings in their folder."""
    found, damaged = _read_some(files, open_sculpture)
    drawn: dict[str, Hierarchy] = {}
    outputs: dict[str, Sequence[str] | None] = {}
    for file, sculpture in found.items():
        if sculpture.outcome == "not learned":
            continue
        usual = sculpture.task if len(found) == 1 else f"seed {sculpture.seed}"
        name = file.stem if usual in drawn else usual
        try:
            drawn[name], outputs[name] = sculpture.hierarchy, sculpture.output_names
        except (DovetailError, ValueError) as error:
            raise FileFormatError(f"the modules of {file.name!r} cannot be found: {error}") from error
    return SculptureSource(
        path,
        {file.name: sculpture for file, sculpture in found.items()},
        drawn,
        outputs,
        _config(path / "config.json") if path.is_dir() else {},
        tuple(dict.fromkeys(map(_version, found))),
        max(0, len(files) - MOST_FILES),
        damaged,
    )


def _read_modules(_: Path, files: list[Path]) -> SculptureSource:
    return SculptureSource(files[0], {}, {files[0].name: open_hierarchy(files[0])})


_READERS: dict[Kind, tuple[str, Callable[[Path, list[Path]], Source]]] = {
    "run": ("a run", lambda path, _: open_run(path)),
    "audit": ("an audit", lambda _, files: read_audit(files[0])),
    "part": ("specialists", _read_parts),
    "sculpture": ("sculpted networks", _read_sculptures),
    "hierarchy": ("modules", _read_modules),
}
"""What each kind of thing is called, and how it is read from a path and the files that were found there."""


def _read_some(
    files: Sequence[Path], read: Callable[[Path], Read]
) -> tuple[dict[Path, Read], tuple[str, ...]]:
    """Read as many files as a page takes; refuse them if all are damaged, with the name of the first."""
    found, damaged = _read_each(files[:MOST_FILES], read)
    if not found:
        raise FileFormatError(damaged[0])
    return found, damaged


def _read_each(
    files: Iterable[Path], read: Callable[[Path], Read]
) -> tuple[dict[Path, Read], tuple[str, ...]]:
    """Return what files hold, and for each that cannot be read a sentence that names it and says why."""
    found: dict[Path, Read] = {}
    damaged = []
    for file in files:
        try:
            found[file] = read(file)
        except FileFormatError as error:
            damaged.append(str(error).replace(str(file), _short(file)))
    return found, tuple(damaged)


def _short(file: Path) -> str:
    """Return a file's name; of audits, which are all called the same, with its folder's."""
    return f"{file.parent.name}/{file.name}" if file.name == AUDIT else file.name


def _version(file: Path) -> str:
    return str(read_header(file).get("dovetail", "unknown"))


def _config(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > _LARGEST_CONFIG:
            raise ValueError("it is too large")
        content = parse(read_text(path))
    except (OSError, ValueError, FileFormatError) as error:
        raise FileFormatError(f"{path} cannot be read ({str(error)[:80]})") from None
    return content if isinstance(content, dict) else {}
