"""Recurrent layers: each hidden unit reads the input and, from the step before, all hidden units.

The gates of a unit are one with it, as all gates of one unit are: what they read, the unit reads. So a layer has one
node for each hidden unit, at all steps the same, and two matrices: what it reads of its input, and of itself.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..follow import Carried, Follower
from ..graph import Floats, Indices
from ..layers import MIXTURE, NO_UNIT, WeightedLayer
from ..trace import Call, Value, values_in


def _layers(follower: Follower, call: Call) -> None:
    value, hidden, weights, has_biases, count = (call.argument(place, "") for place in range(5))
    bidirectional = call.argument(7, "bidirectional")
    if not isinstance(weights, list | tuple):
        raise follower.refusal(call, "packed sequences are not followed; pass a plain batch")
    if values_in(weights):
        raise follower.refusal(call, "its weights depend on the input")
    directions = 2 if bidirectional else 1
    each = len(weights) // (count * directions)
    if each != (4 if has_biases else 2):
        raise follower.refusal(call, "projections of the hidden units are not followed")
    states = values_in(hidden)
    inputs, factor = _read(follower, call, value)
    last: list[Indices] = []
    for layer in range(count):
        made = []
        for direction in range(directions):
            place = layer * directions + direction
            to_input, to_hidden = weights[place * each : place * each + 2]
            made.append(_recurrent(follower, call, inputs, factor, to_input, to_hidden))
            for state in states:
                _start_with(follower, call, state, made[-1], place)
        last += made
        inputs, factor = np.concatenate(made), None
    output, *finals = call.results
    follower.keep(output, Carried(torch.from_numpy(inputs).expand(output.shape)))
    final = torch.from_numpy(np.stack(last))
    for state in finals:  # [layers and directions, samples, units]; of an unbatched input without samples
        shape = final if len(state.shape) == 2 else final[:, None]
        follower.keep(state, Carried(shape.expand(state.shape)))


def _cell(follower: Follower, call: Call) -> None:
    value, hidden = call.argument(0, "input"), call.argument(1, "hx")
    to_input, to_hidden = call.argument(2, "w_ih"), call.argument(3, "w_hh")
    if not all(isinstance(one, Tensor) for one in (to_input, to_hidden)):
        raise follower.refusal(call, "its weights depend on the input")
    inputs, factor = _read(follower, call, value)
    known = next((one for one in follower.layers if one.weight.data_ptr() == to_hidden.data_ptr()), None)
    if known is None:
        units = _recurrent(follower, call, inputs, factor, to_input, to_hidden)
    else:  # the next step of the same units
        units = known.inputs
        name = follower.used_name(_name(follower, call, to_input))
        before = next(one for one in follower.layers if one.weight.data_ptr() == to_input.data_ptr())
        if follower.only_inputs(np.concatenate([before.inputs, inputs])):
            follower.units.unite(before.inputs, inputs)
        elif not np.array_equal(follower.units.find(before.inputs), follower.units.find(inputs)):
            follower.layers.append(
                WeightedLayer(
                    name, to_input.detach(), before.outputs, inputs, call=_key(call), input_factor=factor
                )
            )
    for state in values_in(hidden):
        _start_with(follower, call, state, units, None)
    for result in call.results:
        follower.keep(result, Carried(torch.from_numpy(units).expand(result.shape)))


def _read(follower: Follower, call: Call, value: Value | Tensor) -> tuple[Indices, Floats | None]:
    """Return the units that are read at each step; none where only the first state depends on the network's input."""
    if isinstance(value, Value):
        return follower.read(call, value, -1)
    return np.full(value.shape[-1], NO_UNIT), None


def _recurrent(
    follower: Follower,
    call: Call,
    inputs: Indices,
    factor: Floats | None,
    to_input: Tensor,
    to_hidden: Tensor,
) -> Indices:
    """Return the new units of a layer in one direction, after its two matrices were added."""
    hidden = to_hidden.shape[1]
    names = [_name(follower, call, weight) for weight in (to_input, to_hidden)]
    units = follower.units.add(
        follower.used_name(names[0].replace("weight_ih_", "").removesuffix(".weight_ih")),
        hidden,
        convolutional=False,
    )
    gates = np.tile(units, len(to_hidden) // hidden)
    for name, weight, read, own in zip(
        names, (to_input, to_hidden), (inputs, units), (factor, None), strict=True
    ):
        follower.layers.append(
            WeightedLayer(
                follower.used_name(name), weight.detach(), gates, read, call=_key(call), input_factor=own
            )
        )
    return units


def _name(follower: Follower, call: Call, weight: Tensor) -> str:
    return follower.name_of(weight) or call.place.module or call.place.kind


def _key(call: Call) -> tuple[str, int]:
    return call.name, call.number


def _start_with(follower: Follower, call: Call, state: Value, units: Indices, place: int | None) -> None:
    """Unite units with what they are at first, if that depends on the input."""
    own = follower.found(follower.carried(state).units)
    if place is not None:
        own = own[place]
    own = own.reshape(-1, len(units))
    if bool((own == MIXTURE).any()):
        raise follower.refusal(call, "it starts with a mixture of many units that no weights have made")
    for row in own.unique(dim=0):
        follower.units.unite(units, row.numpy())


RECURRENT_RULES = {
    **dict.fromkeys(("lstm", "gru", "rnn_tanh", "rnn_relu"), _layers),
    **dict.fromkeys(("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"), _cell),
}
