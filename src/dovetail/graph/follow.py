"""Units on their way through a network: which each tensor carries, from the input to the outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import SpecError
from .graph import Floats, Head, Indices
from .layers import MIXTURE, NO_UNIT, Units, WeightedLayer
from .trace import Call, Trace, Value, title

EMBEDDINGS = ("embedding", "embedding_bag", "one_hot")
"""Operations that take numbers of tokens and give units."""

_PROJECTIONS = {"q_proj_weight": "query", "k_proj_weight": "key", "v_proj_weight": "value"}


@dataclass(frozen=True)
class Carried:
    """What a tensor carries.

    Attributes
    ----------
    units : Tensor
        The unit at each entry of the tensor; `NO_UNIT` or `MIXTURE` where there is none. Dimensions along which nothing
        changes have stride 0.
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
        self._heads: dict[str, dict[str, Indices]] = {}
        self._fed_by: dict[int, frozenset[int]] = {0: frozenset({-1})}
        shape = trace.source.shape
        # Numbers of tokens are no numbers to compute with: what is embedded has units of its own, one for each token.
        self._tokens = tokens = any(call.name in EMBEDDINGS for call in trace.calls)
        entries = self.units.add("input", 0 if tokens else int(np.prod(shape[1:])), convolutional=False)
        self._inputs = len(entries)
        units = torch.tensor(NO_UNIT) if tokens else torch.from_numpy(entries).reshape(shape[1:])
        self._carried = {0: Carried(units.expand(shape))}

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

    @property
    def heads(self) -> tuple[Head, ...]:
        """The heads of attention that were found."""
        none = np.arange(0)
        return tuple(
            Head(name, *(roles.get(role, none) for role in ("queries", "keys", "values")))
            for name, roles in self._heads.items()
        )

    def add_heads(self, call: Call, **roles: Tensor) -> None:
        """Note units of heads: ``[heads, units]``, by what they do there."""
        module = call.place.module or call.place.kind
        heads = max(len(units) for units in roles.values())
        number = 1
        while any(role in self._heads.get(_head(module, number, 0), ()) for role in roles):
            number += 1
        for head in range(heads):
            found = self._heads.setdefault(_head(module, number, head), {})
            for role, units in roles.items():
                found[role] = np.unique(units[head % len(units)].numpy())

    def note_sources(self, call: Call, new: int) -> None:
        """Note which layers come into the results of a call that has added some layers, from the `new`-th on."""
        given = [self._fed_by[value.index] for value in call.operands if self.units_in(value)]
        before = frozenset().union(*given)
        for layer in self.layers[new:]:
            layer.fed_by = before if layer.fed_by is None else layer.fed_by
        made = frozenset(range(new, len(self.layers))) or before
        for value in call.results:
            self._fed_by[value.index] = made

    def is_constant(self, value: Value) -> bool:
        """Whether no entry of a value has anything to do with units, though it may depend on the numbers of tokens."""
        return bool((narrowed(self.carried(value).units)[0] == NO_UNIT).all())

    def is_mixture(self, value: Value) -> bool:
        """Whether an entry of a value is a mixture of many units that no weights have made."""
        return bool((narrowed(self.carried(value).units)[0] == MIXTURE).any())

    def units_in(self, value: Value) -> bool:
        """Whether a value carries any unit, not constants and mixtures alone."""
        return bool((narrowed(self.carried(value).units)[0] >= 0).any())

    def add_layer(
        self, call: Call, weight: Tensor, value: Value, groups: int = 1, *, name: str | None = None
    ) -> Carried:
        """Return what the output of a layer carries that reads a value with ``[outputs, inputs, kernel...]``."""
        axis = 1 - weight.dim()
        if weight.dim() == 2 and (passed := self._mixed_places(call, value)) is not None:
            return passed
        inputs, factor = self.read(call, value, axis)
        name = name or self.layer_name(call)
        outputs = self.units.add(name, len(weight), convolutional=weight.dim() > 2)
        use = (call.name, call.number)
        layer = WeightedLayer(name, weight.detach(), outputs, inputs, groups, use, input_factor=factor)
        self.layers.append(layer)
        shape = [1] * len(call.results[0].shape)
        shape[axis] = len(outputs)
        carried = torch.from_numpy(outputs).reshape(shape).expand(call.results[0].shape)
        return Carried(carried, makers=(layer,))

    def _mixed_places(self, call: Call, value: Value) -> Carried | None:
        """Return what a dense layer makes that reads not units, but the places of each unit, with the same weights.

        It passes units on from place to place, as attention does; None for all other layers. A token mixer is such.
        """
        (units,) = narrowed(self.found(self.carried(value).units))
        places = units.movedim(-1, 0).flatten(1)
        varied = bool((places != places[:, :1]).any())
        if not varied or bool((places != places[:1]).any()) or self.only_inputs(places[0].numpy()):
            return None
        carried = self.alike(call, value, [-1])
        shape = call.results[0].shape
        factor = None if carried.factor is None else carried.factor.expand(shape)
        return Carried(carried.units.expand(shape), factor)

    def read(self, call: Call, value: Value, axis: int) -> tuple[Indices, Floats | None]:
        """Return the unit at each place along an axis, and the factor there."""
        dims = [dim for dim in range(len(value.shape)) if dim != axis % len(value.shape)]
        carried = self.alike(call, value, dims)
        if self.is_mixture(value):
            raise self.refusal(call, "it reads a mixture of many units that no weights have made")
        if self._tokens and not self.units_in(value):
            raise self.refusal(call, "it computes with the numbers of tokens")
        factor = None if carried.factor is None else carried.factor.flatten().numpy()
        return carried.units.flatten().numpy(), factor

    def alike(
        self, call: Call, value: Value, dims: Iterable[int], *, join_inputs: bool = True, mixes: bool = False
    ) -> Carried:
        """Return what a value carries with only one place along dimensions along which its units must not change.

        Entries of the network's input that the same weights read are one unit: they are joined here. A factor
        that differs between places counts with its mean. Where units do change, what comes of them is a mixture if the
        call `mixes`; else it is refused.
        """
        dims = list(dims)
        carried = self.carried(value)
        if not dims:
            return carried
        units, top = self._top(carried.units, dims)
        differs = (units != top) & (units >= 0)
        if differs.any():
            some, others = units[differs].numpy(), top.expand_as(units)[differs].numpy()
            if not join_inputs or not self.only_inputs(np.concatenate([some, others])):
                if not mixes:
                    raise self.refusal(call, "it mixes different units")
                return Carried(torch.tensor(MIXTURE).expand(_one_place(value, dims)))
            self.units.unite(some, others)
            _, top = self._top(carried.units, dims)
        shape = _one_place(value, dims)
        factor = None if carried.factor is None else carried.factor.mean(dim=dims, keepdim=True).expand(shape)
        return Carried(top.expand(shape), factor, self.makers(value))

    def _top(self, labels: Tensor, dims: list[int]) -> tuple[Tensor, Tensor]:
        units = self.found(narrowed(labels)[0])
        return units, units.amax(dim=dims, keepdim=True)

    def only_inputs(self, units: Indices) -> bool:
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
            "convolutions, attention, embeddings, recurrent layers, norms, activations, pooling, reshaping, "
            "additions, gates and concatenations; "
            "for other networks pass weight matrices [outputs, inputs]"
        )

    def layer_name(self, call: Call) -> str:
        """Return the path of the module whose weight is used, numbered when it was used before."""
        known = self.name_of(call.argument(1, "weight"))
        path, _, own = known.rpartition(".")
        name = (path if own == "weight" else known) or call.place.module or call.place.kind
        return self.used_name(name)

    def name_of(self, weight: Any) -> str:
        """Return the name of a parameter or buffer, also of one that a tensor is a view of; empty if there is none."""
        names = self.trace.weight_names
        # A view, such as a transposed weight, knows what it is a view of.
        known = names.get(id(weight)) or names.get(id(getattr(weight, "_base", None)), "")
        path, _, own = known.rpartition(".")
        if own == "in_proj_weight":  # of nn.MultiheadAttention: three in one
            third = weight._base.shape[0] // 3 * weight._base.shape[1] if weight._base is not None else 1
            return f"{path}.{('query', 'key', 'value')[weight.storage_offset() // third]}"
        if own in _PROJECTIONS:
            return f"{path}.{_PROJECTIONS[own]}"
        return known

    def used_name(self, name: str) -> str:
        """Return a name, numbered when it was used before."""
        self._uses[name] += 1
        return name if self._uses[name] == 1 else f"{name}#{self._uses[name]}"


def _one_place(value: Value, dims: list[int]) -> list[int]:
    """Return a value's shape with 1 along dimensions."""
    gone = {dim % len(value.shape) for dim in dims}
    return [1 if dim in gone else size for dim, size in enumerate(value.shape)]


def _head(module: str, number: int, head: int) -> str:
    return f"{module} head {head}" if number == 1 else f"{module}#{number} head {head}"


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
