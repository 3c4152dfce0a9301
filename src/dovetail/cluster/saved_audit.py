"""Saved audits: what the ``audit.json`` holds that ``dovetail audit -o FOLDER`` and the studio write."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic import AliasPath, BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeInt, PositiveInt

from ..errors import FileFormatError
from ..io.fields import parse, read_as, refuse_newer, take
from ..io.plain import read_text
from ..markup import matrix_html, text_html
from ..result import Result
from .audit import SCHEMA
from .lesions import SCHEMA as LESIONS_SCHEMA
from .null import Null, verdict

if TYPE_CHECKING:
    import pandas as pd


class AuditedLayer(NamedTuple):
    """Name and size of a layer."""

    name: str
    size: NonNegativeInt


def _in(*path: str, **options: Any) -> Any:
    """Return a field that stands deeper in the file: among what the audit found, or elsewhere."""
    return Field(validation_alias=AliasPath(*path), **options)


class SavedAudit(Result, BaseModel):
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
    depth_share, depth_p_value : float, optional
        How far clusters are bands of layers, and what they are within layers; see `Depth`.
    warnings : list of str
        What makes the numbers doubtful.
    layers_read : list of str, optional
        Which weights were read as layers, where they came from a file.
    sorted_by_name : bool
        Whether these were put in order by their names.
    lesions : list of dict
        What became of the network without each cluster; empty where that was not measured.
    made : dict
        Versions, hardware and time; empty for audits of earlier versions.
    content : dict
        All that the file holds.
    """

    model_config = ConfigDict(frozen=True)

    checkpoint: str = "a network"
    ncut: FiniteFloat = _in("clusterability", "ncut")
    copies: list[FiniteFloat] = _in("clusterability", "null")
    k: PositiveInt = _in("clusterability", "k")
    composition: list[list[NonNegativeInt]] = _in("clusterability", "composition")
    layers: list[AuditedLayer] = _in("clusterability", "groups", min_length=1)
    components: NonNegativeInt = _in("clusterability", "components")
    eigenvalues: list[FiniteFloat] = _in("clusterability", "eigenvalues")
    ncuts: list[FiniteFloat] = _in("clusterability", "stability", "ncuts")
    agreement: FiniteFloat | None = _in("clusterability", "stability", "agreement", default=None)
    depth_share: FiniteFloat | None = _in("clusterability", "depth", "share", default=None)
    depth_p_value: FiniteFloat | None = _in("clusterability", "depth", "p_value", default=None)
    warnings: list[str] = _in("clusterability", "warnings")
    layers_read: list[str] | None = None
    sorted_by_name: bool = False
    lesions: list[dict[str, Any]] = _in("lesions", "clusters", default=[])
    made: dict[str, Any] = {}
    content: dict[str, Any] = {}

    @property
    def settings(self) -> dict[str, Any]:
        """How it was made."""
        found = self.content["clusterability"]
        return {
            **{name: self.content.get(name) for name in ("checkpoint", "weights", "layers_read")},
            **{name: found.get(name) for name in ("method", "k", "shuffle", "seed", "components")},
        }

    @property
    def measured(self) -> dict[str, Any]:
        """What the lesions were measured on; empty where they were not."""
        names = ("data", "samples", "accuracy", "classes", "assumed", "seed") if self.lesions else ()
        return {name: self.content["lesions"].get(name) for name in names}

    @property
    def null(self) -> Null:
        """The n-cut beside those of shuffled copies."""
        return Null(self.ncut, np.array(self.copies, dtype=np.float64))

    @property
    def verdict(self) -> str:
        """What the numbers say, in words."""
        return verdict(self.null, self.k, self.eigenvalues)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each cluster: how many units of each layer it has."""
        import pandas as pd

        names = [layer.name for layer in self.layers]
        return pd.DataFrame(self.composition, pd.RangeIndex(self.k, name="cluster"), names)

    def to_dict(self) -> dict[str, object]:
        """Return all that the file holds."""
        return self.content

    def _html_pieces(self) -> Iterable[str]:
        yield text_html(f"{self!r}\n{self.verdict}")
        yield matrix_html(self.to_frame())
        yield text_html("\n".join(f"warning: {warning}" for warning in self.warnings))

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
        return audit_of(parse(read_text(path)))
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
    writer, lesions = (
        {} if content.get(name) is None else take(content, name, dict) for name in ("made", "lesions")
    )
    refuse_newer({**writer, **found}, SCHEMA)
    refuse_newer({**writer, **lesions}, LESIONS_SCHEMA)
    if found.get("schema") != SCHEMA:
        raise FileFormatError(f"its schema is {found.get('schema')!r:.40}, not {SCHEMA!r}")
    audit = read_as(SavedAudit, json.dumps(content))
    shape = {(audit.k, len(audit.layers))}
    if {(len(audit.composition), len(row)) for row in audit.composition} != shape:
        raise FileFormatError("its composition is not that of its clusters and layers")
    return audit.model_copy(update={"content": content})
