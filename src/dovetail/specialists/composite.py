"""A composite: specialists put together. It keeps them, so that any can be taken out again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from ..errors import MisfitError, SpecError
from ..population import recompute_batch_norm
from .basis import hash_tensors
from .class_sets import ClassName, class_id
from .fitting import in_own_slots, needs_statistics
from .merge import add_weights, scale_weights, ties_weights
from .networks import LogitAverage, Tempered, network_of
from .packed import State, pack
from .part import Part, check_layout
from .specialist import Specialist

Method = Literal["sum", "logits", "ties", "calibrated"]
METHODS: tuple[str, ...] = get_args(Method)


class Composite(Part):
    """Specialists put together by a method; made by ``+``, ``sum(team)`` or `compose`.

    Members are kept in an order of their own, by class and content: in whatever order they were added, the
    result is the same to the bit, and a composite from which one was taken out is the one that never had it.
    Unlike `compose`, ``+`` does not warn of specialists that will get in each other's way.

    Attributes
    ----------
    specialists : tuple of Specialist
        The members.
    method : str
        ``"sum"``, ``"logits"``, ``"ties"`` or ``"calibrated"``.
    coefficients : tuple of float or None
        For ``"calibrated"``, what each member's weights are multiplied by; for ``"logits"``, what each member's
        logits weigh (None: all the same).
    keep : float
        For ``"ties"``, the share of weights that each member brings along.

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

    def __init__(
        self,
        specialists: Iterable[Specialist],
        method: Method = "sum",
        *,
        coefficients: Sequence[float] | None = None,
        keep: float = 1.0,
        inputs: Tensor | None = None,
        statistics: State | None = None,
    ) -> None:
        given = list(specialists)
        if not given:
            raise MisfitError("there is nothing to put together; give at least one specialist")
        order = sorted(range(len(given)), key=lambda place: (given[place].rewarded, given[place].digest))
        self._members = tuple(given[place] for place in order)
        self.basis = self._members[0].basis
        self.method = method
        self.coefficients = (
            None if coefficients is None else tuple(float(coefficients[place]) for place in order)
        )
        self.keep = float(keep)
        self.inputs = inputs
        self._statistics = statistics

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
        return f"Composite({self.knows}: {how.get(self.method, 'sum')} of {count}, {self.basis.net}{slots})"

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
    def digest(self) -> str:
        """Hash of members and method."""
        members = [member.digest for member in self._members]
        statistics = hash_tensors(self.statistics) if self.statistics else ""
        what = json.dumps([members, self.method, self.coefficients, self.keep, statistics])
        return hashlib.sha256(what.encode()).hexdigest()[:32]

    @cached_property
    def statistics(self) -> State:
        """Batch-norm statistics of the merged network, where there are any and members share units."""
        if self._statistics is not None:
            return self._statistics
        if self.inputs is None or not needs_statistics(self._members, self.method):
            return {}
        network = network_of(self.basis, self._merged())
        recompute_batch_norm(network, self.inputs.to(next(network.parameters())))
        return {name: buffer.clone() for name, buffer in network.named_buffers()}

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
        if check_layout(layout) == "dense":
            return state
        masks = [member.masks for member in self._members]
        kept = {name: torch.stack([mask[name] for mask in masks]).any(0) for name in masks[0]}
        return {name: pack(tensor, kept.get(name)).sparse() for name, tensor in state.items()}

    def module(self) -> nn.Module:
        """Return an ordinary network in evaluation mode, which divides its logits by the temperature."""
        if self.method == "logits":
            networks = [network_of(self.basis, member.state) for member in self._members]
            return LogitAverage(networks, self.shares, self.basis.temperature)
        return Tempered(network_of(self.basis, self.state_dict()), self.basis.temperature)

    def _merged(self) -> State:
        states = [member.state for member in self._members]
        # Batch-norm statistics are no weights: in slots each unit has its own, else they are recomputed.
        names = self._members[0].parameter_names
        weights = [{name: state[name] for name in names} for state in states]
        merged = add_weights(states)
        if self.method == "ties":
            merged |= ties_weights(weights, self.keep)
        elif self.method == "calibrated":
            merged |= scale_weights(weights, self.weights)
        return merged

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
                f"{self!r} came from a file, which holds no samples to fit or normalise other members on; set its "
                ".inputs to unlabelled samples first"
            )
        if weights is None and self.coefficients and self.method == "logits":
            known = {m.digest: w for m, w in zip(self._members, self.coefficients, strict=True)}
            weights = [known.get(member.digest, 1.0) for member in members]
        from .compose import compose_quietly

        return compose_quietly(
            members, self.method, weights=weights, inputs=self.inputs, keep=self.keep, force=force
        )

    def __sub__(self, other: object) -> Composite:
        if not isinstance(other, Part):
            return NotImplemented
        left = list(self._members)
        for specialist in other.specialists:
            left.remove(self._member(specialist))
        return self._of_those_left(left, f"{other!r}")

    def without(self, *classes: ClassName) -> Composite:
        """Return the composite without the specialists of some classes, given by id or name.

        Raises
        ------
        MisfitError
            When no member has such a class, or its specialist also has classes that are to stay.
        """
        gone = {class_id(name, self.classes) for name in classes}
        for number in sorted(gone):
            owners = [member for member in self._members if number in member.rewarded]
            if not owners:
                raise MisfitError(f"no specialist of {self!r} has class {self.classes[number]}")
            for owner in owners:
                others = sorted(set(owner.rewarded) - gone)
                if others:
                    names = ", ".join(self.classes[other] for other in others)
                    raise MisfitError(
                        f"{owner!r} has class {self.classes[number]} together with {names}; drop all of them, or "
                        "replace it by one that has only those"
                    )
        left = [member for member in self._members if not gone & set(member.rewarded)]
        return self._of_those_left(
            left, f"classes {', '.join(self.classes[number] for number in sorted(gone))}"
        )

    def replace(self, old: Specialist, new: Specialist, *, force: bool = False) -> Composite:
        """Return the composite with one specialist in the place of another."""
        self._member(old)
        members = [new if member == old else member for member in self._members]
        return self.of(members, weights=self.coefficients if self.method == "logits" else None, force=force)

    def _member(self, specialist: Specialist) -> Specialist:
        if specialist not in self._members:
            raise MisfitError(f"{specialist!r} is not in {self!r}")
        return specialist

    def _of_those_left(self, left: list[Specialist], gone: str) -> Composite:
        if not left:
            raise MisfitError(f"nothing is left of {self!r} without {gone}")
        return self.of(left, force=True)  # what fitted, or was forced, still does without some
