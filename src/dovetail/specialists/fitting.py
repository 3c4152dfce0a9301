"""Whether specialists fit together: what makes adding them impossible, and what only makes it unwise."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import MisfitError
from .class_sets import named
from .specialist import Specialist


def check_fit(specialists: Sequence[Specialist], *, force: bool = False) -> None:
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
        _check_basis(first, other)
    if not force:
        for clash in (_shared_class(specialists), _mixed_slots(specialists), _other_start(specialists)):
            if clash:
                raise MisfitError(f"{clash}. If you know better, use compose(..., force=True), or --force")


def in_own_slots(specialists: Sequence[Specialist]) -> bool:
    """Whether all keep to slots and no two slots overlap, so that no hidden unit is shared."""
    return all(part.record.slots for part in specialists) and _shared_class(specialists) is None


def needs_statistics(members: Sequence[Specialist], method: str) -> bool:
    """Whether merging leaves batch-norm statistics that fit none of the members."""
    normed = len(members[0].weights) > len(members[0].parameter_names)
    return normed and len(members) > 1 and method != "logits" and not in_own_slots(members)


def _check_basis(first: Specialist, other: Specialist) -> None:
    a, b = first.basis, other.basis
    for what, mine, theirs in (
        ("networks", str(a.net), str(b.net)),
        ("input shapes", a.input_shape, b.input_shape),
        ("class lists", _listed(a.classes), _listed(b.classes)),
        ("temperatures", a.temperature, b.temperature),
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


def _listed(classes: Sequence[str]) -> str:
    return f"{len(classes)} classes ({named(range(len(classes)), classes)})"


def _shared_class(specialists: Sequence[Specialist]) -> str | None:
    owner: dict[int, Specialist] = {}
    for part in specialists:
        for number in part.rewarded:
            if number in owner:
                slot = "class and slot" if part.record.slots and owner[number].record.slots else "class"
                return f"{owner[number]!r} and {part!r} both have {slot} {part.classes[number]}"
            owner[number] = part
    return None


def _mixed_slots(specialists: Sequence[Specialist]) -> str | None:
    inside = [part for part in specialists if part.record.slots]
    outside = [part for part in specialists if not part.record.slots]
    if inside and outside:
        return f"{outside[0]!r} keeps to no slot, so it overlaps with that of {inside[0]!r}"
    return None


def _other_start(specialists: Sequence[Specialist]) -> str | None:
    first = specialists[0]
    for other in specialists[1:]:
        if other.record.start != first.record.start and not (first.record.slots and other.record.slots):
            return (
                f"{first!r} and {other!r} were trained from different initial weights θ0 "
                f"({first.record.start[:8]} and {other.record.start[:8]}); train them with the same seed, or in slots"
            )
    return None
