"""Files and folders that Dovetail has written, opened by what they say about themselves (`dovetail.open`)."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Literal, TypeVar, overload

from .cluster.audit import SCHEMA as AUDIT_SCHEMA
from .cluster.audit_folder import FILE as AUDIT
from .cluster.saved_audit import SavedAudit, read_audit
from .data.preparation.features import FrozenTrunk
from .engine import Run
from .engine.results_file import NAME as RESULTS
from .engine.results_file import read_results
from .engine.run_folder import CONFIG, ODD_ROW, read_config, units_beside
from .errors import FileFormatError, SpecError
from .io.checkpoint import is_safetensors
from .io.header import read_header
from .io.plain import open_plain, read_text
from .nets.own import Build, check_build, trusted
from .recipes import find_recipe, finished_units
from .recipes.recipe import check_scale
from .sculpting import Hierarchy, Sculpture, open_sculpture
from .sculpting.modules.hierarchy_json import SCHEMA as HIERARCHY_SCHEMA
from .sculpting.sculpture import SCHEMA as SCULPTURE_SCHEMA
from .specialists import Composite, Part, Specialist, Sums
from .specialists.closed_form.manifest import SCHEMA as SUMS_SCHEMA
from .specialists.files import open_part
from .specialists.manifest import READ as PART_SCHEMAS

Saved = Specialist | Composite | Sums | Sculpture | Hierarchy | SavedAudit | Run
"""Whatever a file or folder of ours may hold."""
Kind = Literal["part", "sums", "sculpture", "hierarchy", "audit", "run"]
"""A part is a specialist or composite, a hierarchy the modules of a network as JSON."""
Wanted = TypeVar("Wanted")

_HIERARCHY_STARTS, _AUDIT_STARTS = 200, 100_000
"""Characters of a JSON file within which it says what it is."""
_MOST_NAMED = 3


@overload
def open_saved(
    path: str | Path,
    *,
    trunk: FrozenTrunk | None = None,
    build: Build | None = None,
    trust: Collection[str] = (),
) -> Saved: ...
@overload
def open_saved(
    path: str | Path,
    kind: type[Wanted],
    *,
    trunk: FrozenTrunk | None = None,
    build: Build | None = None,
    trust: Collection[str] = (),
) -> Wanted: ...
def open_saved(
    path: str | Path,
    kind: type[Wanted] | None = None,
    *,
    trunk: FrozenTrunk | None = None,
    build: Build | None = None,
    trust: Collection[str] = (),
) -> Saved | Wanted:
    """Open a file or folder that Dovetail has written.

    Parameters
    ----------
    path : path
        A specialist, a composite, sums or a sculpture (``.safetensors``), the modules of a network (``.json``), a saved
        audit (``audit.json`` or its folder), or the folder of a run.
    kind : type, optional
        What it has to be, such as ``dovetail.Composite``; whatever it is by default.
    trunk : Trunk, optional
        The trunk that a specialist or composite stands on, so that it takes raw samples.
    build : callable, optional
        What makes the network of a specialist or composite, if it is one of your own: the class or function that it was
        trained with.
    trust : collection of str
        Packages (or the name of one) from which such networks may be imported because a file names them; nothing is
        imported on a file's word alone.

    Returns
    -------
    Specialist, Composite, Sums, Sculpture, Hierarchy, SavedAudit or Run
        What is there. Nothing in a file is run, and a run's folder is not touched.

    Raises
    ------
    FileFormatError
        When there is nothing, or it is foreign, damaged, cut short, of a newer version, or not of the kind that is
        wanted.

    Examples
    --------
    >>> import tempfile, dovetail as dt
    >>> (three,) = dt.train_specialists(dt.load("digits"), "mlp:16", [3], epochs=1, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dt.open(three.save(f"{folder}/three.safetensors")) == three
    True
    """
    if not isinstance(path, str | os.PathLike):
        raise SpecError(f"path is that of a file or folder that Dovetail has written; got {path!r:.80}")
    path = Path(path)
    check_build(build)
    trust = trusted(trust)
    found: Saved
    match kind_of(path):
        case "part" | "sums":
            found = open_part(path, build=build, trust=trust)
        case "sculpture":
            found = open_sculpture(path)
        case "hierarchy":
            found = open_hierarchy(path)
        case "audit":
            found = read_audit(path / AUDIT if path.is_dir() else path)
        case "run":
            found = open_run(path)
        case None:
            raise FileFormatError(_foreign(path))
    if kind is not None and not isinstance(found, kind):
        raise FileFormatError(f"{path} holds a {type(found).__name__}, not a {kind.__name__}")
    if trunk is not None:
        if not isinstance(found, Part):
            raise SpecError(
                f"{path} holds a {type(found).__name__}, which stands on no trunk; leave trunk out"
            )
        return found.with_trunk(trunk)
    return found


def kind_of(path: Path) -> Kind | None:
    """Return what there is at a path, by its first bytes; None for what is not ours or does not say so.

    Raises
    ------
    FileFormatError
        When there is nothing, it cannot be read, is cut short, or needs a newer version.
    """
    try:
        if not path.exists():
            raise FileFormatError(f"there is no file or folder {str(path)!r}")
        if path.is_dir():
            return "run" if (path / CONFIG).is_file() else "audit" if (path / AUDIT).is_file() else None
        if path.suffix == ".safetensors" or is_safetensors(path):
            schema = read_header(path).get("schema")
            if schema in PART_SCHEMAS:
                return "part"
            return "sums" if schema == SUMS_SCHEMA else "sculpture" if schema == SCULPTURE_SCHEMA else None
        with open_plain(path, "r") as file:
            start = file.read(_HIERARCHY_STARTS)
            if _family(HIERARCHY_SCHEMA) in start:
                return "hierarchy"
            if path.name == AUDIT or _family(AUDIT_SCHEMA) in start + file.read(_AUDIT_STARTS):
                return "audit"
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError:
        pass
    return None


def _family(schema: str) -> str:
    """Return what files of one kind say of any version, so that newer ones are known as what they are."""
    return f'"{schema.rstrip("0123456789")}'


def open_hierarchy(path: Path) -> Hierarchy:
    """Read the modules of a network from a JSON file."""
    try:
        return Hierarchy.from_json(read_text(path))
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"cannot read {path}: {error}") from error
    except FileFormatError as error:
        raise FileFormatError(f"{path} cannot be used: {error}") from None


def open_run(path: Path) -> Run:
    """Read a run's folder without touching it, also while the run goes on.

    Units that runs beside it have finished count too, as they do for the run itself.

    Raises
    ------
    DovetailError
        When its files are damaged, or the recipe is not known here.
    """
    config = read_config(path)
    recipe, scale = find_recipe(str(config.get("recipe"))), str(config.get("scale"))
    check_scale(scale)
    units = recipe.units(scale)  # type: ignore[arg-type]
    kept = units_beside(path) | read_results(path / RESULTS)
    finished = finished_units(units, kept)
    run = Run(recipe, scale, path, finished)  # type: ignore[arg-type]
    try:
        run.tables  # noqa: B018 (made once and kept; a damaged result shows here)
    except ODD_ROW as error:
        raise FileFormatError(
            f"results in {path / RESULTS} are not what the recipe {recipe.name} writes "
            f"({type(error).__name__}: {error})"
        ) from error
    return run


def _foreign(path: Path) -> str:
    """Say what to do with what is not ours, or not a thing of its own."""
    if path.is_dir():
        files = sorted(file.name for file in path.glob("*.safetensors"))
        if not files:
            return f"{path} is a folder, of neither a run nor an audit; name a file"
        more = ", ..." if len(files) > _MOST_NAMED else ""
        return f"{path} is a folder; name a file in it: {', '.join(files[:_MOST_NAMED])}{more}"
    if path.name in (CONFIG, RESULTS, "config.json"):
        return f"{path} is of a run, or of networks sculpted together; see all of it: dovetail report {path.parent}"
    return (
        f"{path} is no file that dovetail wrote, or is damaged; weights of other programs are for dovetail audit and "
        "dovetail modules"
    )
