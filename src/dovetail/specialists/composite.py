"""A composite: specialists put together, by adding their weights or otherwise.

It keeps its specialists, so that any can be taken out again, and computes its weights from them: what is compared and
hashed are those weights, not how they came about.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Self

import torch
from torch import Tensor, nn

from ..errors import MisfitError, SpecError, unknown_name
from ..population import recompute_batch_norm
from .blueprint import Blueprint, State, Tempered, hash_tensors, pack
from .class_lists import Places, WiderOutputs, joined_list
from .class_sets import ClassName, class_id
from .fitting import are_joined, check_fit, in_own_slots, needs_statistics, slots_overlap
from .manifest import Manifest
from .merge import (
    METHODS,
    LogitAverage,
    Method,
    add_packed,
    check_keep,
    check_weights,
    fit_coefficients,
    scale_weights,
    ties_weights,
)
from .part import Part, checked_layout
from .side_by_side import side_by_side, wider_net
from .threshold import Threshold

if TYPE_CHECKING:
    from .specialist import Specialist


class Composite(Part):
    """Specialists put together by a method; made by ``+``, ``sum(team)`` or `compose`.

    Members are kept in an order of their own, by class and content: in whatever order they were added, the
    result is the same to the bit, and a composite from which one was taken out is the one that never had it.
    ``==`` measures that: it compares the merged weights. Unlike `compose`, ``+`` does not warn of specialists that
    will get in each other's way.

    Members may know of different classes. Their class lists are then joined by name: in slots their small networks are
    put side by side, and averaged logits are moved to their places (see `class_lists`). Members stay as they were, so
    a list that nobody is left of is forgotten with them.

    Attributes
    ----------
    specialists : tuple of Specialist
        The members, each with a class list of its own.
    method : str
        ``"sum"``, ``"logits"``, ``"ties"`` or ``"calibrated"``.
    coefficients : tuple of float or None
        For ``"calibrated"``, what each member's weights are multiplied by; for ``"logits"``, what each member's
        logits weigh (None: all the same).
    keep : float
        For ``"ties"``, the share of weights that each member brings along.
    owned : tuple of tuples of int
        The ids, in its own class list, of the classes that each member recognises.
    threshold : Threshold or None
        How sure it must be to answer; see `with_threshold`.
    inputs : Tensor or None
        The unlabelled samples that coefficients or batch-norm statistics came from; files do not hold them (see
        `with_inputs`).

    Examples
    --------
    >>> import dovetail as dt
    >>> a, b, c = dt.train_specialists(dt.load("digits"), "mlp:40", [0, 1, 2], slots=True, epochs=2, progress=False)
    >>> a + b + c == c + a + b
    True
    >>> (a + b + c) - b == a + c
    True
    >>> (a + b + c).without(1)
    Composite(0, 2: sum of 2 specialists, mlp:40, in slots)
    """

    blueprint: Blueprint
    method: Method
    coefficients: tuple[float, ...] | None
    keep: float
    inputs: Tensor | None
    owned: tuple[tuple[int, ...], ...]
    _members: tuple[Specialist, ...]
    _joined: bool
    _statistics: Mapping[str, Tensor] | None

    def __init__(
        self,
        specialists: Iterable[Specialist],
        method: Method = "sum",
        *,
        coefficients: Sequence[float] | None = None,
        keep: float = 1.0,
        inputs: Tensor | None = None,
        statistics: Mapping[str, Tensor] | None = None,
        threshold: Threshold | None = None,
    ) -> None:
        given = list(specialists)
        if not given:
            raise MisfitError("there is nothing to put together; give at least one specialist")
        # Where slots of one network overlap (by force), each specialist gets units of its own.
        joined = are_joined(given) or (method == "sum" and slots_overlap(given))
        classes = joined_list(member.classes for member in given) if joined else given[0].classes
        ids = {name: number for number, name in enumerate(classes)}
        owned = [tuple(sorted(ids[name] for name in member.known)) for member in given]
        order = sorted(range(len(given)), key=lambda place: (owned[place], given[place].digest))
        first = given[order[0]].blueprint
        vars(self).update(
            blueprint=_joined_blueprint(first, classes, given, method) if joined else given[0].blueprint,
            method=method,
            coefficients=None
            if coefficients is None
            else tuple(float(coefficients[place]) for place in order),
            keep=float(keep),
            inputs=inputs,
            _members=tuple(given[place] for place in order),
            owned=tuple(owned[place] for place in order),
            _joined=joined,
            _statistics=None if statistics is None else MappingProxyType(dict(statistics)),
            threshold=threshold,
        )

    def _with(self, threshold: Threshold | None) -> Self:
        return type(self)(
            self._members,
            self.method,
            coefficients=self.coefficients,
            keep=self.keep,
            inputs=self.inputs,
            statistics=self._statistics,
            threshold=threshold,
        )

    def _changed(self, change: Callable[[Blueprint], Blueprint]) -> Self:
        return type(self)(
            [member._changed(change) for member in self._members],
            self.method,
            coefficients=self.coefficients,
            keep=self.keep,
            inputs=self.inputs,
            statistics=self._statistics,
            threshold=self.threshold,
        )

    def without_cards(self) -> Self:
        """Return the same composite of the same specialists without cards."""
        return type(self)(
            [member.without_cards() for member in self._members],
            self.method,
            coefficients=self.coefficients,
            keep=self.keep,
            inputs=self.inputs,
            statistics=self._statistics,
            threshold=self._threshold_without_cards(),
        )

    @property
    def specialists(self) -> tuple[Specialist, ...]:
        """The members, in their fixed order."""
        return self._members

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        how = {"logits": "averaged logits", "ties": "TIES merge", "calibrated": "calibrated sum"}
        slots = ", in slots" if in_own_slots(self._members) else ""
        count = "1 specialist" if len(self) == 1 else f"{len(self)} specialists"
        return (
            f"Composite({self.knows}: {how.get(self.method, 'sum')} of {count}, {self.blueprint.net}{slots})"
        )

    @property
    def shares(self) -> tuple[float, ...]:
        """What each member's logits weigh in the average; they add up to 1."""
        total = sum(self.weights)
        return tuple(weight / total for weight in self.weights)

    @property
    def is_plain(self) -> bool:
        """Whether it is a sum that needed nothing but the weights."""
        return self.method == "sum" and self.inputs is None and not self._statistics

    @property
    def weights(self) -> tuple[float, ...]:
        """What each member counts, before the weights of an average are made to add up to 1."""
        return self.coefficients or (1.0,) * len(self)

    @cached_property
    def stored_digest(self) -> str:
        """Hash of what its file holds: members, method and batch-norm statistics."""
        members = [member.digest for member in self._members]
        statistics = hash_tensors(self.statistics) if self.statistics else ""
        what = json.dumps([members, self.method, self.coefficients, self.keep, statistics])
        return hashlib.sha256(what.encode()).hexdigest()[:32]

    @cached_property
    def digest(self) -> str:
        """Hash of members, method, and the weights that they are merged to."""
        what = self.stored_digest + hash_tensors(self.state_dict())
        return hashlib.sha256(what.encode()).hexdigest()[:32]

    @property
    def manifest(self) -> Manifest:
        """What its file says about it."""
        return Manifest(
            "composite",
            self.blueprint,
            [(ids, member.provenance) for ids, member in zip(self.owned, self._members, strict=True)],
            [member.sparsity for member in self._members],
            self.method,
            self.coefficients,
            self.keep,
            self.stored_digest,
            self.threshold,
            [member.blueprint for member in self._members] if self._joined else None,
        )

    @cached_property
    def statistics(self) -> Mapping[str, Tensor]:
        """Batch-norm statistics of the merged network, where there are any and members share units."""
        if self._statistics is not None:
            return self._statistics
        if self.inputs is None or not needs_statistics(self._members, self.method):
            return MappingProxyType({})
        network = self.blueprint.network(self._merged())
        recompute_batch_norm(network, self.inputs.to(next(network.parameters())))
        return MappingProxyType({name: buffer.clone() for name, buffer in network.named_buffers()})

    def state_dict(self, *, layout: Literal["dense", "sparse"] = "dense") -> State:
        """Return the merged weights by name, as a network of the same spec takes them.

        Averaged logits are several networks; their tensors come with the member's number in front, as in
        `module`.
        """
        if self.method == "logits":
            return {
                f"networks.{number}.{name}": tensor
                for number, member in enumerate(self._members)
                for name, tensor in member.state_dict(layout=layout).items()
            }
        state = {**self._merged(), **self.statistics}
        if checked_layout(layout) == "dense":
            return state
        if self._joined:
            kept = self._side_by_side[1]
        else:
            masks = [member.masks for member in self._members]
            kept = {name: torch.stack([mask[name] for mask in masks]).any(0) for name in masks[0]}
        return {name: pack(tensor, kept.get(name)).sparse() for name, tensor in state.items()}

    def _network(self) -> nn.Module:
        if self.method == "logits":
            networks = [member.blueprint.network(member.state) for member in self._members]
            if self._joined:
                networks = [
                    WiderOutputs(network, places)
                    for network, places in zip(networks, self._places, strict=True)
                ]
            return LogitAverage(networks, self.shares, self.blueprint.temperature)
        return Tempered(self.blueprint.network(self.state_dict()), self.blueprint.temperature)

    @property
    def _places(self) -> list[Places]:
        """Where the outputs of each member go."""
        return [Places(member.classes, member.rewarded, self.classes) for member in self._members]

    @cached_property
    def _side_by_side(self) -> tuple[State, State]:
        """Its weights where members have small networks side by side, and which entries of them are kept."""
        return side_by_side([member.small for member in self._members], self._places)

    def _merged(self) -> State:
        if self._joined:
            return {name: tensor.clone() for name, tensor in self._side_by_side[0].items()}
        merged = add_packed([member.weights for member in self._members])
        if self.method == "sum":
            return merged
        # Batch-norm statistics are no weights: in slots each unit has its own, else they are recomputed.
        names = self.blueprint.parameter_names
        weights = [{name: member.weights[name].dense() for name in names} for member in self._members]
        if self.method == "ties":
            return merged | ties_weights(weights, self.keep)
        return merged | scale_weights(weights, self.weights)

    def with_inputs(self, inputs: Tensor) -> Composite:
        """Return the same composite with unlabelled samples to fit or normalise other members on.

        Files hold no samples: one that was opened needs them before members are added to it or taken out, where
        coefficients or batch-norm statistics have to be found anew.
        """
        self.blueprint.check_inputs(inputs)
        return Composite(
            self._members,
            self.method,
            coefficients=self.coefficients,
            keep=self.keep,
            inputs=inputs,
            statistics=self.statistics,
            threshold=self.threshold,
        )

    def of(
        self,
        specialists: Iterable[Specialist],
        *,
        weights: Sequence[float] | None = None,
        force: bool = False,
    ) -> Composite:
        """Return other specialists composed in the same way as this one.

        Parameters
        ----------
        specialists : iterable of Specialist
            The new members.
        weights : sequence of float, optional
            For averaged logits: what each counts. By default what it counts here, 1 for new ones.
        force : bool
            As for `compose`.
        """
        members = list(specialists)
        if self.inputs is None and (self.method == "calibrated" or self._statistics):
            raise SpecError(
                f"{self!r} came from a file, which holds no samples to fit or normalise other members on; give it "
                "unlabelled samples first: composite.with_inputs(samples)"
            )
        if weights is None and self.coefficients and self.method == "logits":
            known = {m.digest: w for m, w in zip(self._members, self.coefficients, strict=True)}
            weights = [known.get(member.digest, 1.0) for member in members]
        return compose_quietly(
            members, self.method, weights=weights, inputs=self.inputs, keep=self.keep, force=force
        )

    def __add__(self, other: object) -> Composite:
        return add_parts([self, other]) if isinstance(other, Part) else NotImplemented

    def __sub__(self, other: object) -> Composite:
        if not isinstance(other, Part):
            return NotImplemented
        left = list(self._members)
        for specialist in other.specialists:
            if specialist not in left:
                often = " as often as that" if specialist in self._members else ""
                raise MisfitError(f"{specialist!r} is not in {self!r}{often}, so it cannot be taken out")
            left.remove(specialist)
        return self._of_those_left(left, f"{other!r}")

    def without(self, *classes: ClassName) -> Composite:
        """Return the composite without the specialists of some classes, given by id or name.

        Raises
        ------
        MisfitError
            When no member has such a class, or its specialist also has classes that are to stay.
        """
        gone = {class_id(name, self.classes) for name in classes}
        members = list(zip(self._members, self.owned, strict=True))
        for number in sorted(gone):
            owners = [(member, ids) for member, ids in members if number in ids]
            if not owners:
                raise MisfitError(f"no specialist of {self!r} has class {self.classes[number]}")
            for owner, ids in owners:
                others = sorted(set(ids) - gone)
                if others:
                    names = ", ".join(self.classes[other] for other in others)
                    raise MisfitError(
                        f"{owner!r} has class {self.classes[number]} together with {names}; drop all of them, or "
                        "replace it by one that has only those"
                    )
        left = [member for member, ids in members if not gone & set(ids)]
        return self._of_those_left(
            left, f"classes {', '.join(self.classes[number] for number in sorted(gone))}"
        )

    def replace(self, old: Specialist, new: Specialist, *, force: bool = False) -> Composite:
        """Return the composite with one specialist in the place of another."""
        if old not in self._members:
            raise MisfitError(f"{old!r} is not in {self!r}, so it cannot be replaced")
        members = [new if member == old else member for member in self._members]
        return self.of(members, weights=self.coefficients if self.method == "logits" else None, force=force)

    def _of_those_left(self, left: list[Specialist], gone: str) -> Composite:
        if not left:
            raise MisfitError(f"nothing is left of {self!r} without {gone}")
        return self.of(left, force=True)  # what fitted, or was forced, still does without some


