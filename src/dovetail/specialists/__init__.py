"""Sparse networks that know some classes and leave all others open, and that compose by adding their weights.

`train_specialists` makes them; `Specialist` and `Composite` are what one works with; `compose` puts together,
`open_file` reads back. Under it: `objectives` (the losses), `rounds` (pruning with rewinding), `layouts` (slots),
`merge` (ways to merge, pure functions), `fitting` (what fits), `files` (the format), `score` (what is measured).
"""

from .audit import DropAudit, audit_drop
from .basis import Basis
from .class_sets import disjoint_pairs
from .compatibility import Compatibility, compatibility
from .compose import compose
from .composite import Composite
from .connectivity import Connectivity, connectivity, incremental_connectivity
from .files import open_file
from .merge import add_weights, mix_logits, scale_weights, ties_weights
from .merge_curve import MergeCurve, merge_curve
from .networks import evaluate_all
from .objectives import max_entropy, quasi_max_entropy, rewarded_cross_entropy
from .part import Part
from .probe import hidden_activations, probe_accuracy
from .score import Score
from .specialist import Record, Specialist
from .statistics import Welch, summary, welch
from .team import Team
from .train import train_specialists

__all__ = [
    "Basis",
    "Compatibility",
    "Composite",
    "Connectivity",
    "DropAudit",
    "MergeCurve",
    "Part",
    "Record",
    "Score",
    "Specialist",
    "Team",
    "Welch",
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
    "summary",
    "ties_weights",
    "train_specialists",
    "welch",
]
