"""Sparse networks that know some classes and leave all others open, and that compose by adding their weights.

`train_specialists` makes them; `Specialist` and `Composite`, the two kinds of `Part`, are what one works with;
`compose` puts together, `open_file` reads back; `add_class` and `introduce` are for classes that come later. From the
bottom up: `blueprint` (what parts share), `merge` (ways to merge, pure functions), `class_lists` and `side_by_side`
(joining by name), `evaluate` (the one path that scores), `cards` (what classes leave behind), `answers` and `threshold`
(what a part says, and when it does not), `part`, `composite` and `specialist`, then what is made of them: `composing`,
`files`, `train`, `converting`, `growth` and `introduction`, and the measures `paths`, `curve` and `audit`.
`closed_form` has parts of another kind, which are not trained: `sums`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .adding import add_class
    from .answers import Answers
    from .audit import (
        DropAudit,
        MembershipAttack,
        Relearning,
        audit_drop,
        hidden_activations,
        membership_attack,
        probe_accuracy,
        relearn,
    )
    from .blueprint import Blueprint
    from .cards import Card
    from .class_lists import UNDECIDED
    from .class_sets import disjoint_pairs
    from .closed_form.certificate import Certificate, certify
    from .closed_form.combined import Combined, combine
    from .closed_form.making import sums
    from .closed_form.sums import Sums
    from .composing import Compatibility, compatibility, compose
    from .composite import Composite
    from .converting import as_part
    from .curve import MergeCurve, merge_curve
    from .data_for import data_beside
    from .evaluate import Score, evaluate_all
    from .files import open_file
    from .introduction import introduce
    from .manifest import Provenance
    from .merge import add_weights, mix_logits, scale_weights, ties_weights
    from .objectives import max_entropy, quasi_max_entropy, rewarded_cross_entropy
    from .part import Part
    from .paths import Connectivity, connectivity, incremental_connectivity
    from .private_cards import private_cards
    from .settings import TrainingSettings
    from .specialist import Specialist
    from .team import Team
    from .threshold import Threshold
    from .train import train_specialists

__all__ = [
    "UNDECIDED",
    "Answers",
    "Blueprint",
    "Card",
    "Certificate",
    "Combined",
    "Compatibility",
    "Composite",
    "Connectivity",
    "DropAudit",
    "MembershipAttack",
    "MergeCurve",
    "Part",
    "Provenance",
    "Relearning",
    "Score",
    "Specialist",
    "Sums",
    "Team",
    "Threshold",
    "TrainingSettings",
    "add_class",
    "add_weights",
    "as_part",
    "audit_drop",
    "certify",
    "combine",
    "compatibility",
    "compose",
    "connectivity",
    "data_beside",
    "disjoint_pairs",
    "evaluate_all",
    "hidden_activations",
    "incremental_connectivity",
    "introduce",
    "max_entropy",
    "membership_attack",
    "merge_curve",
    "mix_logits",
    "open_file",
    "private_cards",
    "probe_accuracy",
    "quasi_max_entropy",
    "relearn",
    "rewarded_cross_entropy",
    "scale_weights",
    "sums",
    "ties_weights",
    "train_specialists",
]

# The command line reads `settings` at every start, and needs no torch for that.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "adding": ["add_class"],
        "answers": ["Answers"],
        "audit": [
            "DropAudit",
            "MembershipAttack",
            "Relearning",
            "audit_drop",
            "hidden_activations",
            "membership_attack",
            "probe_accuracy",
            "relearn",
        ],
        "blueprint": ["Blueprint"],
        "cards": ["Card"],
        "class_lists": ["UNDECIDED"],
        "class_sets": ["disjoint_pairs"],
        "closed_form.certificate": ["Certificate", "certify"],
        "closed_form.combined": ["Combined", "combine"],
        "closed_form.making": ["sums"],
        "closed_form.sums": ["Sums"],
        "composing": ["Compatibility", "compatibility", "compose"],
        "composite": ["Composite"],
        "converting": ["as_part"],
        "curve": ["MergeCurve", "merge_curve"],
        "data_for": ["data_beside"],
        "evaluate": ["Score", "evaluate_all"],
        "files": ["open_file"],
        "introduction": ["introduce"],
        "manifest": ["Provenance"],
        "merge": ["add_weights", "mix_logits", "scale_weights", "ties_weights"],
        "objectives": ["max_entropy", "quasi_max_entropy", "rewarded_cross_entropy"],
        "part": ["Part"],
        "private_cards": ["private_cards"],
        "specialist": ["Specialist"],
        "paths": ["Connectivity", "connectivity", "incremental_connectivity"],
        "settings": ["TrainingSettings"],
        "threshold": ["Threshold"],
        "team": ["Team"],
        "train": ["train_specialists"],
    },
)