def _joined_blueprint(
    first: Blueprint, classes: tuple[str, ...], members: Sequence[Specialist], method: str
) -> Blueprint:
    """Return what members of different networks or class lists are together."""
    net = first.net
    if method != "logits":
        net = wider_net(net, [member.small.sizes for member in members])
    return replace(first, net=net, classes=classes)


def add_parts(parts: Sequence[Part], *, force: bool = False) -> Composite:
    """Return the sum of parts: a plain one, or composed as those among them that were composed otherwise.

    A plain sum takes on the method of what it is added to, so the order of adding does not matter.

    Parameters
    ----------
    parts : sequence of Part
        What to add; composites count as their specialists.
    force : bool
        As for `compose`.
    """
    for part in parts:
        if not part.specialists:
            raise MisfitError(
                f"{part!r} is not made of specialists, and cannot be added to such; dovetail.combine([...], data.val) "
                "puts both kinds together"
            )
    others = [part for part in parts if isinstance(part, Composite) and not part.is_plain]
    for other in others[1:]:
        if clash := _other_way(others[0], other):
            raise SpecError(
                f"these were composed differently ({clash}); put all their specialists together with compose(...)"
            )
    members = [specialist for part in parts for specialist in part.specialists]
    if not others:
        return compose_quietly(members, force=force)
    weights = None
    if others[0].method == "logits" and any(part.coefficients for part in others):
        weights = [
            weight for part in parts for weight in (part.weights if isinstance(part, Composite) else (1.0,))
        ]
    return others[0].of(members, weights=weights, force=force)


