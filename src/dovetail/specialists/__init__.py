"""Sparse networks that know some classes and leave all others open, and that compose by adding their weights.

`train_specialists` makes them; `Specialist` and `Composite` are what one works with; `compose` puts together, `open_file`
reads back. Under it: `objectives` (the losses), `rounds` (pruning with rewinding), `layouts` (slots), `merge` (ways to
merge, pure functions), `fitting` (what fits), `files` (the format), `score` (what is measured).
"""

from .basis import Basis
from .class_sets import disjoint_pairs
from .compatibility import Compatibility, compatibility
from .composite import Composite, compose
from .merge import add_weights, mix_logits, scale_weights, ties_weights
from .networks import evaluate_all
from .objectives import max_entropy, quasi_max_entropy, rewarded_cross_entropy
from .part import Part
from .score import Score
from .specialist import Record, Specialist
from .team import Team
from .train import train_specialists

__all__ = [
    "Basis",
    "Compatibility",
    "Composite",
    "Part",
    "Record",
    "Score",
    "Specialist",
    "Team",
    "add_weights",
    "compatibility",
    "compose",
    "disjoint_pairs",
    "evaluate_all",
    "max_entropy",
    "mix_logits",
    "quasi_max_entropy",
    "rewarded_cross_entropy",
    "scale_weights",
    "ties_weights",
    "train_specialists",
]
