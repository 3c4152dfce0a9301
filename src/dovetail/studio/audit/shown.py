"""What the audit view shows: of one that is running, of one that has ended, and of one that was saved."""

from __future__ import annotations

from typing import Any

from ...cluster.null import Null
from ...cluster.saved_audit import audit_of
from ...cluster.source import chain_text
from ...errors import FileFormatError
from ...io.fields import nan_to_null
from ...report.chart_frame import chart_content
from ...report.charts_cluster import composition_chart, null_chart


def audit_shown(content: object) -> dict[str, Any]:
    """Return what to show of an audit, from what its ``audit.json`` holds.

    Raises
    ------
    FileFormatError
        When it is no audit's.
    """
    try:
        audit = audit_of(content)
    except FileFormatError as error:
        raise FileFormatError(f"this is no audit: {error}; audit the network again") from error
    layers = audit.layers_read and chain_text(audit.layers_read, sorted_by_name=audit.sorted_by_name)
    return {
        **null_shown(audit.null, len(audit.copies)),
        "file": audit.checkpoint,
        "settings": {name: audit.settings[name] for name in ("k", "shuffle", "seed", "method")},
        "verdict": audit.verdict,
        "layers": layers,
        "components": audit.components,
        "doubts": audit.warnings,
        "stability": {"ncuts": audit.ncuts, "agreement": audit.agreement},
        "sizes": [sum(row) for row in audit.composition],
        "composition": chart_content(composition_chart(audit.composition, audit.layers)),
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
