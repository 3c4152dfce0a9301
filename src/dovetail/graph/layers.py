"""Layers as they are found in a network: their weights as matrices, and the units that they read and make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from ..errors import DataError
from .graph import Floats, Head, Indices

Norm: TypeAlias = Literal["l1", "l2", "induced"]

NO_UNIT, MIXTURE = -1, -2
"""What stands where no unit is: a constant, or a mixture of many units that no weights made (attention scores, the mean
over all channels), which may gate units, but which no layer can read."""


@dataclass(eq=False)
class WeightedLayer:
    """A dense layer or a convolution.

    Attributes
    ----------
    name : str
        The layer.
    weight : Tensor
        ``[outputs, inputs of a group, kernel...]``.
    outputs : int array
        The unit of each output.
    inputs : int array
        The unit of each input, -1 where a constant is read. A unit appears more than once where a dense layer
        reads a flattened feature map; one of the outputs, where gates of a recurrent layer belong to one unit.
    groups : int
        Of a grouped convolution.
    call : tuple of str and int, optional
        Which function of PyTorch it is in the network's forward, and how many of that name are called before it
        (`Call.number`). None for layers that were not found by running a network.
    output_factor, input_factor : float array or None
        What normalisation multiplies outputs and inputs by, at least 0.
    fed_by : frozenset of int
        The layers, by their place in the reading, whose outputs come into what this one reads; -1 is the network's
        input. None where the network was not run.
    convolutional : bool
        Whether the weight has kernel dimensions.
    axis : int
        The dimension of what it reads and of what it makes along which its inputs and outputs lie, counted from the
        end: -1 for a dense layer, -3 for a convolution of images.
    """

    name: str
    weight: Tensor
    outputs: Indices
    inputs: Indices
    groups: int = 1
    call: tuple[str, int] | None = None
    output_factor: Floats | None = None
    input_factor: Floats | None = None
    fed_by: frozenset[int] | None = None
    convolutional: bool = field(init=False)
    axis: int = field(init=False)

    def __post_init__(self) -> None:
        self.convolutional = self.weight.dim() > 2
        self.axis = 1 - self.weight.dim()

    @property
    def recurrent(self) -> bool:
        """Whether it is part of a recurrent layer, which reads its own outputs."""
        return self.call is not None and self.call[0].startswith(("lstm", "gru", "rnn_"))

    def strengths(self, norm: Norm) -> Floats:
        """Return how strongly outputs and inputs are connected, ``[outputs, inputs]``."""
        matrix = kernel_norm(self.weight, norm)
        if self.groups > 1:
            matrix = _spread(matrix, self.groups)
        if self.output_factor is not None:
            matrix = matrix * self.output_factor[:, None]
        if self.input_factor is not None:
            matrix = matrix * self.input_factor
        return matrix

    def signed(self) -> Floats:
        """Return the weights of a dense layer with their signs, and with what normalisation multiplies them by."""
        matrix: Floats = self.weight.detach().to_dense().to("cpu", torch.float64).numpy()
        if self.output_factor is not None:
            matrix = matrix * self.output_factor[:, None]
        return matrix if self.input_factor is None else matrix * self.input_factor

    def check_finite(self) -> None:
        """Raise `DataError` when a weight or a factor is NaN or infinite."""
        bad = int((~torch.isfinite(self.weight)).sum())
        if bad:
            raise DataError(
                f"layer {self.name!r} has {bad} weights that are not finite; train again, or set them to 0"
            )
        for factor in (self.output_factor, self.input_factor):
            if factor is not None and not np.isfinite(factor).all():
                raise DataError(
                    f"the normalisation next to layer {self.name!r} has a scale that is not finite; "
                    "its running variance must be at least 0 and its weights finite"
                )


def kernel_norm(weight: Tensor, norm: Norm) -> Floats:
    """Return the norm of each kernel, ``[outputs, inputs]``; of a dense layer, the absolute weights.

    Examples
    --------
    >>> weight = torch.tensor([[[[1.0, -2.0], [3.0, 0.0]]]])
    >>> [kernel_norm(weight, norm).item() for norm in ("l1", "l2", "induced")]
    [6.0, 3.7416573867739413, 4.0]
    """
    kernels = weight.detach().to_dense().to("cpu", torch.float64).abs()
    if kernels.dim() > 2:
        if norm == "induced":
            # A matrix norm: the columns of the kernel are summed first. A kernel of one dimension is a column.
            kernels = kernels.sum(dim=2).flatten(2).amax(dim=2) if kernels.dim() > 3 else kernels.sum(dim=2)
        elif norm == "l2":
            kernels = kernels.flatten(2).square().sum(dim=2).sqrt()
        else:
            kernels = kernels.flatten(2).sum(dim=2)
    matrix: Floats = kernels.numpy()
    return matrix


def _spread(matrix: Floats, groups: int) -> Floats:
    """Return ``[outputs, inputs of a group]`` as ``[outputs, inputs]``, 0 between different groups."""
    outputs, inputs = matrix.shape
    spread = np.zeros((groups, outputs // groups, groups, inputs))
    run = np.arange(groups)
    spread[run, :, run] = matrix.reshape(groups, outputs // groups, inputs)
    return spread.reshape(outputs, groups * inputs)


@dataclass(frozen=True)
class Source:
    """A run of units that came about together: the network's input, or the outputs of a layer.

    Attributes
    ----------
    name : str
        The layer, or ``"input"``.
    first, size : int
        The units are numbered from `first`.
    convolutional : bool
        Whether the units are the channels of a convolution.
    """

    name: str
    first: int
    size: int
    convolutional: bool


class Units:
    """Units in the order in which they came about, and which of them were found to be one and the same.

    Units become one when their values are added, or when one gates the other. `NO_UNIT` and `MIXTURE` are below 0 and
    stay what they are.
    """

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self._same = np.arange(0)  # for each unit the first one of those that are one with it
        self._summed: set[int] = set()

    def __len__(self) -> int:
        return len(self._same)

    def add(self, name: str, size: int, *, convolutional: bool) -> Indices:
        """Return the numbers of new units."""
        first = len(self)
        self.sources.append(Source(name, first, size, convolutional))
        new = np.arange(first, first + size)
        self._same = np.concatenate([self._same, new])
        return new

    def find(self, units: Indices) -> Indices:
        """Return, for each unit, the first of those that are one with it; what is below 0 stays."""
        return np.where(units < 0, units, self._same[units])

    def unite(self, some: Indices, others: Indices) -> None:
        """Make each of some units one with the unit at the same place of others; what is below 0 joins nothing."""
        both = (some >= 0) & (others >= 0)
        some, others = self.find(some[both]), self.find(others[both])
        pairs = np.unique(some * len(self) + others)
        some, others = pairs // len(self), pairs % len(self)
        involved, place = np.unique(np.concatenate([some, others]), return_inverse=True)
        rows, columns = np.split(place, 2)
        links = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(involved),) * 2)
        _, part = connected_components(links, directed=False)
        _, first = np.unique(part, return_index=True)
        self._same[involved] = involved[first][part]
        self._same = self._same[self._same]

    def note_sum(self, some: Indices, others: Indices) -> None:
        """Note that units are added to the units at the same places of others."""
        both = (some >= 0) & (others >= 0)
        self._summed.update(np.unique(some[both]).tolist())

    def streams(self) -> NDArray[np.bool_]:
        """Return which units are sums of what several sources made, as those of a residual stream are.

        Units that are one with entries of the network's input are not counted: they are what the network is given.
        """
        every = self.find(np.arange(len(self)))
        summed = np.isin(every, self.find(np.array(sorted(self._summed), dtype=np.int64)))
        source = np.repeat(np.arange(len(self.sources)), [one.size for one in self.sources])
        first, last = np.full(len(self), len(self.sources)), np.full(len(self), -1)
        np.minimum.at(first, every, source)
        np.maximum.at(last, every, source)
        return np.asarray(summed & (first < last)[every] & (first > 0)[every])


@dataclass(frozen=True, eq=False)
class Reading:
    """A network as it was read.

    Attributes
    ----------
    layers : list of WeightedLayer
        In the order of their use.
    units : Units
        What the layers read and make.
    heads : tuple of Head
        Of attention, in the order of their use.
    """

    layers: list[WeightedLayer]
    units: Units
    heads: tuple[Head, ...] = ()
