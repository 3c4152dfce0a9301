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
from ..graph.trace import Call, Value, evaluating, record, title

_FREE, _NOBODY = -1, -2
"""Owners of the network's inputs and constants, which all may read; and of what is not known yet."""

_OVER_UNITS = {"softmax": -1, "softmin": -1, "log_softmax": -1, "normalize": 1, "local_response_norm": 1}
"""Operations that bring entries together without weights, and along which dimension if none is said: units of several
owners among them would feel one another."""
_NORMS = {"layer_norm", "rms_norm"}
"""Those that do it over the last dimensions."""
_BY_CHANNEL = {"batch_norm", "instance_norm", "group_norm", "prelu"}
"""Operations whose tensors have an entry for each channel."""

_ON_SCORES = {
    "softmax", "dropout", "mul", "div", "truediv", "add", "sub", "masked_fill", "float", "to", "type_as", "contiguous",
    "clone",
}  # fmt: skip
"""What may be done to the scores of attention, each by itself or those of one query together."""

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
        self._scores: set[int] = set()
        self._of_scores: dict[int, Tensor] = {}
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
        attends = _attends(call)
        if any(map(follower.is_mixture, call.results)):
            # Scores of attention are known by what made them; whose they are is looked at when owners are known.
            scores = {value.index for value in call.operands if follower.is_mixture(value)}
            kept = call.name in _ON_SCORES and call.results[0].shape == call.operands[0].shape
            if not scores <= self._scores or not (kept if scores else attends):
                raise self._stands_in_the_way(call, "it brings units of all owners together")
            self._scores.update(value.index for value in call.results)
        if call.name in {**EMBEDDING_RULES, **RECURRENT_RULES}:
            raise self._stands_in_the_way(call, "only dense layers and convolutions can be shared out")
        if call.name in {"linear", "matmul"} and not layers and not attends:
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
            for some in self._shared_apart(own):
                if len(some) < self._owners:
                    raise ShapeError(
                        f"in slots each of the {self._owners} owners has units of its own in every hidden layer, but "
                        f"layer {layer.name!r} has only {len(some)}; make it wider, or leave slots out"
                    )
                share = ((torch.arange(len(some)) + 1) * self._owners - 1) // len(some)
                owner[some] = torch.where(owner[some] == _NOBODY, share, owner[some])
        owner[list(free)] = _FREE
        return owner[torch.from_numpy(every)]

    def _shared_apart(self, own: Tensor) -> list[Tensor]:
        """Return the units of a layer by what they do in attention: a layer of queries, keys and values is three.

        A query and the key that it is multiplied with are one unit, and come once.
        """
        once = torch.tensor(list(dict.fromkeys(own.tolist())), dtype=own.dtype)
        find = self._follower.units.find
        values = [torch.from_numpy(find(head.values)) for head in self._follower.heads if len(head.values)]
        passed_on = (
            torch.isin(once, torch.cat(values)) if values else torch.zeros(len(once), dtype=torch.bool)
        )
        return [some for some in (once[~passed_on], once[passed_on]) if len(some)]

    def _of_value(self, value: Value) -> Tensor:
        """Return the owner of each entry of a value; of scores, whose units decided them."""
        if value.index in self._of_scores:
            return self._of_scores[value.index].expand(value.shape)
        return self._of(self._follower.found(self._follower.carried(value).units))

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
        owners = self._of_value(value)
        for tensor in tensors:
            labels = (
                owners.transpose(0, 1).flatten(1)[:, 0] if by_channel else self._along(call, tensor, owners)
            )
            self._note(tensor, labels, None, call)

    def _own_layer(self, call: Call, number: int) -> None:
        layer = self._follower.layers[number]
        weight, bias = call.argument(1, "weight"), call.argument(2, "bias")
        rows = self._of(torch.from_numpy(self._follower.units.find(layer.outputs)))
        columns = self._of(torch.from_numpy(self._follower.units.find(layer.inputs)))
        if not self._name(weight) or weight.shape[:2] != (len(rows), len(columns) // layer.groups):
            raise SpecError(
                f"layer {layer.name!r} computes its weights, or takes a piece of a parameter, {call.place}; only whole "
                "parameters can be shared out"
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
        if _attends(call) or any(value.index in self._scores for value in call.operands):
            self._check_heads(call)
        if not call.operands or call.name not in {*_OVER_UNITS, *_NORMS, "group_norm"}:
            return
        owners = self._of_value(call.operands[0])
        if call.name == "group_norm":
            together = owners.transpose(0, 1).reshape(call.argument(1, "num_groups"), -1)
        elif call.name in _NORMS:
            together = owners.flatten(owners.dim() - len(call.argument(1, "normalized_shape")))
        else:
            dim = call.argument(1, "dim")
            together = owners.movedim(_OVER_UNITS[call.name] if not isinstance(dim, int) else dim, -1)
        if bool((together != together[..., :1]).any()):
            raise self._stands_in_the_way(call, "it brings units of all owners together")

    def _check_heads(self, call: Call) -> None:
        """Refuse attention of which a head has units of several owners: all of them would say where it looks."""
        owners = []
        for value in call.operands:
            of_head = self._of_value(value)
            if value.index not in self._scores:
                of_head = of_head[..., :1, :1].expand_as(of_head)
                if not torch.equal(of_head, self._of_value(value)):
                    raise self._stands_in_the_way(call, "its heads bring units of all owners together")
            owners.append(of_head[..., :1, :1])
        try:
            owners = list(torch.broadcast_tensors(*owners))
        except RuntimeError:  # several queries for one key
            owners = [torch.tensor([0, 1])[:, None], torch.tensor([1, 0])[:, None]]
        if any(not torch.equal(owners[0], other) for other in owners[1:]):
            raise self._stands_in_the_way(call, "its heads bring units of all owners together")
        self._of_scores.update(
            {value.index: owners[0] for value in call.results if value.index in self._scores}
        )

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
        for bit in range((self._owners - 1).bit_length()):  # any two owners are apart in one of them
            parts = [
                _only(state, self.masks([owner for owner in range(self._owners) if owner >> bit & 1 == side]))
                for side in (0, 1)
            ]
            with torch.no_grad(), evaluating(network):
                first, second = (functional_call(network, part, (given,)) for part in parts)
                both = functional_call(network, _added(parts), (given,))
            scale = max(1.0, float(both.abs().max()))
            if not float((first + second - both).abs().max()) <= _TOLERANCE * scale:
                raise SpecError(
                    f"{self._name_of_network} cannot be shared out in slots: networks in two halves of it do not add "
                    "up to the sum of what they give (tried with random weights), so something in it brings their "
                    "units together; leave slots out, and put its specialists together with the method 'logits'"
                )


def _attends(call: Call) -> bool:
    """Whether a call multiplies two tensors that both depend on the input, as attention does."""
    if call.name == "scaled_dot_product_attention":
        return True
    return call.name == "matmul" and len(call.operands) == 2


def _only(state: Mapping[str, Tensor], masks: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        name: torch.where(masks[name], tensor, torch.zeros_like(tensor)) for name, tensor in state.items()
    }


def _added(parts: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    first, second = parts
    return {name: t + second[name] if t.is_floating_point() else t for name, t in first.items()}
