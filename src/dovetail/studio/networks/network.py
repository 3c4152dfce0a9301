"""A network from a file, as far as it could be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from ...graph.chain import Layer
from ...sculpting import Explanation
from ...sculpting.drawing.style import checked_names
from ...sculpting.modules.hierarchy import Hierarchy, Unit
from ..held_data import DataCache
from .yardstick import Yardstick

if TYPE_CHECKING:
    from .parts_matrix import PartsMatrix

Kind = Literal["sculpture", "specialist", "composite", "modules", "checkpoint"]
Matrix = NDArray[np.float32]
"""Weights between two layers, ``[units, units before]``, 0 where there is no edge."""
Edges: TypeAlias = Sequence[NDArray[np.bool_]]
"""Which edges there are between layers, in the shapes of the matrices."""


@dataclass(frozen=True, eq=False)
class Slot:
    """What one specialist has for itself in a composite in slots.

    Attributes
    ----------
    units : frozenset of Unit
        Its hidden units and its outputs.
    tensors_without : callable, optional
        Gives the composite's weights without the specialist; None for the inputs, which belong to no specialist.
    """

    units: frozenset[Unit]
    tensors_without: Callable[[], Mapping[str, Tensor]] | None = None


@dataclass(frozen=True, eq=False)
class Network:
    """A network that was opened.

    Attributes
    ----------
    kind : str
        What its file holds.
    title : str
        What it is, in a few words.
    facts : dict of str to str
        What else is known of it.
    tensors : mapping of str to Tensor
        Its weights, first layer first; none for a file with modules alone.
    chain : tuple of Layer
        Its layers, each reading the one before; empty where they do not, and ``doubt`` says why.
    hierarchy : Hierarchy, optional
        The modules that come with it.
    build : callable, optional
        Makes a network that can be run of such tensors.
    yardstick : callable, optional
        Gives what its outputs are measured by. It may have to load data, so it is called only when asked for, with
        where to find it.
    output_names : tuple of str, optional
        What its outputs are called.
    slots : mapping of str to Slot
        For a composite in slots: what belongs to each specialist, by what it knows, and the inputs.
    doubt : str
        What could not be read off the file, or was taken for granted.
    explanation : Explanation, optional
        What its modules and units compute, where that is known without data.
    parts : PartsMatrix, optional
        A composite by its parts and outputs.
    """

    kind: Kind
    title: str
    facts: Mapping[str, str]
    tensors: Mapping[str, Tensor]
    chain: tuple[Layer, ...]
    hierarchy: Hierarchy | None = None
    build: Callable[[Mapping[str, Tensor]], nn.Module] | None = None
    yardstick: Callable[[DataCache], Yardstick] | None = None
    output_names: Sequence[str] | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)
    doubt: str = ""
    explanation: Explanation | None = None
    parts: PartsMatrix | None = None

    @cached_property
    def matrices(self) -> tuple[Matrix, ...]:
        """The weights between layers, as in `matrices_of`; 1 for each edge where weights are not known."""
        if self.chain or self.hierarchy is None:
            return matrices_of(self.tensors, self.chain)
        return tuple(edges.astype(np.float32) for edges in self.hierarchy.connections)

    @cached_property
    def edges(self) -> tuple[NDArray[np.bool_], ...]:
        """Which edges there are: those that the masks of a sculpture kept, else weights other than 0."""
        if self.hierarchy is not None:
            return self.hierarchy.connections
        return tuple(matrix != 0 for matrix in self.matrices)

    @property
    def widths(self) -> list[int]:
        """Units of each layer, inputs first."""
        return [self.edges[0].shape[1], *map(len, self.edges)] if self.edges else []

    def unit_name(self, unit: Unit) -> str:
        """Return what a unit is called: x1 and y1 or a name of its own at the ends, a number inside."""
        layer, number = unit
        if layer == 0:
            return self.inputs[number]
        if layer < len(self.edges):
            return f"hidden {layer}, unit {number + 1}"
        return self.outputs[number]

    @cached_property
    def inputs(self) -> list[str]:
        """What the inputs are called."""
        if self.hierarchy is not None:
            return self.hierarchy.end_names[0]
        return checked_names(None, "x", self.widths[0] if self.edges else 0, "inputs")

    @cached_property
    def outputs(self) -> list[str]:
        """What the outputs are called."""
        return checked_names(self.output_names, "y", self.widths[-1] if self.edges else 0, "outputs")


def matrices_of(tensors: Mapping[str, Tensor], chain: Sequence[Layer]) -> tuple[Matrix, ...]:
    """Return the weights between layers; kernels, and all places of a channel, add up their absolute values.

    Examples
    --------
    >>> import torch
    >>> from dovetail.graph.chain import layer_chain
    >>> tensors = {"conv": -torch.ones(2, 1, 3, 3), "dense": torch.ones(1, 8)}
    >>> [matrix.tolist() for matrix in matrices_of(tensors, layer_chain(tensors))]
    [[[9.0], [9.0]], [[4.0, 4.0]]]
    """
    found = []
    for layer in chain:
        weight = tensors[layer.weight].detach().to_dense().float()
        if layer.convolutional or layer.places > 1:
            weight = layer.by_unit(weight.abs()).sum(2)
        found.append(weight.numpy())
    return tuple(found)
