"""An audit: the ``audit.json`` that ``dovetail audit -o FOLDER`` writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...cluster.audit_folder import FILE
from ...cluster.clusterability import SCHEMA
from ...cluster.lesion import SCHEMA as LESIONS_SCHEMA
from ...errors import FileFormatError
from ...io.fields import number, parse, refuse_newer, take, whole


@dataclass(frozen=True)
class AuditSource:
    """What an audit found, as its file has it.

    Attributes
    ----------
    path : Path
        The file.
    checkpoint : str
        What was audited.
    ncut : float
        Of the network.
    copies : list of float
        N-cuts of shuffled copies.
    k : int
        Number of clusters.
    composition : list of list of int
        Units by cluster and layer.
    layers : list of (str, int)
        Name and size of each layer.
    agreement : float, optional
        How much the clusters of other seeds are the same.
    warnings : list of str
        What makes the numbers doubtful.
    settings : dict
        How it was made.
    lesions : list of dict
        What became of the network without each cluster; empty where that was not measured.
    measured : dict
        What the lesions were measured on.
    made : dict
        Versions, hardware and time; empty for audits of earlier versions.
    """

    path: Path
    checkpoint: str
    ncut: float
    copies: list[float]
    k: int
    composition: list[list[int]]
    layers: list[tuple[str, int]]
    agreement: float | None
    warnings: list[str]
    settings: dict[str, object]
    lesions: list[dict[str, object]]
    measured: dict[str, object]
    made: dict[str, object]


def audit_file(path: Path) -> Path | None:
    """Return the file of an audit, if that is what a path is."""
    if path.is_dir():
        path = path / FILE
    return path if path.name == FILE and path.is_file() else None


def read_audit(path: Path) -> AuditSource:
    """Read the file of an audit.

    Raises
    ------
    FileFormatError
        When it is damaged, or not an audit's.
    """
    try:
        return _read(path, parse(path.read_text("utf-8")))
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, FileFormatError) as error:
        raise FileFormatError(f"{path} is not what dovetail audit writes: {error}") from None


def _read(path: Path, content: object) -> AuditSource:
    if not isinstance(content, dict):
        raise FileFormatError("it is not a JSON object")
    found = take(content, "clusterability", dict)
    made = content.get("made")
    made = made if isinstance(made, dict) else {}
    refuse_newer({**made, **found}, SCHEMA)
    if found.get("schema") != SCHEMA:
        raise FileFormatError(f"its schema is {found.get('schema')!r:.40}, not {SCHEMA!r}")
    layers = [(take(group, "name", str), whole(group.get("size"))) for group in _objects(found, "groups")]
    k = whole(found.get("k"))
    rows = take(found, "composition", list, k)
    agreement = take(found, "stability", dict).get("agreement")
    lesions = content.get("lesions")
    lesions = lesions if isinstance(lesions, dict) else {}
    refuse_newer({**made, **lesions}, LESIONS_SCHEMA)
    return AuditSource(
        path,
        str(content.get("checkpoint", "a network")),
        number(found.get("ncut")),
        [number(value) for value in take(found, "null", list)],
        k,
        [[whole(count) for count in take({"row": row}, "row", list, len(layers))] for row in rows],
        layers,
        None if agreement is None else number(agreement),
        [str(warning) for warning in take(found, "warnings", list)],
        {
            **{name: content.get(name) for name in ("checkpoint", "weights", "layers_read")},
            **{name: found.get(name) for name in ("method", "k", "shuffle", "seed", "components")},
        },
        _objects(lesions, "clusters") if lesions else [],
        {
            name: lesions.get(name)
            for name in ("data", "samples", "accuracy", "classes", "assumed", "seed")
            if lesions
        },
        made,
    )


def _objects(content: dict[str, object], key: str) -> list[dict[str, object]]:
    found = take(content, key, list)
    if not all(isinstance(entry, dict) for entry in found):
        raise FileFormatError(f"its {key!r} should be a list of objects")
    return found
