"""Fitting: whether specialists go together, and whether data is of the kind that they were trained for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ..data.preparation import Features
from ..data.split import Task
from ..errors import DataError, MisfitError
from .blueprint import Blueprint, Interface
from .class_sets import named
from .manifest import Provenance

if TYPE_CHECKING:
    from .specialist import Specialist


def check_fit(specialists: Sequence[Specialist], *, force: bool = False, method: str | None = None) -> None:
    """Refuse specialists that do not fit, naming two that clash.

    A network, input shape, class list or temperature of their own makes a sum of weights meaningless. Another
    θ0, rewarded classes in common, or slots that overlap make it unwise: ``force`` lets those through. In
    slots that do not overlap θ0 may differ, as no hidden weight of one meets one of another.

    Raises
    ------
    MisfitError
        With both sides of the first clash.
    """
    first = specialists[0]
    for other in specialists[1:]:
        if other.blueprint is not first.blueprint:
            _check_blueprint(first, other)
    if not force:
        # Where logits are averaged every network runs by itself, whatever it started from.
        apart = method == "logits"
        unwise = [] if apart else [_mixed_slots(specialists), _other_start(specialists)]
        for clash in (_shared_class(specialists), *unwise):
            if clash:
                raise MisfitError(f"{clash}. If you know better, use compose(..., force=True), or --force")


def in_own_slots(specialists: Sequence[Specialist]) -> bool:
    """Whether all keep to slots and no two slots overlap, so that no hidden unit is shared."""
    return all(part.provenance.slots for part in specialists) and _shared_class(specialists) is None


def needs_statistics(members: Sequence[Specialist], method: str) -> bool:
    """Whether merging leaves batch-norm statistics that fit none of the members."""
    normed = len(members[0].weights) > len(members[0].blueprint.parameter_names)
    return normed and len(members) > 1 and method != "logits" and not in_own_slots(members)


def _check_blueprint(first: Specialist, other: Specialist) -> None:
    a, b = first.blueprint, other.blueprint
    if a == b:
        return
    for what, mine, theirs in (
        ("networks", str(a.net), str(b.net)),
        ("input shapes", a.input_shape, b.input_shape),
        ("class lists", _listed(a.classes), _listed(b.classes)),
        ("temperatures", a.temperature, b.temperature),
        ("trunks", _trunk(a), _trunk(b)),
        ("preparations of raw samples", _prepared(a), _prepared(b)),
    ):
        if mine != theirs:
            raise MisfitError(
                f"{first!r} and {other!r} have different {what}, {mine} and {theirs}, so their weights cannot be "
                "added; train them with the same"
            )
    if a.classes != b.classes:  # lists that look the same when shortened
        raise MisfitError(
            f"{first!r} and {other!r} have different class lists, so their weights cannot be added"
        )


def _trunk(blueprint: Blueprint) -> str:
    preparation = blueprint.preparation
    return str(preparation.trunk) if isinstance(preparation, Features) else "none"


def _prepared(blueprint: Blueprint) -> str:
    preparation = blueprint.preparation
    return "none" if preparation is None else f"{preparation.digest} ({preparation.describe()})"


def _listed(classes: Sequence[str]) -> str:
    return f"{len(classes)} classes ({named(range(len(classes)), classes)})"


def _shared_class(specialists: Sequence[Specialist]) -> str | None:
    owner: dict[int, Specialist] = {}
    for part in specialists:
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
