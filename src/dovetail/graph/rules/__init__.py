"""What each operation does to the units that its operands carry: one rule for each name."""

from __future__ import annotations

from collections.abc import Callable

from ..follow import Follower
from ..layers import Reading
from ..trace import Call, Trace
from .elementwise import ELEMENTWISE_RULES
from .layers import LAYER_RULES, NORMALISE_RULES
from .places import PLACE_RULES
from .shaping import SHAPING_RULES

_RULES: dict[str, Callable[[Follower, Call], None]] = {
    **ELEMENTWISE_RULES,
    **LAYER_RULES,
    **NORMALISE_RULES,
    **PLACE_RULES,
    **SHAPING_RULES,
}


def follow(trace: Trace) -> Reading:
    """Return the layers and units of a traced network."""
    follower = Follower(trace)
    for call in trace.calls:
        rule = _RULES.get(call.name)
        if rule is None or not all(follower.knows(value) for value in call.operands):
            raise follower.refusal(call)
        rule(follower, call)
    return Reading(follower.layers, follower.units)