def _other_way(first: Composite, second: Composite) -> str | None:
    """Return in what two composites were made differently, if at all."""
    if first.method != second.method:
        return f"methods {first.method!r} and {second.method!r}"
    if first.keep != second.keep:
        return f"keep {first.keep} and {second.keep}"
    a, b = first.inputs, second.inputs
    same = a is b or (
        a is not None and b is not None and a.shape == b.shape and bool((a == b.to(a.device)).all())
    )
    return None if same else "with other inputs"


def compose_quietly(
    members: Sequence[Specialist],
    method: Method = "sum",
    *,
    weights: Sequence[float] | None = None,
    inputs: Tensor | None = None,
    keep: float = 1.0,
    force: bool = False,
) -> Composite:
    """Return what `compose` does, without a word about how wise it is."""
    if not members:
        raise MisfitError("there is nothing to put together; give at least one specialist")
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if weights is not None and method != "logits":
        raise SpecError(f"weights are for method 'logits'; {method!r} takes none")
    if keep != 1 and method != "ties":
        raise SpecError(f"keep is for method 'ties'; {method!r} keeps everything")
    check_keep(keep)
    check_fit(members, force=force, method=method)
    blueprint = members[0].blueprint
    if inputs is not None:
        blueprint.check_inputs(inputs)
    if inputs is None and needs_statistics(members, method):
        raise SpecError(
            f"{blueprint.net} has batch norm, whose statistics must be recomputed after a merge; pass unlabelled "
            "samples as inputs= (--inputs DATA)"
        )
    if method == "logits":
        if weights is not None:
            check_weights(weights, len(members))
        return Composite(members, method, coefficients=weights)
    if method != "calibrated":
        # With inputs at hand that are not needed, the composite is the same as without.
        needed = inputs is not None and needs_statistics(members, method)
        return Composite(members, method, keep=keep, inputs=inputs if needed else None)
    if inputs is None:
        raise SpecError(
            "method 'calibrated' needs unlabelled samples to fit its coefficients on; pass inputs= (--inputs DATA)"
        )
    ordered = Composite(members).specialists
    coefficients = (1.0,) * len(ordered)
    if not in_own_slots(ordered):  # in slots there is nothing to mend
        coefficients = fit_coefficients(blueprint, [member.state for member in ordered], inputs)
    return Composite(ordered, method, coefficients=coefficients, inputs=inputs)
