"""A composite: specialists put together. It keeps them, so that any can be taken out again."""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from ..errors import CompatibilityWarning, MisfitError, SpecError, unknown_name
from ..population import recompute_batch_norm
from .basis import hash_tensors
from .calibrate import fit_coefficients, some_of
from .class_sets import ClassName, class_id
from .compatibility import LOW_AGREEMENT, LOW_SEPARATION, on_inputs, path_separation
from .fitting import check_fit, in_own_slots
from .merge import add_weights, check_keep, scale_weights, ties_weights
from .networks import LogitAverage, Tempered, check_inputs, network_of
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


def added(first: Part, second: Part) -> Composite:
    """Return ``first + second``: a plain sum, or composed as those of the two that were composed otherwise.

    A plain sum takes on the method of what it is added to, so the order of adding does not matter.
    """
    others = [part for part in (first, second) if isinstance(part, Composite) and not part.is_plain]
    if len(others) == 2 and (clash := _clash(*others)):
        raise SpecError(
            f"these were composed differently ({clash}); put all their specialists together with compose(...)"
        )
    weights = None
    if len(others) == 2 and any(part.coefficients for part in others):
        weights = [*others[0].weights, *others[1].weights]
    like = others[0] if others else Composite(first.specialists)
    return like.of(
        [*first.specialists, *second.specialists], weights=weights if like.method == "logits" else None
    )


def _clash(first: Composite, second: Composite) -> str | None:
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


def compose(
    parts: Iterable[Part],
    method: Method = "sum",
    *,
    weights: Sequence[float] | None = None,
    inputs: Tensor | None = None,
    keep: float = 1.0,
    force: bool = False,
) -> Composite:
    """Put specialists together into one network.

    Parameters
    ----------
    parts : iterable of Specialist or Composite
        What to put together; composites count as their specialists.
    method : {"sum", "logits", "ties", "calibrated"}
        ``"sum"`` adds weights and biases (the paper). ``"logits"`` runs every specialist and averages their
        logits. ``"ties"`` trims, elects a sign for each weight and averages those that agree. ``"calibrated"``
        adds weights, each specialist's times a coefficient fitted on ``inputs``.
    weights : sequence of float, optional
        For ``"logits"``: what each specialist's logits weigh; the same by default. They need not add up to 1.
    inputs : Tensor, optional
        Unlabelled samples: needed for ``"calibrated"``, and to recompute batch-norm statistics where networks
        with batch norm share units.
    keep : float
        For ``"ties"``: the share of its weights, the largest ones, that each specialist brings along.
    force : bool
        Also put together what is unwise: other θ0, classes in common, slots that overlap.

    Raises
    ------
    MisfitError
        When they do not fit together.

    Warns
    -----
    CompatibilityWarning
        When the specialists will get in each other's way (see `compatibility`): judged on ``inputs`` if there are
        any, else from the weights.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:40", epochs=2, progress=False)
    >>> dt.compose(team, "logits")
    Composite(0, 1, 2, 3, 4, 5, 6, 7, 8, 9: averaged logits of 10 specialists, mlp:40)
    """
    members = [specialist for part in parts for specialist in _specialists(part)]
    composite = compose_quietly(members, method, weights=weights, inputs=inputs, keep=keep, force=force)
    if method != "logits":
        _warn_if_they_clash(composite, inputs)
    return composite


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
    check_fit(members, force=force)
    basis = members[0].basis
    if inputs is not None:
        check_inputs(basis, inputs)
    if inputs is None and needs_statistics(members, method):
        raise SpecError(
            f"{basis.net} has batch norm, whose statistics must be recomputed after a merge; pass unlabelled samples "
            "as inputs= (--inputs DATA)"
        )
    if method == "logits":
        return Composite(members, method, coefficients=_checked_weights(weights, len(members)))
    if method != "calibrated":
        return Composite(
            members, method, keep=keep, inputs=inputs if needs_statistics(members, method) else None
        )
    if inputs is None:
        raise SpecError(
            "method 'calibrated' needs unlabelled samples to fit its coefficients on; pass inputs= (--inputs DATA)"
        )
    ordered = Composite(members).specialists
    coefficients = (1.0,) * len(ordered)
    if not in_own_slots(ordered):  # in slots there is nothing to mend
        coefficients = fit_coefficients(basis, [member.state for member in ordered], inputs)
    return Composite(ordered, method, coefficients=coefficients, inputs=inputs)


def needs_statistics(members: Sequence[Specialist], method: str) -> bool:
    """Whether merging leaves batch-norm statistics that fit none of the members."""
    normed = len(members[0].weights) > len(members[0].parameter_names)
    return normed and len(members) > 1 and method != "logits" and not in_own_slots(members)


def _specialists(part: object) -> tuple[Specialist, ...]:
    if not isinstance(part, Part):
        raise SpecError(f"only specialists and composites can be composed, not {type(part).__name__}")
    return part.specialists


def _checked_weights(weights: Sequence[float] | None, members: int) -> tuple[float, ...] | None:
    if weights is None:
        return None
    if len(weights) != members or not all(0 <= w < math.inf for w in weights) or sum(weights) <= 0:
        raise SpecError(
            f"weights are {members} numbers from 0, not all 0, one per specialist; got {weights!r:.80}"
        )
    return tuple(float(weight) for weight in weights)


def _warn_if_they_clash(composite: Composite, inputs: Tensor | None) -> None:
    members = composite.specialists
    if len(members) < 2 or in_own_slots(members):
        return
    problem = None
    if inputs is not None:
        agreement, _ = on_inputs(members, composite.state_dict(), some_of(inputs))
        if agreement < LOW_AGREEMENT:
            problem = (
                f"this composite says what its {len(members)} specialists say on {100 * agreement:.0f} % only"
            )
    else:
        separation = path_separation([member.state for member in members])
        if separation is not None and separation < LOW_SEPARATION:
            problem = (
                f"only {100 * separation:.0f} % of the strength of all paths through these {len(members)} specialists "
                "stays inside one of them"
            )
    if problem:
        warnings.warn(
            f"{problem}; expect them to get in each other's way (train in slots, sparser or wider, or use "
            "method='logits')",
            CompatibilityWarning,
            stacklevel=3,
        )
