"""Chains of dense layers, each reading the one before and nothing else: their weight matrices, first layer first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor, nn

from ..errors import ShapeError
from .layers import Reading
from .read import AnyNetwork, read_network

DenseNetwork: TypeAlias = AnyNetwork | Iterable[ArrayLike | Tensor]
"""A module of dense layers, its state dictionary, or matrices or masks ``[outputs, inputs]``, first layer first."""

_CHAIN = "this needs a chain of dense layers, or a list of matrices [outputs, inputs] in their place"


def dense_matrices(network: DenseNetwork, example_input: Tensor | None = None) -> dict[str, Tensor]:
    """Return the weight matrices of a chain of dense layers by name, in the order in which the network uses them.

    Parameters
    ----------
    network : nn.Module, mapping or iterable
        A module, which is followed through its forward: in which order its layers were defined does not matter. Pruned
        and parametrised weights are read as they are used. Or a state dictionary, or matrices ``[outputs, inputs]``.
    example_input : Tensor, optional
        A batch for a module that does not start with an ``nn.Linear``.

    Raises
    ------
    ShapeError
        For convolutions, shortcuts and branches.
    DataError
        For weights that are not finite.

    Examples
    --------
    >>> class Backwards(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.last, self.first = nn.Linear(4, 2), nn.Linear(3, 4)
    ...     def forward(self, x):
    ...         return self.last(self.first(x).relu())
    >>> {name: tuple(matrix.shape) for name, matrix in dense_matrices(Backwards()).items()}
    {'first': (4, 3), 'last': (2, 4)}
    """
    if isinstance(network, nn.Module):
        for name, module in network.named_modules():
            if isinstance(module, nn.modules.conv._ConvNd):
                raise _convolution(name)
    elif (
        isinstance(network, Iterable)
        and not isinstance(network, str | bytes)
        and not hasattr(network, "__len__")
    ):
        network = list(network)
    reading = read_network(network, example_input)  # type: ignore[arg-type]  # which says so where it is none
    _check_chain(reading)
    return {layer.name: layer.weight for layer in reading.layers}


def _check_chain(reading: Reading) -> None:
    units = np.arange(len(reading.units))
    if not np.array_equal(reading.units.find(units), units):
        raise ShapeError(f"some units of this network are added to others, or gate them; {_CHAIN}")
    before, source = np.arange(reading.units.sources[0].size), "the input"
    for layer in reading.layers:
        if layer.convolutional:
            raise _convolution(layer.name)
        if not np.array_equal(layer.inputs, before):
            raise ShapeError(
                f"layer {layer.name!r} does not read {source} as it is, and nothing else; {_CHAIN}"
            )
        layer.check_finite()
        before, source = layer.outputs, f"layer {layer.name!r}"


def _convolution(name: str) -> ShapeError:
    return ShapeError(f"layer {name!r} is a convolution; {_CHAIN}")
