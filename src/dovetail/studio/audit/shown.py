"""What the audit view shows: of one that is running, of one that has ended, and of one that was saved."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import BaseModel, Field, ValidationError, model_validator

from ...cluster.null import Null, verdict
from ...cluster.source import chain_text
from ...errors import FileFormatError
from ...io.fields import nan_to_null
from ...report.chart_frame import chart_content
from ...report.charts_cluster import composition_chart, null_chart

_MOST_NODES = 10_000_000


class _Group(BaseModel):
    name: str
    size: int = Field(ge=0, le=_MOST_NODES)


class _Stability(BaseModel):
    ncuts: list[float]
    agreement: float | None


class _Clusterability(BaseModel, allow_inf_nan=False):
    """What is read of ``to_json`` of `Clusterability`."""

    k: int = Field(ge=1)
    ncut: float
    null: list[float]
    components: int
    stability: _Stability
    warnings: list[str]
    shuffle: str
    method: str
    seed: int
    groups: list[_Group] = Field(min_length=1)
    composition: list[list[int]]

    @model_validator(mode="after")
    def _check_composition(self) -> _Clusterability:
        if len(self.composition) != self.k or any(len(row) != len(self.groups) for row in self.composition):
            raise ValueError("its composition does not fit its clusters and layers")
        return self


class _Audit(BaseModel):
    """What is read of ``audit.json``."""

    checkpoint: str
    layers_read: list[str] | None = None
    sorted_by_name: bool = False
    clusterability: _Clusterability


def audit_shown(content: object) -> dict[str, Any]:
    """Return what to show of an audit, from what its ``audit.json`` holds.

    Raises
    ------
    FileFormatError
        When it is no audit's.
    """
    try:
        audit = _Audit.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise FileFormatError(
            f"this is no audit: {place or 'it'}: {first['msg']}; audit the network again"
        ) from error
    found = audit.clusterability
    null = Null(found.ncut, np.array(found.null, dtype=np.float64))
    return {
        **null_shown(null, len(found.null)),
        "file": audit.checkpoint,
        "settings": {"k": found.k, "shuffle": found.shuffle, "seed": found.seed, "method": found.method},
        "verdict": verdict(null, found.k),
        "layers": audit.layers_read and chain_text(audit.layers_read, sorted_by_name=audit.sorted_by_name),
        "components": found.components,
        "doubts": found.warnings,
        "stability": found.stability.model_dump(),
        "sizes": [sum(row) for row in found.composition],
        "composition": chart_content(
            composition_chart(found.composition, [(group.name, group.size) for group in found.groups])
        ),
    }


def null_shown(null: Null, wanted: int) -> dict[str, Any]:
    """Return what to show of a null, which may not have all of its copies yet."""
    numbers = {
        "ncut": null.ncut, "mean": null.mean, "std": null.std, "p_value": null.p_value, "z_score": null.z_score,
    }  # fmt: skip
    return {
        "numbers": nan_to_null(numbers),
        "copies": len(null.copies),
        "wanted": wanted,
        "null": chart_content(null_chart(null.ncut, null.copies.tolist(), wanted)),
    }
