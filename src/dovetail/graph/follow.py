"""Units on their way through a network: which each tensor carries, from the input to the outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ..errors import SpecError
from .graph import Floats, Indices
from .layers import Units, WeightedLayer
from .trace import Call, Trace, Value, title


@dataclass(frozen=True)
class Carried:
    """What a tensor carries.

    Attributes
    ----------
    units : Tensor
        The unit at each entry of the tensor, -1 for none. Dimensions along which nothing changes have stride 0.
    factor : Tensor or None
        What a normalisation that could not be folded into one layer before it multiplies each entry by. The
        layers that read the tensor take it over.
    makers : tuple of WeightedLayer
        The layers that the tensor comes from, if nothing else uses their outputs: normalisation of what comes from
        one alone can be folded into it.
    """

    units: Tensor
    factor: Tensor | None = None
    makers: tuple[WeightedLayer, ...] = ()


class Follower:
    """Layers and units found so far, and what each value carries."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.units = Units()
        self.layers: list[WeightedLayer] = []
        self._uses: Counter[str] = Counter()
        shape = trace.source.shape
        entries = self.units.add("input", int(np.prod(shape[1:])), convolutional=False)
        self._inputs = len(entries)
        self._carried = {0: Carried(torch.from_numpy(entries).reshape(shape[1:]).expand(shape))}

    def knows(self, value: Value) -> bool:
        """Whether a rule has said what a value carries; of a second result, such as indices, few do."""
        return value.index in self._carried

    def carried(self, value: Value) -> Carried:
        """Return what a value carries."""
        return self._carried[value.index]

    def keep(self, value: Value, carried: Carried) -> None:
        """Note what a value carries."""
        self._carried[value.index] = carried

    def makers(self, value: Value) -> tuple[WeightedLayer, ...]:
        """Return the layers whose outputs go into a value and nowhere else, if the value is used only once."""
        return self.carried(value).makers if self.trace.users[value.index] == 1 else ()

    def keep_results(self, call: Call, results: Sequence[Carried]) -> None:
        """Note what the results of a call carry, each with those of its makers that made no other result.

        Each of several results may be normalised by a scale of its own, and a layer has room for one.
        """
        used = [self.trace.users[value.index] > 0 for value in call.results]
        found = [
            [maker for maker in carried.makers if bool(_made_by(maker, carried.units).any())]
            for carried in results
        ]
        everyone = [maker for makers, is_used in zip(found, used, strict=True) if is_used for maker in makers]
        for value, carried, makers in zip(call.results, results, found, strict=True):
            alone = tuple(maker for maker in makers if sum(maker is other for other in everyone) == 1)
            self.keep(value, replace(carried, makers=alone))

    def add_layer(self, call: Call, weight: Tensor, value: Value, groups: int = 1) -> Carried:
        """Return what the output of a layer carries that reads a value with ``[outputs, inputs, kernel...]``."""
        axis = 1 - weight.dim()
        inputs, factor = self.read(call, value, axis)
        name = self._layer_name(call)
        outputs = self.units.add(name, len(weight), convolutional=weight.dim() > 2)
        use = (call.name, call.number)
        layer = WeightedLayer(name, weight.detach(), outputs, inputs, groups, use, input_factor=factor)
        self.layers.append(layer)
        shape = [1] * len(call.results[0].shape)
        shape[axis] = len(outputs)
        carried = torch.from_numpy(outputs).reshape(shape).expand(call.results[0].shape)
        return Carried(carried, makers=(layer,))

    def read(self, call: Call, value: Value, axis: int) -> tuple[Indices, Floats | None]:
        """Return the unit at each place along an axis, and the factor there."""
        dims = [dim for dim in range(len(value.shape)) if dim != axis % len(value.shape)]
        carried = self.alike(call, value, dims)
        factor = None if carried.factor is None else carried.factor.flatten().numpy()
        return carried.units.flatten().numpy(), factor

    def alike(self, call: Call, value: Value, dims: Iterable[int], *, join_inputs: bool = True) -> Carried:
        """Return what a value carries with only one place along dimensions along which its units must not change.

        Entries of the network's input that the same weights read are one unit: they are joined here. A factor
        that differs between places counts with its mean.
        """
        dims = list(dims)
        carried = self.carried(value)
        if not dims:
            return carried
        units, top = self._top(carried.units, dims)
        differs = (units != top) & (units >= 0)
        if differs.any():
            some, others = units[differs].numpy(), top.expand_as(units)[differs].numpy()
            if not join_inputs or not self._only_inputs(np.concatenate([some, others])):
                raise self.refusal(call, "it mixes different units")
            self.units.unite(some, others)
            _, top = self._top(carried.units, dims)
        shape = [
            1 if dim in {d % len(value.shape) for d in dims} else size for dim, size in enumerate(value.shape)
        ]
        factor = None if carried.factor is None else carried.factor.mean(dim=dims, keepdim=True).expand(shape)
        return Carried(top.expand(shape), factor, self.makers(value))

    def _top(self, labels: Tensor, dims: list[int]) -> tuple[Tensor, Tensor]:
        units = self.found(narrowed(labels)[0])
        return units, units.amax(dim=dims, keepdim=True)

    def _only_inputs(self, units: Indices) -> bool:
        """Return whether units are entries of the network's input, and one with nothing else."""
        made_by_layers = self.units.find(np.arange(self._inputs, len(self.units)))
        return not np.isin(units, made_by_layers).any()

    def found(self, labels: Tensor) -> Tensor:
        """Return units as the first of those that are one with them."""
        return torch.from_numpy(self.units.find(labels.numpy()))

    def scaled(self, value: Value, factor: Tensor, shape: tuple[int, ...]) -> Carried:
        """Return what a value carries after each entry was multiplied by a factor.

        The factor goes into the layer that makes the value. Where there is not exactly one, the layers that
        read it take the factor over.
        """
        carried, makers = self.carried(value), self.makers(value)
        units = carried.units.expand(shape)
        factor = factor.detach().to("cpu", torch.float64).abs().expand(shape)
        if len(makers) == 1 and carried.factor is None:
            by_output = _factor_by_output(makers[0], units, factor)
            if by_output is not None:
                own = makers[0].output_factor
                makers[0].output_factor = by_output if own is None else own * by_output
                return Carried(units, makers=makers)
        if carried.factor is not None:
            factor = factor * carried.factor.expand(shape)
        return Carried(units, factor)

    def refusal(self, call: Call, reason: str = "") -> SpecError:
        """Return the error for an operation that cannot be followed."""
        why = f": {reason}" if reason else ""
        return SpecError(
            f"cannot follow {title(call.function)} {call.place}{why}; what can be followed are dense layers, "
            "convolutions, norms, activations, pooling, reshaping, additions, gates and concatenations; "
            "for other networks pass weight matrices [outputs, inputs]"
        )

    def _layer_name(self, call: Call) -> str:
        """Return the path of the module whose weight is used, numbered when it was used before."""
        weight = call.argument(1, "weight")
        names = self.trace.weight_names
        # A view, such as a transposed weight, knows what it is a view of.
        known = names.get(id(weight)) or names.get(id(weight._base), "")
        path, _, own = known.rpartition(".")
        name = (path if own == "weight" else known) or call.place.module or call.place.kind
        self._uses[name] += 1
        return name if self._uses[name] == 1 else f"{name}#{self._uses[name]}"


