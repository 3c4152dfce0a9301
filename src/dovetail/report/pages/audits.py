"""The report on several audits: networks before and after, one with several numbers of clusters, a zoo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...cluster.corrections import benjamini_hochberg, holm
from ...cluster.null import has_failed
from ...cluster.saved_audit import SavedAudit
from ..charts_cluster import audits_chart, composition_chart
from ..page import Page
from .audit import MOST_CELLS
from .made import add_made

_LEVEL = 0.05


def audits_page(source: Sequence[tuple[str, SavedAudit]]) -> Page:
    """Return a page with audits beside each other, in columns that say the same of each."""
    checkpoints = list(dict.fromkeys(audit.checkpoint for _, audit in source))
    of = f"of {checkpoints[0]}" if len(checkpoints) == 1 else f"of {len(checkpoints)} networks"
    page = Page("How well networks fall into clusters", f"{len(source)} audits {of}, beside each other.")
    page.heading("Side by side")
    page.text(_in_words(source))
    leaving = [(name, audit.ncut / audit.k, np.array(audit.copies) / audit.k) for name, audit in source]
    page.chart(
        audits_chart([(name, own, copies.tolist()) for name, own, copies in leaving]),
        "The chance that a connection, picked at a cluster, leaves it (n-cut by number of clusters): networks, and "
        "their shuffled copies with two standard deviations.",
    )
    page.table(_table(source), _HOW_TO_READ)
    page.heading("Cluster composition by layer")
    drawn = {
        name: composition_chart(audit.composition, audit.layers)
        for name, audit in source
        if len(audit.composition) * len(audit.layers) <= MOST_CELLS
    }
    if drawn:
        page.charts(drawn, "Units of each layer in each cluster; the darker, the more of the layer.", "Audit")
    if said := [f"- {name}: {warning}" for name, audit in source for warning in audit.warnings]:
        page.heading("What makes these numbers doubtful")
        page.prose("\n".join(said))
    add_made(page, _facts(source))
    return page


_HOW_TO_READ = (
    "z: standard deviations of the copies that the n-cut is above their mean; below: more clusterable. Lower by: "
    "by what share of that mean. p: share of copies that are as clusterable. q: p corrected for there being "
    "several audits, so that of those at most 0.05 one in twenty is expected to be nothing (Benjamini and "
    "Hochberg); Holm: so that the chance that there is one such at all is 5 %. Depth: the share of what clusters "
    "tell about a unit that its layer tells already; p within: how many copies' clusters hold as well together "
    "within layers. Stable: agreement with other starts of k-means. A dash: not measured, or the clustering has "
    "failed."
)


def _table(source: Sequence[tuple[str, SavedAudit]]) -> Any:
    import pandas as pd

    sound = [not has_failed(audit.ncut, audit.eigenvalues) for _, audit in source]
    p_values = [
        audit.null.p_value if ok else float("nan") for (_, audit), ok in zip(source, sound, strict=True)
    ]
    rows = [
        {
            "audit": name, "k": audit.k, "units": sum(size for _, size in audit.layers), "n-cut": audit.ncut,
            "copies": audit.null.mean, "sd": audit.null.std, "z": audit.null.z_score if ok else None,
            "lower by": audit.null.lower_by if ok else None, "p": p, "q": q, "Holm": adjusted,
            "depth": audit.depth_share, "p within": audit.depth_p_value, "stable": audit.agreement,
        }
        for (name, audit), ok, p, q, adjusted in zip(
            source, sound, p_values, benjamini_hochberg(p_values), holm(p_values), strict=True
        )
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _in_words(source: Sequence[tuple[str, SavedAudit]]) -> str:
    """Say how many stand out, corrected for being several."""
    table = _table(source)
    found = [name for name, q in zip(table["audit"], table["q"], strict=True) if q <= _LEVEL]
    if not found:
        return "None is more clusterable than its shuffled copies once p is corrected for there being several audits."
    return (
        f"{len(found)} of {len(source)} are more clusterable than their shuffled copies, with p corrected for there "
        f"being several audits: {', '.join(found)}."
    )


def _facts(source: Sequence[tuple[str, SavedAudit]]) -> dict[str, Any]:
    """Return what was the same for all, and say of the rest that it was not."""
    facts: dict[str, Any] = {}
    for name in ("checkpoint", "weights", "method", "shuffle", "seed"):
        given = [audit.settings[name] for _, audit in source]
        facts[name] = "; ".join(dict.fromkeys(str(value) for value in given if value is not None)) or None
    copies = {len(audit.copies) for _, audit in source}
    facts["shuffled copies"] = " or ".join(map(str, sorted(copies)))
    for name in ("hardware", "dovetail", "torch", "python"):
        known = [str(audit.made[name]) for _, audit in source if name in audit.made]
        facts[name] = "; ".join(dict.fromkeys(known)) or None
    return facts
