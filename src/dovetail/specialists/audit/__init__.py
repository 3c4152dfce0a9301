"""What is left of a class that was dropped: what is proven, what is not, and what attacks still find.

`audit_drop` puts it together (`drop`); beside it one file for each question: `retraining` (networks that never had the
class), `probes` (what hidden layers tell of it), `relearning` (how fast it is learnt again), `membership` (whether its
samples can be told to have been in training), `shadows` (an attack that learns from parts of its own), and `proven`
(what follows without measuring).
"""

from .drop import DropAudit, audit_drop
from .membership import MembershipAttack, membership_attack
from .probes import hidden_activations, probe_accuracy
from .relearning import Relearning, relearn

__all__ = [
    "DropAudit",
    "MembershipAttack",
    "Relearning",
    "audit_drop",
    "hidden_activations",
    "membership_attack",
    "probe_accuracy",
    "relearn",
]