def _factor_by_output(maker: WeightedLayer, units: Tensor, factor: Tensor) -> Floats | None:
    """Return the factor of each output of a layer, or None if it is not one for each."""
    units, factor = narrowed(units, factor)
    outputs = (units - int(maker.outputs[0])).flatten().numpy()
    values = factor.flatten().numpy()
    if not bool(_made_by(maker, units).all()) or len(np.unique(outputs)) < len(maker.outputs):
        return None
    by_output = np.empty(len(maker.outputs))
    by_output[outputs] = values
    return by_output if np.array_equal(by_output[outputs], values, equal_nan=True) else None


def _made_by(maker: WeightedLayer, units: Tensor) -> Tensor:
    """Return which entries of a tensor are outputs of a layer."""
    units = narrowed(units)[0]
    return (units >= int(maker.outputs[0])) & (units <= int(maker.outputs[-1]))


def narrowed(*labels: Tensor) -> tuple[Tensor, ...]:
    """Return labels of one shape with one place along dimensions along which they all are mere copies.

    Examples
    --------
    >>> narrowed(torch.arange(3)[:, None].expand(3, 100))[0].shape
    torch.Size([3, 1])
    """
    for dim in range(labels[0].dim()):
        if all(tensor.stride(dim) == 0 for tensor in labels):
            labels = tuple(tensor.narrow(dim, 0, 1) for tensor in labels)
    return labels


def compact(labels: Tensor) -> Tensor:
    """Return labels as a view with stride 0 along dimensions along which they do not change."""
    shape = labels.shape
    for dim in range(labels.dim()):
        first = labels.narrow(dim, 0, 1)
        if labels.stride(dim) == 0 or torch.equal(labels, first.expand_as(labels)):
            labels = first
    return labels.expand(shape)
