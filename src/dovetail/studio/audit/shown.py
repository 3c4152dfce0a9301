"""What the audit view shows: of one that is running, of one that has ended, and of one that was saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...cluster.null import Null
from ...cluster.saved_audit import audit_of
from ...cluster.source import chain_text
from ...errors import FileFormatError
from ...io.fields import nan_to_null
from ...report.chart_frame import chart_content
from ...report.charts_cluster import audits_chart, composition_chart, null_chart, says_p


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


def audits_shown(contents: Sequence[tuple[str, object]]) -> dict[str, Any]:
    """Return what to show of several audits side by side, from what their files hold; each has a name.

    N-cuts are divided by the number of clusters, as those of more clusters are larger.

    Raises
    ------
    FileFormatError
        When one of them is no audit's.
    """
    try:
        audits = [(name, audit_of(content)) for name, content in contents]
    except FileFormatError as error:
        raise FileFormatError(f"one of these is no audit: {error}; leave it out, or audit again") from error
    rows = [
        {
            "name": name, "file": audit.checkpoint, "k": audit.k,
            **{key: audit.settings[key] for key in ("shuffle", "seed", "method")},
            "ncut": audit.ncut, "mean": audit.null.mean, "std": audit.null.std, "z_score": audit.null.z_score,
            "p_value": audit.null.p_value, "copies": len(audit.copies), "components": audit.components,
            "agreement": audit.agreement, "units": sum(sum(row) for row in audit.composition),
            "verdict": audit.verdict,
        }
        for name, audit in audits
    ]  # fmt: skip
    chart = audits_chart(
        [(name, one.ncut / one.k, (one.null.copies / one.k).tolist()) for name, one in audits]
    )
    return {"audits": [nan_to_null(row) for row in rows], "chart": chart_content(chart)}


def null_shown(null: Null, wanted: int) -> dict[str, Any]:
    """Return what to show of a null, which may not have all of its copies yet."""
    enough = says_p(len(null.copies), wanted)
    numbers = {
        "ncut": null.ncut, "mean": null.mean, "std": null.std,
        "p_value": null.p_value if enough else None, "z_score": null.z_score if enough else None,
    }  # fmt: skip
    return {
        "numbers": nan_to_null(numbers),
        "copies": len(null.copies),
        "wanted": wanted,
        "null": chart_content(null_chart(null.ncut, null.copies.tolist(), wanted)),
    }
