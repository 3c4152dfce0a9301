"""Rules for operations: what each does to the units that its operands carry, one rule for each name.

=================  =========================================================================================
`layers`           what has weights and makes new units, and the norms that are folded into such layers
`embeddings`       tokens, which are units of their own
`attention`        products of two tensors that both depend on the input
`recurrent`        layers that read their own outputs
`elementwise`      entry by entry: units stay what they are, and those that meet become one
`places`           pooling, resizing and reductions: over the places of a feature map
`shaping`          what only moves entries, joins tensors, or writes some into others
=================  =========================================================================================

To follow another operation, write ``rule(follower, call)`` in the file of its kind: it looks up with
`Follower.carried` what the operands carry, and says with `Follower.keep` what the results carry, or raises
`Follower.refusal`. Enter it under the operation's name in the dictionary at the end of that file; the name is what
`trace.one_word` makes of the function, and stands in the message that refuses an operation without a rule.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch

from ..follow import Carried, Follower
from ..layers import NO_UNIT, Reading
from ..trace import Call, Trace, Value
from .attention import ATTENTION_RULES
from .elementwise import ELEMENTWISE_RULES
from .embeddings import EMBEDDING_RULES
from .layers import LAYER_RULES
from .places import PLACE_RULES
from .recurrent import RECURRENT_RULES
from .shaping import SHAPING_RULES

RULES: dict[str, Callable[[Follower, Call], None]] = {
    **ELEMENTWISE_RULES,
    **LAYER_RULES,
    **EMBEDDING_RULES,
    **ATTENTION_RULES,
    **RECURRENT_RULES,
    **PLACE_RULES,
    **SHAPING_RULES,
}


def follow(trace: Trace) -> Reading:
    """Return the layers and units of a traced network."""
    follower = Follower(trace)
    for call in trace.calls:
        apply(follower, call)
    for output in trace.outputs:
        if follower.knows(output) and follower.carried(output).factor is not None:
            warnings.warn(
                f"{_scaled_by(follower, output).place}: this scales outputs of the network that no layer alone makes, "
                "so its scale is in no weight of the graph",
                stacklevel=2,
            )
    return Reading(follower.layers, follower.units, follower.heads)


def apply(follower: Follower, call: Call) -> None:
    """Follow one call: enter what its results carry, and the layers that it adds."""
    rule, before = RULES.get(call.name), len(follower.layers)
    known = all(follower.knows(value) for value in call.operands)
    if known and call.name not in EMBEDDING_RULES and all(map(follower.is_constant, call.operands)):
        # What is made of constants alone, such as the mask of padded tokens, is one.
        for value in call.results:
            follower.keep(value, Carried(torch.tensor(NO_UNIT).expand(value.shape)))
    elif rule is None or not known:
        raise follower.refusal(call)
    else:
        rule(follower, call)
    follower.note_sources(call, before)


def _scaled_by(follower: Follower, value: Value) -> Call:
    """Return the norm, or the product with a constant, that has left a value with a factor."""
    made_by = {result.index: call for call in follower.trace.calls for result in call.results}
    while True:
        call = made_by[value.index]
        scaled = [operand for operand in call.operands if follower.carried(operand).factor is not None]
        if not scaled:
            return call
        value = scaled[0]
