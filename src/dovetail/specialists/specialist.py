"""A specialist: a trained part, as it is stored: the entries of its weights that are kept."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Literal, Self

from torch import nn

from ..data.split import is_finite
from ..errors import DataError
from .blueprint import Blueprint, Packed, State, Tempered, dense_state, hash_tensors
from .cards import Card, to_tensors
from .composite import Composite, add_parts
from .manifest import Manifest, Provenance
from .part import Part, checked_layout
from .side_by_side import Small, small_network
from .threshold import Threshold


class Specialist(Part):
    """A sparse network with rewarded classes; made by `train_specialists`, or opened from a file.

    Attributes
    ----------
    blueprint : Blueprint
        Network, classes and temperature.
    rewarded : tuple of int
        Ids of the classes it recognises.
    weights : read-only mapping of str to Packed
        Its parameters and buffers: the entries that are kept.
    provenance : Provenance
        Where it comes from.
    threshold : Threshold or None
        How sure it must be to answer; see `with_threshold`.
    own_cards : tuple of Card
        Those of its rewarded classes, in their order; empty where it has none.

    Examples
    --------
    >>> import dovetail as dt
    >>> three, eight = dt.train_specialists(dt.load("digits"), "mlp:32", [3, 8], epochs=2, progress=False)
    >>> three
    Specialist(3, digits, mlp:32, 95.1 % sparse, seed 0)
    >>> three + eight
    Composite(3, 8: sum of 2 specialists, mlp:32)
    """

    blueprint: Blueprint
    weights: Mapping[str, Packed]
    provenance: Provenance
    own_cards: tuple[Card, ...]
    _rewarded: tuple[int, ...]

    def __init__(
        self,
        blueprint: Blueprint,
        rewarded: Iterable[int],
        weights: Mapping[str, Packed],
        provenance: Provenance,
        threshold: Threshold | None = None,
        cards: Sequence[Card] = (),
    ) -> None:
        for name, packed in weights.items():
            if packed.values.is_floating_point() and not is_finite(packed.values):
                raise DataError(f"weights {name!r} of a specialist hold NaN or infinity; train it again")
        rewarded, numbers = tuple(rewarded), math.prod(blueprint.input_shape)
        if cards and (len(cards) != len(rewarded) or any(len(card.mean) != numbers for card in cards)):
            raise DataError(
                f"{len(cards)} cards for {len(rewarded)} classes; a specialist has one for each, of {numbers} numbers"
            )
        vars(self).update(
            blueprint=blueprint,
            _rewarded=rewarded,
            weights=MappingProxyType(dict(weights)),
            provenance=provenance,
            threshold=threshold,
            own_cards=tuple(cards),
        )

    def _with(self, threshold: Threshold | None) -> Self:
        return type(self)(
            self.blueprint, self.rewarded, self.weights, self.provenance, threshold, self.own_cards
        )

    def _changed(self, change: Callable[[Blueprint], Blueprint]) -> Self:
        return type(self)(
            change(self.blueprint),
            self.rewarded,
            self.weights,
            self.provenance,
            self.threshold,
            self.own_cards,
        )

    def without_cards(self) -> Self:
        """Return the same specialist without cards."""
        threshold = self._threshold_without_cards()
        return type(self)(self.blueprint, self.rewarded, self.weights, self.provenance, threshold)

    @property
    def rewarded(self) -> tuple[int, ...]:
        """Ids of the classes it recognises."""
        return self._rewarded

    @property
    def specialists(self) -> tuple[Specialist, ...]:
        """Itself."""
        return (self,)

    @property
    def seed(self) -> int:
        """The seed it was trained from."""
        return self.provenance.seed

    @property
    def sparsity(self) -> float:
        """Share of its weights that are pruned."""
        parameters = self.blueprint.parameter_names
        kept = sum(self.weights[name].kept for name in parameters)
        return 1 - kept / sum(self.weights[name].shape.numel() for name in parameters)

    @property
    def state(self) -> State:
        """Its tensors with zeros where nothing is kept."""
        return dense_state(self.weights)

    @property
    def masks(self) -> State:
        """Which entries of each parameter are kept."""
        return {name: self.weights[name].mask() for name in self.blueprint.parameter_names}

    @cached_property
    def small(self) -> Small:
        """The small network that it is in its slot."""
        return small_network(self)

    @cached_property
    def digest(self) -> str:
        """Hash of blueprint, rewarded classes, slots, weights and cards."""
        what = f"{self.blueprint.text} {list(self.rewarded)} {self.provenance.slots}".encode()
        tensors = {f"{name} values": packed.values for name, packed in self.weights.items()}
        tensors |= {
            f"{name} positions": packed.positions
            for name, packed in self.weights.items()
            if packed.positions is not None
        }
        tensors |= {f"cards {name}": tensor for name, tensor in self.card_tensors.items()}
        return hashlib.sha256(what + hash_tensors(tensors).encode()).hexdigest()[:32]

    @property
    def card_tensors(self) -> State:
        """Its cards as its file holds them, a row for each class."""
        return to_tensors(self.own_cards)

    @property
    def manifest(self) -> Manifest:
        """What its file says about it."""
        return Manifest(
            "specialist",
            self.blueprint,
            [(self.rewarded, self.provenance)],
            [self.sparsity],
            digest=self.digest,
            threshold=self.threshold,
        )

    def _network(self) -> nn.Module:
        return Tempered(self.blueprint.network(self.state), self.blueprint.temperature)

    def state_dict(self, *, layout: Literal["dense", "sparse"] = "dense") -> State:
        """Return its weights by name, as a network of the same spec takes them."""
        if checked_layout(layout) == "dense":
            return self.state
        return {name: packed.sparse() for name, packed in self.weights.items()}

    def __repr__(self) -> str:
        slots = ", in its slot" if self.provenance.slots else ""
        return (
            f"Specialist({self.knows}, {self.provenance.data}, {self.blueprint.net}, "
            f"{100 * self.sparsity:.1f} % sparse, seed {self.seed}{slots})"
        )

    def __add__(self, other: object) -> Composite:
        return add_parts([self, other]) if isinstance(other, Part) else NotImplemented
