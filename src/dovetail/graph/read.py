"""The one reader of networks: which layers there are, in which order, who feeds whom, with which weights.

A module is followed through its forward; a state dictionary and a list of matrices are read by their shapes, each layer
from the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn.utils.parametrize import ParametrizationList

from ..errors import ShapeError, SpecError
from .chain import Layer, find_layers
from .layers import Reading
from .matrices import WAYS, read_matrices, read_state
from .rules import follow
from .trace import Trace, plain_module, record

AnyNetwork: TypeAlias = nn.Module | Mapping[str, Tensor] | Sequence[ArrayLike | Tensor]
"""A module, a state dictionary, or weight matrices ``[outputs, inputs]``, first layer first."""

DenseNetwork: TypeAlias = AnyNetwork | Iterable[ArrayLike | Tensor]
"""A module of dense layers, its state dictionary, or matrices or masks ``[outputs, inputs]``, first layer first."""

EXAMPLE = "an example_input, for instance torch.zeros(1, 3, 32, 32)"
_ONE_BY_ONE = "this needs a network whose layers form a chain, each with a weight of its own"
_CHAIN = "this needs a chain of dense layers, or a list of matrices [outputs, inputs] in their place"


def read_network(network: AnyNetwork, example_input: Tensor | None = None) -> Reading:
    """Return the layers of a network in the order of their use, and the units between them.

    Parameters
    ----------
    network : nn.Module, mapping or sequence
        A module; or a state dictionary whose layers read one another in order; or weight matrices
        ``[outputs, inputs]`` (kernels ``[outputs, inputs, height, width]``), first layer first.
    example_input : Tensor, optional
        A batch of one or more inputs for a module, of which only the shape counts. A module whose layers with
        weights are ``nn.Linear`` and ``nn.BatchNorm1d`` can do without.

    Examples
    --------
    >>> reading = read_network(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
    >>> for layer in reading.layers:
    ...     print(layer.name, layer.inputs.tolist(), layer.outputs.tolist())
    0 [0, 1, 2, 3] [4, 5, 6]
    2 [4, 5, 6] [7, 8]
    """
    if isinstance(network, nn.Module):
        return _read_module(network, example_input)
    if isinstance(network, Mapping):
        return read_state(network)
    if isinstance(network, Tensor | np.ndarray):
        raise SpecError(
            f"one array of shape {tuple(network.shape)}; {WAYS}; for a single layer, a list of one"
        )
    if isinstance(network, str | bytes) or not isinstance(network, Sequence):
        raise SpecError(f"no network: a value of type {type(network).__name__}; {WAYS}")
    return read_matrices(network)


def _read_module(network: nn.Module, example_input: Tensor | None) -> Reading:
    network = plain_module(network)
    for name, tensor in [*network.named_parameters(), *network.named_buffers()]:
        if nn.parameter.is_lazy(tensor) or tensor.is_meta:
            raise SpecError(f"{name!r} has no values yet; load weights, or run the network once, before")
    reading = follow(_recorded(network, example_input))
    if not reading.layers:
        raise SpecError("the network has no layer with weights between its input and its output")
    return reading


def _recorded(network: nn.Module, example_input: Tensor | None) -> Trace:
    """Return what a network does to an example: the one given, or for a network of dense layers one made up."""
    if example_input is not None:
        if not isinstance(example_input, Tensor) or example_input.dim() < 2 or 0 in example_input.shape:
            kind = type(example_input).__name__
            what = f"of shape {tuple(example_input.shape)}" if kind == "Tensor" else f"a {kind}"
            raise ShapeError(f"example_input is {what}; pass a tensor with a batch of one or more inputs")
        return record(network, example_input)
    parts = [part for part in network.modules() if next(part.parameters(recurse=False), None) is not None]
    known = nn.Linear | nn.BatchNorm1d | ParametrizationList
    other = next((part for part in parts if not isinstance(part, known)), None)
    widths = dict.fromkeys(part.in_features for part in parts if isinstance(part, nn.Linear))
    if not widths or other is not None:
        kind = "without nn.Linear" if other is None else f"with {type(other).__name__}"
        raise SpecError(f"a network {kind} needs {EXAMPLE}; only its shape counts")
    # Which layer comes first is not known yet, only which was defined first.
    errors = []
    for width in widths:
        try:
            return record(network, torch.zeros(1, width))
        except ShapeError as error:
            errors.append(error)
    raise errors[0]


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


def module_chain(network: nn.Module, example_input: Tensor | None = None) -> list[Layer]:
    """Return the layers of a module in the order of their use, where each reads the one before it, and nothing else.

    It is what `layer_chain` reads off tensors alone, for a network that can be followed through its forward.

    Parameters
    ----------
    network : nn.Module
        Dense layers and convolutions, defined in any order. Names are those of its parameters.
    example_input : Tensor, optional
        A batch for a module with convolutions, of which only the shape counts.

    Raises
    ------
    ShapeError
        For shortcuts and branches, for convolutions in groups, and for weights that are used again or computed.

    Examples
    --------
    >>> class Backwards(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.last, self.first = nn.Linear(4, 2), nn.Linear(3, 4)
    ...     def forward(self, x):
    ...         return self.last(self.first(x).relu())
    >>> [layer.weight for layer in module_chain(Backwards())]
    ['first.weight', 'last.weight']
    """
    network = plain_module(network)
    params = dict(network.named_parameters())
    defined = {params[layer.weight].data_ptr(): layer for layer in find_layers(params)}
    if not defined:
        raise ShapeError("this network has no layers with weights; use one with dense layers or convolutions")
    reading = read_network(network, example_input)
    chain: list[Layer] = []
    before, source = None, "the input"
    for layer in reading.layers:
        own = defined.pop(layer.weight.data_ptr(), None)
        if own is None or params[own.weight].stride() != layer.weight.stride() or layer.groups > 1:
            raise ShapeError(
                f"the weights of layer {layer.name!r} are computed, used before, or in groups; {_ONE_BY_ONE}"
            )
        places = 1 if before is None else len(layer.inputs) // len(before)
        if before is not None and not np.array_equal(layer.inputs, np.repeat(before, places)):
            raise ShapeError(f"layer {layer.name!r} does not read {source}, and nothing else; {_ONE_BY_ONE}")
        if not np.array_equal(reading.units.find(layer.outputs), layer.outputs):
            raise ShapeError(
                f"units of layer {layer.name!r} are added to others, or gate them; {_ONE_BY_ONE}"
            )
        chain.append(replace(own, places=places))
        before, source = layer.outputs, f"layer {layer.name!r}"
    return chain


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
