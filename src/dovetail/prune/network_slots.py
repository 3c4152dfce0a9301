"""Slots of any network: which entries of its tensors belong to which owner, by the units that the reader finds.

`slot_masks` goes by the shapes of a network's tensors, one layer after the other. This goes by what a network does:
units that are added are one, joined ones stay what they are, norms belong to the units that they scale.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from ..errors import DovetailError, ShapeError, SpecError
from ..graph.follow import Follower
from ..graph.rules import apply
from ..graph.rules.embeddings import EMBEDDING_RULES
from ..graph.rules.recurrent import RECURRENT_RULES
from ..graph.trace import Call, evaluating, record, title

_FREE, _NOBODY = -1, -2
"""Owners of the network's inputs and constants, which all may read; and of what is not known yet."""

_OVER_UNITS = {
    "layer_norm",
    "rms_norm",
    "softmax",
    "softmin",
    "log_softmax",
    "normalize",
    "local_response_norm",
}
"""Operations that bring units together without weights, so that every owner's would feel those of all others."""
_BY_CHANNEL = {"batch_norm", "instance_norm", "group_norm", "prelu"}
"""Operations whose tensors have an entry for each channel."""

_TOLERANCE = 1e-4


class NetworkSlots:
    """The shares of owners in a network.

    Parameters
    ----------
    network : nn.Module
        The network.
    example : Tensor
        A batch of its inputs, of which only the shape counts.
    owners : int
        How many share it; owner i of n has the units from floor(i h / n) up to floor((i + 1) h / n) of a hidden layer.
    name : str, optional
        What to call it in messages; the name of its class by default.

    Raises
    ------
    SpecError
        When it cannot be shared out, naming the operation that stands in the way.
    ShapeError
        When a layer has fewer units than there are owners.

    Examples
    --------
    >>> network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> NetworkSlots(network, torch.zeros(1, 3), 2).masks({1})["2.weight"]
    tensor([[False, False,  True,  True],
            [False, False,  True,  True]])
    """

    def __init__(self, network: nn.Module, example: Tensor, owners: int, name: str | None = None) -> None:
        self._name_of_network = name or type(network).__name__
        self._owners = owners
        self._tensors = {name: tensor.detach() for name, tensor in network.state_dict().items()}
        self._owned: dict[str, tuple[Tensor, Tensor | None]] = {}
        try:
            trace = record(network, example)
            self._names = trace.weight_names
            self._follower = Follower(trace)
            by_call: list[tuple[Call, int | None]] = []
            try:
                for call in trace.calls:
                    by_call.append((call, self._follow(call)))
            except DovetailError as refusal:
                # Of all that stands in the way the first is named, whether or not it can be followed.
                raise self._first_in_the_way([call for call, _ in by_call]) or refusal from None
            self._owner = self._owners_of_units()
            for call, layer in by_call:
                self._own(call, layer)
        except ShapeError:
            raise
        except DovetailError as error:
            raise SpecError(
                f"{self._name_of_network} cannot be shared out in slots: {error}; leave slots out, and put its "
                "specialists together with the method 'logits'"
            ) from None
        self._check(network, example)

    def _follow(self, call: Call) -> int | None:
        """Follow the units through a call; return the number of the layer that it is, if it is one."""
        follower = self._follower
        before = len(follower.layers)
        apply(follower, call)
        self._check_call(call, follower, len(follower.layers) - before)
        return before if len(follower.layers) > before else None

    def _first_in_the_way(self, followed: Sequence[Call]) -> DovetailError | None:
        """Return what is wrong with the calls so far, if anything is."""
        try:
            self._owner = self._owners_of_units()
            for call in followed:
                self._check_apart(call)
        except ShapeError:  # the last layer, which need not be wide, may not be known as such yet
            return None
        except SpecError as error:
            return error
        return None

    def masks(self, chosen: Collection[int]) -> dict[str, Tensor]:
        """Return which entries of each parameter and buffer some owners have; several have one slot together."""
        of = torch.tensor(sorted(chosen))
        masks = {}
        for name, tensor in self._tensors.items():
            if name not in self._owned:
                # What no output depends on is nobody's; one number for all is everybody's.
                masks[name] = torch.full(tensor.shape, not tensor.dim())
                continue
            rows, columns = self._owned[name]
            mask = (rows == _FREE) | torch.isin(rows, of)
            if columns is not None:
                mask = mask[:, None] & ((columns == _FREE) | torch.isin(columns, of))
            masks[name] = (
                mask.reshape(*mask.shape, *[1] * (tensor.dim() - mask.dim()))
                .expand(tensor.shape)
                .contiguous()
            )
        return masks

    def _check_call(self, call: Call, follower: Follower, layers: int) -> None:
        """Refuse what passes units on or mixes them without weights that could be shared out."""
        if call.name == "scaled_dot_product_attention" or any(map(follower.is_mixture, call.results)):
            raise self._stands_in_the_way(call, "it brings units of all owners together")
        if call.name in {**EMBEDDING_RULES, **RECURRENT_RULES}:
            raise self._stands_in_the_way(call, "only dense layers and convolutions can be shared out")
        if call.name in {"linear", "matmul"} and not layers:
            raise self._stands_in_the_way(call, "its weights are those of all units")

    def _owners_of_units(self) -> Tensor:
        """Return the owner of each unit."""
        units = self._follower.units
        every = units.find(torch.arange(len(units)).numpy())
        owner = torch.full((len(units),), _NOBODY)
        inputs = self._follower._inputs
        free = set(every[:inputs].tolist())
        last = {
            unit
            for value in self._follower.trace.outputs
            if self._follower.knows(value)
            for unit in self._follower.found(self._follower.carried(value).units).flatten().unique().tolist()
        }
        for layer in self._follower.layers:
            own = torch.from_numpy(units.find(layer.outputs))
            if set(own.tolist()) <= last:
                owner[own] = _FREE
                continue
            if free & set(own.tolist()):
                raise SpecError(
                    f"layer {layer.name!r} adds its units to the network's inputs, which are everybody's"
                )
            if len(own) < self._owners:
                raise ShapeError(
                    f"in slots each of the {self._owners} owners has units of its own in every hidden layer, but layer "
                    f"{layer.name!r} has only {len(own)}; make it wider, or leave slots out"
                )
            share = ((torch.arange(len(own)) + 1) * self._owners - 1) // len(own)
            owner[own] = torch.where(owner[own] == _NOBODY, share, owner[own])
        owner[list(free)] = _FREE
        return owner[torch.from_numpy(every)]

    def _of(self, units: Tensor) -> Tensor:
        """Return the owner of each of some units; constants are everybody's."""
        return torch.where(units < 0, _FREE, self._owner[units.clamp(min=0)])

    def _own(self, call: Call, layer: int | None) -> None:
        """Note whose the tensors are that a call uses."""
        if layer is not None:
            self._own_layer(call, layer)
            return
        self._check_apart(call)
        tensors = [leaf for leaf in (*call.args, *call.kwargs.values()) if self._name(leaf)]
        if not tensors:
            return
        by_channel = call.name in _BY_CHANNEL and all(tensor.numel() > 1 for tensor in tensors)
        value = call.operands[0] if by_channel else call.results[0]
        units = self._follower.found(self._follower.carried(value).units)
        for tensor in tensors:
            if by_channel:
                labels = self._of(units.transpose(0, 1).flatten(1)[:, 0])
            else:
                labels = self._along(call, tensor, self._of(units))
            self._note(tensor, labels, None, call)

    def _own_layer(self, call: Call, number: int) -> None:
        layer = self._follower.layers[number]
        weight, bias = call.argument(1, "weight"), call.argument(2, "bias")
        rows = self._of(torch.from_numpy(self._follower.units.find(layer.outputs)))
        columns = self._of(torch.from_numpy(self._follower.units.find(layer.inputs)))
        if not self._name(weight) or weight.shape[:2] != (len(rows), len(columns) // layer.groups):
            raise SpecError(
                f"layer {layer.name!r} computes its weights {call.place}; only weights that are parameters as they are "
                "can be shared out"
            )
        if layer.groups > 1:  # each output reads the inputs of its own group
            group = torch.arange(len(rows)) * layer.groups // len(rows)
            columns = columns.reshape(layer.groups, -1)[group]
        else:
            columns = columns.expand(len(rows), -1)
        self._note(weight, rows, columns, call)
        if self._name(bias):
            self._note(bias, rows, None, call)

    def _along(self, call: Call, tensor: Tensor, owners: Tensor) -> Tensor:
        """Return the owner of each entry of a tensor that is spread over what it meets."""
        shape = (1,) * (owners.dim() - tensor.dim()) + tuple(tensor.shape)
        for dim, size in enumerate(shape):
            if size != owners.shape[dim]:
                first = owners.narrow(dim, 0, 1)
                if size != 1 or not bool((owners == first).all()):
                    raise self._stands_in_the_way(call, "one number of it belongs to units of several owners")
                owners = first
        return owners.reshape(tensor.shape)

    def _note(self, tensor: Any, rows: Tensor, columns: Tensor | None, call: Call) -> None:
        name = self._name(tensor)
        known = self._owned.get(name)
        if known is not None and not (
            torch.equal(known[0], rows)
            and (known[1] is None) == (columns is None)
            and (columns is None or torch.equal(known[1], columns))  # type: ignore[arg-type]
        ):
            raise self._stands_in_the_way(call, f"{name!r} is used twice, for units of different owners")
        self._owned[name] = (rows, columns)

    def _name(self, leaf: object) -> str:
        return self._names.get(id(leaf), "") if isinstance(leaf, Tensor) else ""

    def _check_apart(self, call: Call) -> None:
        """Refuse operations that bring units of several owners together."""
        if call.name not in _OVER_UNITS and call.name != "group_norm":
            return
        value = call.operands[0]
        owners = self._of(self._follower.found(self._follower.carried(value).units))
        if call.name == "group_norm":
            groups = call.argument(1, "num_groups")
            together = owners.transpose(0, 1).reshape(groups, -1)
        else:
            together = owners.reshape(1, -1)
        if bool((together != together[:, :1]).any()):
            raise self._stands_in_the_way(call, "it brings units of all owners together")

    def _stands_in_the_way(self, call: Call, why: str) -> SpecError:
        return SpecError(f"{title(call.function)} {call.place}: {why}")

    def _check(self, network: nn.Module, example: Tensor) -> None:
        """Compute that networks in different slots add up, with random weights: nothing is taken for granted."""
        if self._owners < 2:
            return
        generator = torch.Generator().manual_seed(0)
        state = {
            name: tensor + 0.1 * torch.rand(tensor.shape, generator=generator).to(tensor)
            if tensor.is_floating_point()
            else tensor
            for name, tensor in self._tensors.items()
        }
        given = torch.rand(2, *example.shape[1:], generator=generator)
        halves = (range(self._owners // 2), range(self._owners // 2, self._owners))
        parts = [_only(state, self.masks(list(half))) for half in halves]
        with torch.no_grad(), evaluating(network):
            first, second = (functional_call(network, part, (given,)) for part in parts)
            both = functional_call(network, _added(parts), (given,))
        scale = max(1.0, float(both.abs().max()))
        if not float((first + second - both).abs().max()) <= _TOLERANCE * scale:
            raise SpecError(
                f"{self._name_of_network} cannot be shared out in slots: networks in two halves of it do not add up "
                "to the sum of what they give (tried with random weights), so something in it brings their units "
                "together; leave slots out, and put its specialists together with the method 'logits'"
            )


def _only(state: Mapping[str, Tensor], masks: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        name: torch.where(masks[name], tensor, torch.zeros_like(tensor)) for name, tensor in state.items()
    }


def _added(parts: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    first, second = parts
    return {name: t + second[name] if t.is_floating_point() else t for name, t in first.items()}
