"""A specialist: a sparse network that recognises its own classes and is undecided on all others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Literal

from torch import nn

from ..data.dataset import is_finite
from ..errors import DataError
from .basis import Basis, hash_tensors
from .networks import Tempered, network_of
from .packed import Packed, State, dense_state
from .part import Part, check_layout


@dataclass(frozen=True)
class Record:
    """Where a specialist comes from.

    Attributes
    ----------
    seed : int
        What θ0, the order of the data and the noise were drawn from.
    start : str
        Hash of θ0.
    loss : str
        ``"me"``, ``"qme"`` or ``"xe"``.
    slots : bool
        Whether it keeps to its own share of every hidden layer.
    data, fingerprint : str
        Name and fingerprint of the data it was trained on.
    training : dict
        All settings of its training.
    metrics : dict
        What it scored on the validation split at the end of training.
    """

    seed: int
    start: str
    loss: str
    slots: bool
    data: str
    fingerprint: str
    training: dict[str, object] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return it as plain values."""
        return asdict(self)


class Specialist(Part):
    """A sparse network with rewarded classes; made by `train_specialists`, or opened from a file.

    Attributes
    ----------
    basis : Basis
        Network, classes and temperature.
    rewarded : tuple of int
        Ids of the classes it recognises.
    weights : dict of str to Packed
        Its parameters and buffers: the entries that are kept.
    record : Record
        Where it comes from.

    Examples
    --------
    >>> import dovetail as dt
    >>> three, eight = dt.train_specialists(dt.load("digits"), "mlp:32", [3, 8], epochs=2, progress=False)
    >>> three
    Specialist(3, digits, mlp:32, 95.1 % sparse, seed 0)
    >>> three + eight
    Composite(3, 8: sum of 2 specialists, mlp:32)
    """

    def __init__(
        self, basis: Basis, rewarded: tuple[int, ...], weights: Mapping[str, Packed], record: Record
    ) -> None:
        for name, packed in weights.items():
            if packed.values.is_floating_point() and not is_finite(packed.values):
                raise DataError(f"weights {name!r} of a specialist hold NaN or infinity; train it again")
        self.basis = basis
        self._rewarded = tuple(rewarded)
        self.weights = dict(weights)
        self.record = record

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
        return self.record.seed

    @property
    def sparsity(self) -> float:
        """Share of its weights that are pruned."""
        parameters = self.parameter_names
        kept = sum(self.weights[name].kept for name in parameters)
        return 1 - kept / sum(self.weights[name].shape.numel() for name in parameters)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Which of its tensors are parameters; the others are batch-norm statistics."""
        return tuple(name for name, _ in network_of(self.basis, None).named_parameters())

    @property
    def state(self) -> State:
        """Its tensors with zeros where nothing is kept."""
        return dense_state(self.weights)

    @property
    def masks(self) -> State:
        """Which entries of each parameter are kept."""
        return {name: self.weights[name].mask() for name in self.parameter_names}

    @cached_property
    def digest(self) -> str:
        """Hash of basis, rewarded classes, slots and weights."""
        what = f"{self.basis.text} {list(self.rewarded)} {self.record.slots}".encode()
        tensors = {f"{name} values": packed.values for name, packed in self.weights.items()}
        tensors |= {
            f"{name} positions": packed.positions
            for name, packed in self.weights.items()
            if packed.positions is not None
        }
        return hashlib.sha256(what + hash_tensors(tensors).encode()).hexdigest()[:32]

    def module(self) -> nn.Module:
        """Return an ordinary network in evaluation mode, which divides its logits by the temperature."""
        return Tempered(network_of(self.basis, self.state), self.basis.temperature)

    def state_dict(self, *, layout: Literal["dense", "sparse"] = "dense") -> State:
        """Return its weights by name, as a network of the same spec takes them."""
        if check_layout(layout) == "dense":
            return self.state
        return {name: packed.sparse() for name, packed in self.weights.items()}

    def __repr__(self) -> str:
        slots = ", in its slot" if self.record.slots else ""
        return (
            f"Specialist({self.knows}, {self.record.data}, {self.basis.net}, {100 * self.sparsity:.1f} % sparse, "
            f"seed {self.seed}{slots})"
        )
