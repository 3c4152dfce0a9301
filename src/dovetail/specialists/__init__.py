"""Sparse networks that know some classes and leave all others open, and that compose by adding their weights.

`train_specialists` makes them; `Specialist` and `Composite`, the two kinds of `Part`, are what one works with;
`compose` puts together, `open_file` reads back. From the bottom up: `blueprint` (what parts share), `merge` (ways to
merge, pure functions), `evaluate` (the one path that scores), `part` (specialists, composites and adding them), then
what is made of them: `composing`, `files`, `train`, and the measures `paths`, `curve` and `audit`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .audit import DropAudit, audit_drop, hidden_activations, probe_accuracy
    from .blueprint import Blueprint
    from .class_sets import disjoint_pairs
    from .composing import Compatibility, compatibility, compose
    from .curve import MergeCurve, merge_curve
    from .evaluate import Score, evaluate_all
    from .files import open_file
    from .manifest import Provenance
    from .merge import add_weights, mix_logits, scale_weights, ties_weights
    from .objectives import max_entropy, quasi_max_entropy, rewarded_cross_entropy
    from .part import Composite, Part, Specialist
    from .paths import Connectivity, connectivity, incremental_connectivity
    from .settings import TrainingSettings
    from .train import Team, train_specialists

# Imported when first asked for: the command line reads `settings` at every start, and needs no torch for that.
_MODULES = {
    "Blueprint": "blueprint",
    "Compatibility": "composing",
    "Composite": "part",
    "Connectivity": "paths",
    "DropAudit": "audit",
    "MergeCurve": "curve",
    "Part": "part",
    "Provenance": "manifest",
    "Score": "evaluate",
    "Specialist": "part",
    "Team": "train",
    "TrainingSettings": "settings",
    "add_weights": "merge",
    "audit_drop": "audit",
    "compatibility": "composing",
    "compose": "composing",
    "connectivity": "paths",
    "disjoint_pairs": "class_sets",
    "evaluate_all": "evaluate",
    "hidden_activations": "audit",
    "incremental_connectivity": "paths",
    "max_entropy": "objectives",
    "merge_curve": "curve",
    "mix_logits": "merge",
    "open_file": "files",
    "probe_accuracy": "audit",
    "quasi_max_entropy": "objectives",
    "rewarded_cross_entropy": "objectives",
    "scale_weights": "merge",
    "ties_weights": "merge",
    "train_specialists": "train",
}

__all__ = [
    "Blueprint",
    "Compatibility",
    "Composite",
    "Connectivity",
    "DropAudit",
    "MergeCurve",
    "Part",
    "Provenance",
    "Score",
    "Specialist",
    "Team",
    "TrainingSettings",
    "add_weights",
    "audit_drop",
    "compatibility",
    "compose",
    "connectivity",
    "disjoint_pairs",
    "evaluate_all",
    "hidden_activations",
    "incremental_connectivity",
    "max_entropy",
    "merge_curve",
    "mix_logits",
    "open_file",
    "probe_accuracy",
    "quasi_max_entropy",
    "rewarded_cross_entropy",
    "scale_weights",
    "ties_weights",
    "train_specialists",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
