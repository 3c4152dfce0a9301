"""Saved audits: what the ``audit.json`` holds that ``dovetail audit -o FOLDER`` and the studio write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import FileFormatError
from ..io.fields import number, parse, refuse_newer, take, whole
from .audit import SCHEMA
from .lesions import SCHEMA as LESIONS_SCHEMA
from .null import Null, verdict


@dataclass(frozen=True)
class SavedAudit:
    """What an audit found, as its file has it.

    Attributes
    ----------
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
    components : int
        Connected components of the network.
    eigenvalues : list of float
        The k smallest; none for communities.
    ncuts : list of float
        Of clusterings with other seeds.
    agreement : float, optional
        How much the clusters of other seeds are the same.
    warnings : list of str
        What makes the numbers doubtful.
    layers_read : list of str, optional
        Which weights were read as layers, where they came from a file.
    sorted_by_name : bool
        Whether these were put in order by their names.
    settings : dict
        How it was made.
    lesions : list of dict
        What became of the network without each cluster; empty where that was not measured.
    measured : dict
        What the lesions were measured on.
    made : dict
        Versions, hardware and time; empty for audits of earlier versions.
    content : dict
        All that the file holds.
    """

    checkpoint: str
    ncut: float
    copies: list[float]
    k: int
    composition: list[list[int]]
    layers: list[tuple[str, int]]
    components: int
    eigenvalues: list[float]
    ncuts: list[float]
    agreement: float | None
    warnings: list[str]
    layers_read: list[str] | None
    sorted_by_name: bool
    settings: dict[str, object]
    lesions: list[dict[str, object]]
    measured: dict[str, object]
    made: dict[str, object]
    content: dict[str, object]

    @property
    def null(self) -> Null:
        """The n-cut beside those of shuffled copies."""
        return Null(self.ncut, np.array(self.copies, dtype=np.float64))

    @property
    def verdict(self) -> str:
        """What the numbers say, in words."""
        return verdict(self.null, self.k, self.eigenvalues)

    def __repr__(self) -> str:
        return f"SavedAudit({self.checkpoint!r}, k={self.k}, ncut={self.ncut:.4g}, {len(self.copies)} shuffled copies)"


def read_audit(path: Path) -> SavedAudit:
    """Read the file of an audit.

    Raises
    ------
    FileFormatError
        When it is damaged, or not an audit's.
    """
    try:
        return audit_of(parse(path.read_text("utf-8")))
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, FileFormatError) as error:
        raise FileFormatError(f"{path} is not what dovetail audit writes: {error}") from None


def audit_of(content: object) -> SavedAudit:
    """Return the audit that the content of an ``audit.json`` tells of.

    Raises
    ------
    FileFormatError
        When it is no audit's.
    """
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
    if not k or not layers:
        raise FileFormatError("it has no clusters, or no layers")
    rows = take(found, "composition", list, k)
    stability = take(found, "stability", dict)
    agreement = stability.get("agreement")
    layers_read = content.get("layers_read")
    lesions = content.get("lesions")
    lesions = lesions if isinstance(lesions, dict) else {}
    refuse_newer({**made, **lesions}, LESIONS_SCHEMA)
    return SavedAudit(
        str(content.get("checkpoint", "a network")),
        number(found.get("ncut")),
        [number(value) for value in take(found, "null", list)],
        k,
        [[whole(count) for count in take({"row": row}, "row", list, len(layers))] for row in rows],
        layers,
        whole(found.get("components")),
        [number(value) for value in take(found, "eigenvalues", list)],
        [number(value) for value in take(stability, "ncuts", list)],
        None if agreement is None else number(agreement),
        [str(warning) for warning in take(found, "warnings", list)],
        [str(name) for name in layers_read] if isinstance(layers_read, list) else None,
        content.get("sorted_by_name") is True,
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
        content,
    )


def _objects(content: dict[str, object], key: str) -> list[dict[str, object]]:
    found = take(content, key, list)
    if not all(isinstance(entry, dict) for entry in found):
        raise FileFormatError(f"its {key!r} should be a list of objects")
    return found
