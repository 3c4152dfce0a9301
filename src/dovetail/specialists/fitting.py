"""Fitting: whether specialists go together, and whether data is of the kind that they were trained for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ..data.preparation import Features
from ..data.split import Task
from ..errors import DataError, MisfitError
from .blueprint import Blueprint, Interface
from .class_sets import named
from .manifest import Provenance
from .side_by_side import go_side_by_side, has_sizes

if TYPE_CHECKING:
    from .specialist import Specialist


def check_fit(specialists: Sequence[Specialist], *, force: bool = False, method: str | None = None) -> None:
    """Refuse specialists that do not fit, naming two that clash.

    An input shape, preparation or temperature of their own makes them mean different things. Another network or class
    list makes a sum of weights meaningless where units are shared; in slots small networks stand side by side, and
    where logits are averaged every network runs by itself, so there lists are joined by name. Another θ0, rewarded
    classes in common, or slots that overlap make a sum unwise: ``force`` lets those through. In slots that do not
    overlap θ0 may differ, as no hidden weight of one meets one of another.

    Parameters
    ----------
    specialists : sequence of Specialist
        What is to be put together.
    force : bool
        Let through what is unwise.
    method : str, optional
        How they are put together; without one, their weights are to be compared entry by entry.

    Raises
    ------
    MisfitError
        With both sides of the first clash.
    """
    first = specialists[0]
    for other in specialists[1:]:
        if other.blueprint is not first.blueprint:
            _check_blueprint(first, other, method)
    if not force:
        # Networks that run by themselves need not start from the same weights, nor keep out of each other's way.
        unwise = [] if method == "logits" else [_mixed_slots(specialists), _other_start(specialists)]
        for clash in (_shared_class(specialists), *unwise):
            if clash:
                raise MisfitError(f"{clash}. If you know better, use compose(..., force=True), or --force")


def in_own_slots(specialists: Sequence[Specialist]) -> bool:
    """Whether all keep to slots and no two slots overlap, so that no hidden unit is shared."""
    return all(part.provenance.slots for part in specialists) and (
        are_joined(specialists) or _shared_class(specialists) is None
    )


def slots_overlap(specialists: Sequence[Specialist]) -> bool:
    """Whether slots of one network overlap that could stand side by side instead."""
    slots = all(part.provenance.slots for part in specialists)
    return slots and has_sizes(specialists[0].blueprint.net) and _shared_class(specialists) is not None


def shared_classes(specialists: Sequence[Specialist]) -> tuple[str, ...]:
    """Return the names of classes that several of them recognise."""
    counts = Counter(name for part in specialists for name in part.known)
    return tuple(name for name, count in counts.items() if count > 1)


def needs_statistics(members: Sequence[Specialist], method: str) -> bool:
    """Whether merging leaves batch-norm statistics that fit none of the members."""
    normed = len(members[0].weights) > len(members[0].blueprint.parameter_names)
    return normed and len(members) > 1 and method != "logits" and not in_own_slots(members)


def are_joined(specialists: Sequence[Specialist]) -> bool:
    """Whether they have different networks or class lists, which are joined."""
    first = specialists[0].blueprint
    return any(part.blueprint is not first and part.blueprint != first for part in specialists)


def _check_blueprint(first: Specialist, other: Specialist, method: str | None) -> None:
    a, b = first.blueprint, other.blueprint
    if a == b:
        return
    for what, mine, theirs in (
        ("input shapes", a.input_shape, b.input_shape),
        ("temperatures", a.temperature, b.temperature),
        ("trunks", _trunk(a), _trunk(b)),
        ("preparations of raw samples", _prepared(a), _prepared(b)),
    ):
        if mine != theirs:
            raise MisfitError(
                f"{first!r} and {other!r} have different {what}, {mine} and {theirs}, so they cannot be put together; "
                "train them with the same"
            )
    if method == "logits":
        return
    in_slots = first.provenance.slots and other.provenance.slots
    if method == "sum" and in_slots and go_side_by_side(a.net, b.net):
        return
    for what, mine, theirs in (
        ("networks", str(a.net), str(b.net)),
        ("class lists", _listed(a.classes), _listed(b.classes)),
    ):
        if mine != theirs:
            raise MisfitError(
                f"{first!r} and {other!r} have different {what}, {mine} and {theirs}, so their weights cannot be "
                f"added; train them with the same, {_way_out(first, other)}"
            )
    raise MisfitError(  # lists that look the same when shortened
        f"{first!r} and {other!r} have different class lists, so their weights cannot be added; train them with the "
        f"same, {_way_out(first, other)}"
    )


def _way_out(first: Specialist, other: Specialist) -> str:
    """Return what joins specialists of different networks or class lists."""
    if go_side_by_side(first.blueprint.net, other.blueprint.net):
        return "or in slots, which are put side by side by method 'sum'; or compose them with method 'logits'"
    return "or compose them with method 'logits'"


def _trunk(blueprint: Blueprint) -> str:
    preparation = blueprint.preparation
    return str(preparation.trunk) if isinstance(preparation, Features) else "none"


def _prepared(blueprint: Blueprint) -> str:
    preparation = blueprint.preparation
    return "none" if preparation is None else f"{preparation.digest} ({preparation.describe()})"


def _listed(classes: Sequence[str]) -> str:
    return f"{len(classes)} classes ({named(range(len(classes)), classes)})"


def _shared_class(specialists: Sequence[Specialist]) -> str | None:
    owners: list[tuple[Blueprint, dict[int, Specialist]]] = []
    for part in specialists:
        blueprint = part.blueprint
        owner = next((found for one, found in owners if one is blueprint or one == blueprint), None)
        if owner is None:
            owners.append((blueprint, owner := {}))
        for number in part.rewarded:
            if number in owner:
                slot = (
                    "class and slot" if part.provenance.slots and owner[number].provenance.slots else "class"
                )
                return f"{owner[number]!r} and {part!r} both have {slot} {part.classes[number]}"
            owner[number] = part
    return None


def _mixed_slots(specialists: Sequence[Specialist]) -> str | None:
    if len({part.provenance.slots for part in specialists}) == 2:
        inside = [part for part in specialists if part.provenance.slots]
        outside = [part for part in specialists if not part.provenance.slots]
        return f"{outside[0]!r} keeps to no slot, so it overlaps with that of {inside[0]!r}"
    return None


def _other_start(specialists: Sequence[Specialist]) -> str | None:
    first = specialists[0]
    for other in specialists[1:]:
        if other.provenance.start != first.provenance.start and not (
            first.provenance.slots and other.provenance.slots
        ):
            return (
                f"{first!r} and {other!r} were trained from different initial weights θ0 "
                f"({first.provenance.start[:8]} and {other.provenance.start[:8]}); train them with the same seed, "
                "or in slots"
            )
    return None


class DataFacts(Protocol):
    """What must be known of data; a `Dataset` has all of it."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def task(self) -> Task: ...  # noqa: D102
    @property
    def classes(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def input_shape(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def fingerprint(self) -> str: ...  # noqa: D102


def check_data(blueprint: Interface, data: DataFacts) -> None:
    """Refuse data whose numbers would mean nothing: other classes, or samples of another shape.

    Raises
    ------
    DataError
        With the way out.
    """
    if data.task != "classes":
        raise DataError(f"{data.name} has no classes to measure on; choose data with classes")
    if data.classes != blueprint.classes or data.input_shape != blueprint.input_shape:
        raise DataError(
            f"{data.name} here has other classes or samples of another shape than these parts were made for "
            f"({_facts(data.classes, data.input_shape)} and not "
            f"{_facts(blueprint.classes, blueprint.input_shape)}), so they cannot be "
            "measured on it; it needs the options of their training"
        )


def _facts(classes: tuple[str, ...], shape: tuple[int, ...]) -> str:
    names = named(range(len(classes)), classes, most=5)
    return f"{len(classes)} classes, {names}, of samples {' × '.join(map(str, shape))}"


def data_note(provenance: Provenance, data: DataFacts) -> str:
    """Return what to know about numbers on data that fits; empty where it is just what they were trained on.

    Numbers that are looked at may come from other data of the same kind, as long as that is said beside them.
    """
    if provenance.fingerprint == data.fingerprint:
        return ""
    return (
        f"{data.name} here ({data.fingerprint}) is not what they were trained on ({provenance.fingerprint}), perhaps "
        "for other options; some of these test samples may have been used in training"
    )
