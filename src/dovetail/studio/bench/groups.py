"""Specialists that can be put together, and why others are apart from them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass

from ...specialists.blueprint import Blueprint
from ...specialists.manifest import Provenance
from .parts import Found


@dataclass(frozen=True)
class Kind:
    """What specialists must have in common, except for their classes.

    Attributes
    ----------
    blueprint : Blueprint
        Network, input shape, classes and temperature.
    start : str
        Hash of θ0; "slots" for all that keep to slots, which fit from whatever θ0.
    data, fingerprint : str
        What they were trained on: a composite is measured on one test split.
    """

    blueprint: Blueprint
    start: str
    data: str
    fingerprint: str

    @property
    def slots(self) -> bool:
        """Whether they keep to slots."""
        return self.start == "slots"

    @property
    def number(self) -> str:
        """A short name that stays the same as long as they do."""
        text = " ".join([self.blueprint.text, self.start, self.data, self.fingerprint])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Group:
    """Specialists of one kind; ``apart`` says why they do not go together with the first group's, if there is one."""

    kind: Kind
    members: list[Found]
    apart: str | None

    @property
    def title(self) -> str:
        """Data, network, and what decides whether they fit."""
        seeds = sorted({provenance_of(found).seed for found in self.members})
        own = "in slots" if self.kind.slots else f"seed {', '.join(map(str, seeds))}"
        return f"{self.kind.data}, {self.kind.blueprint.net}, {own}"


def provenance_of(found: Found) -> Provenance:
    """Return where a specialist comes from."""
    return found.manifest.specialists[0][1]


def kind_of(found: Found) -> Kind:
    """Return what a specialist must share with others to be added to them."""
    provenance = provenance_of(found)
    start = "slots" if provenance.slots else provenance.start
    return Kind(found.manifest.blueprint, start, provenance.data, provenance.fingerprint)


def group_specialists(found: list[Found]) -> list[Group]:
    """Return the specialists in groups that can be put together, the largest group first."""
    by_kind: dict[Kind, list[Found]] = defaultdict(list)
    for entry in found:
        if entry.manifest.kind == "specialist":
            by_kind[kind_of(entry)].append(entry)
    ordered = sorted(by_kind.items(), key=lambda item: (-len(item[1]), item[1][0].file.name))
    first = ordered[0][0] if ordered else None
    return [
        Group(kind, _by_class(members), None if first in (None, kind) else _difference(kind, first))
        for kind, members in ordered
    ]


def _by_class(members: list[Found]) -> list[Found]:
    return sorted(members, key=lambda found: (found.manifest.specialists[0][0], found.file.name))


def _difference(kind: Kind, first: Kind | None) -> str:
    """Return in words why specialists of two kinds are not put together."""
    assert first is not None
    a, b = kind.blueprint, first.blueprint
    reasons = [
        f"another {what} ({mine}, not {theirs})"
        for what, mine, theirs in (
            ("network", str(a.net), str(b.net)),
            ("input shape", _shape(a), _shape(b)),
            ("temperature", f"{a.temperature:g}", f"{b.temperature:g}"),
        )
        if mine != theirs
    ]
    if a.classes != b.classes:
        reasons.append("other classes")
    if (kind.data, kind.fingerprint) != (first.data, first.fingerprint):
        other = f"({kind.data}, not {first.data})" if kind.data != first.data else f"({kind.fingerprint})"
        reasons.append(f"other data {other}")
    if kind.slots != first.slots:
        reasons.append("they keep to slots" if kind.slots else "they keep to no slots")
    elif kind.start != first.start:
        reasons.append(f"other initial weights θ0 ({kind.start[:8]}, not {first.start[:8]})")
    return f"Cannot be put together with the first group: {', '.join(reasons)}."


def _shape(blueprint: Blueprint) -> str:
    return " × ".join(map(str, blueprint.input_shape))
