"""Sparse networks that know some classes and leave all others open, and that compose by adding their weights.

`train_specialists` makes them; `Specialist` and `Composite`, the two kinds of `Part`, are what one works with;
`compose` puts together, `open_file` reads back. From the bottom up: `blueprint` (what parts share), `merge` (ways to
merge, pure functions), `evaluate` (the one path that scores), `part` (specialists, composites and adding them), then
what is made of them: `compose`, `files`, `train`, and the measures `compatibility`, `connectivity`, `merge_curve` and
`audit`.
"""

from .audit import DropAudit, audit_drop, hidden_activations, probe_accuracy
from .blueprint import Blueprint
from .class_sets import disjoint_pairs
from .compatibility import Compatibility, compatibility
from .compose import compose
from .connectivity import Connectivity, connectivity, incremental_connectivity
from .evaluate import Score, evaluate_all
from .files import open_file
from .manifest import Provenance
from .merge import add_weights, mix_logits, scale_weights, ties_weights
from .merge_curve import MergeCurve, merge_curve
from .objectives import max_entropy, quasi_max_entropy, rewarded_cross_entropy
from .part import Composite, Part, Specialist
from .train import Team, train_specialists

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
