"""A network without one of its groups: which outputs break.

A specialist in its slot is left out of the composite, as on the bench. Of other groups every unit is set to 0 where it
is read, as in `dovetail.lesion`: the weights that read it are set to 0, which is the same. Nothing reads the network's
outputs, so these are never set to 0 themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import torch
from pydantic import BaseModel
from torch import Tensor

from ...sculpting.drawing.style import composition
from ...sculpting.modules.hierarchy import Unit
from ..folder import MissingError
from ..held_data import DataCache
from .grouping import Groups
from .network import Network
from .yardstick import Measure, Measured, is_broken, measured


class OutputWithout(BaseModel):
    """What becomes of one output.

    ``before`` and ``after`` are shares that are right; for movement ``after`` is how far it moves, missing where that
    is no number. Both are missing where nothing could be measured. ``reached`` says whether a path leads from the
    module to it, ``own`` whether it belongs to the module.
    """

    name: str
    before: float | None
    after: float | None
    broken: bool
    reached: bool
    own: bool


class WithoutModule(BaseModel):
    """What a network does without one of its modules: what was measured, which units are 0, and every output."""

    module: int
    measure: Measure | None
    text: str
    units: str
    outputs: list[OutputWithout]


def without_module(
    network: Network, groups: Groups, module: int, data: DataCache | None = None
) -> WithoutModule:
    """Return what happens to each output when all units of a group are 0.

    Parameters
    ----------
    network : Network
        A network with layers in order.
    groups : Groups
        Its units in groups.
    module : int
        Which to take out, from 0.
    data : DataCache, optional
        Where to find the data to measure on.
    """
    if not 0 <= module < len(groups.modules):
        raise MissingError(f"there is no module {module}; this network has {len(groups.modules)}, from 0 on")
    name = groups.names[module]
    leave_out = network.slots[name].tensors_without if groups.grouping == "specialists" else None
    return _without(network, module, groups.modules[module], leave_out, f"specialist {name}", data)


def without_unit(network: Network, unit: Unit, data: DataCache | None = None) -> WithoutModule:
    """Return what happens to each output when one unit is 0.

    Parameters
    ----------
    network : Network
        A network with layers in order.
    unit : tuple of int
        Its layer and number, from 0.
    data : DataCache, optional
        Where to find the data to measure on.
    """
    layer, number = unit
    if not (0 <= layer < len(network.widths) and 0 <= number < network.widths[layer]):
        raise MissingError(f"there is no unit {number} in layer {layer} of this network")
    return _without(network, 0, frozenset([unit]), None, "", data)


def _without(
    network: Network,
    module: int,
    units: frozenset[Unit],
    leave_out: Callable[[], Mapping[str, Tensor]] | None,
    called: str,
    data: DataCache | None,
) -> WithoutModule:
    """Return what happens to each output without some units, which may be all that a specialist has for itself."""
    layers = len(network.widths)
    removed = frozenset(unit for unit in units if unit[0] < layers - 1)
    reached = reached_outputs(network, removed)
    tensors_without = leave_out or (lambda: without_units(network, removed))
    measure, found = _measured(network, tensors_without, data or DataCache())
    outputs = [
        OutputWithout(
            name=output, before=before, after=after, reached=number in reached, own=(layers - 1, number) in units,
            broken=number in reached if measure is None else is_broken(measure, before, after),
        )
        for number, (output, before, after) in enumerate(zip(network.outputs, found.before, found.after, strict=True))
    ]  # fmt: skip
    if leave_out is not None:
        words = f"Left out: {called} with {composition(removed, layers)}."
    elif removed:
        words = f"Set to 0: {composition(removed, layers)}."
    else:
        words = "It has outputs only, which nothing reads."
    return WithoutModule(module=module, measure=measure, text=found.text, units=words, outputs=outputs)


def without_units(network: Network, units: Iterable[Unit]) -> dict[str, Tensor]:
    """Return a network's tensors with the weights that read some units set to 0."""
    by_layer: dict[int, list[int]] = {}
    for at, unit in units:
        by_layer.setdefault(at, []).append(unit)
    tensors = dict(network.tensors)
    for number, layer in enumerate(network.chain):
        if number in by_layer:
            weight = tensors[layer.weight].to_dense().clone(memory_format=torch.contiguous_format)
            layer.by_unit(weight)[:, by_layer[number]] = 0
            tensors[layer.weight] = weight
    return tensors


def reached_outputs(network: Network, units: Iterable[Unit]) -> set[int]:
    """Return the outputs that paths lead to from any of these units."""
    alive = [np.zeros(width, bool) for width in network.widths]
    for layer, unit in units:
        alive[layer][unit] = True
    for layer, edges in enumerate(network.edges):
        alive[layer + 1] |= edges[:, alive[layer]].any(1)
    return set(np.flatnonzero(alive[-1]).tolist())


def _measured(
    network: Network, tensors_without: Callable[[], Mapping[str, Tensor]], data: DataCache
) -> tuple[Measure | None, Measured]:
    if network.build is None or network.yardstick is None:
        nothing: list[float | None] = [None] * len(network.outputs)
        text = "Nothing can be measured here. Broken: a path leads from the module to the output."
        return None, Measured(nothing, nothing, text)
    yardstick = network.yardstick(data)
    whole, less = (network.build(tensors) for tensors in (network.tensors, tensors_without()))
    return yardstick.measure, measured(whole, less, yardstick)
