"""The report on an audit."""

from __future__ import annotations

import numpy as np

from ...cluster import Null
from ...cluster.verdict import verdict
from ..page import Page
from ..sections import add_composition, add_lesions, add_made, add_null
from ..sources import AuditSource


def audit_page(source: AuditSource) -> Page:
    """Return a page with the null, the clusters by layer, what they do, and how it was measured."""
    page = Page(
        "How well a network falls into clusters",
        f"An audit of {source.checkpoint}: {sum(size for _, size in source.layers)} units in {len(source.layers)} "
        f"layers, cut into {source.k} clusters.",
    )
    said = verdict(Null(source.ncut, np.array(source.copies, dtype=np.float64)), source.k)
    if source.agreement is not None:
        said += f" With other seeds the clusters agree by {source.agreement:.2f} (1: the same clusters)."
    add_null(page, source.ncut, source.copies, said, source.warnings)
    add_composition(page, source.composition, source.layers)
    if source.lesions:
        add_lesions(page, source.lesions, source.measured)
    facts = {**_named(source.settings), "shuffled copies": len(source.copies)}
    add_made(page, {**facts, **_measured(source), **_made(source)})
    return page


def _named(settings: dict[str, object]) -> dict[str, object]:
    names = {"k": "clusters", "layers_read": "layers read", "components": "connected parts"}
    return {names.get(name, name): value for name, value in settings.items()}


def _measured(source: AuditSource) -> dict[str, object]:
    """Return what the lesions were measured on, where they were."""
    names = {"data": "lesions measured on", "classes": "classes measured", "assumed": "network assumed"}
    return {text: source.measured.get(name) for name, text in names.items()}


def _made(source: AuditSource) -> dict[str, object]:
    """Return time, hardware and versions, where the audit has them."""
    names = ("when", "seconds", "hardware", "dovetail", "torch", "python")
    return {name: source.made.get(name) for name in names}
