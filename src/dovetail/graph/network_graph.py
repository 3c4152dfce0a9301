"""Any network as a graph: a module, weight matrices, or a state dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from ..errors import ShapeError, SpecError, unknown_name
from .assemble import Convention, assemble
from .matrices import WAYS, read_matrices, read_state
from .record import record
from .rules import follow
from .structure import NetworkGraph
from .units import Units
from .weighted import Norm, WeightedLayer

EXAMPLE = "an example_input, for instance torch.zeros(1, 3, 32, 32)"


def network_graph(
    network: nn.Module | Mapping[str, Tensor] | Sequence[ArrayLike | Tensor],
    example_input: Tensor | None = None,
    *,
    norm: Norm = "l1",
    convention: Convention | None = None,
) -> NetworkGraph:
    """Return a network as a weighted, undirected graph: units or channels, and how strongly they are connected.

    Parameters
    ----------
    network : nn.Module, mapping or sequence
        A module; or a state dictionary whose layers read one another in order; or weight matrices
        ``[outputs, inputs]`` (kernels ``[outputs, inputs, height, width]``), first layer first.
    example_input : Tensor, optional
        A batch of one or more inputs for a module, of which only the shape counts. A module whose layers with
        weights are ``nn.Linear`` and ``nn.BatchNorm1d`` can do without.
    norm : {"l1", "l2", "induced"}
        Strength of a connection between two channels: the sum of the absolute entries of the kernel, the root of
        the sum of their squares, or the largest sum of absolute entries in a column of the kernel. Between
        two units of dense layers it is the absolute weight.
    convention : {"mlp", "cnn"}, optional
        Which units are nodes. "mlp": all, inputs and outputs too. "cnn": the channels that convolutions make; the
        input and dense layers are left out. By default "cnn" for networks with convolutions.

    Returns
    -------
    NetworkGraph
        Groups and blocks are named after the modules.

    Raises
    ------
    SpecError
        When the network does something that cannot be followed. The message names it and where it is.
    ShapeError
        When matrices do not fit together, or the network fails on the example.
    DataError
        When weights are not finite.

    Notes
    -----
    A module is run once, in evaluation mode, and comes out unchanged. Biases are ignored, and so is what does not
    contribute to the output.

    *Units that are one.* Tensors that are added share their nodes; so do a gate and what it gates, unless one gate
    serves many channels (then it is no part of them). Such a group is named after the layer that ran first. Each
    entry of the input is a unit, except that entries which the same weights read (the pixels of a channel) are one.

    *Flattened maps.* A dense layer behind a flattened feature map reads each channel through one weight for each place;
    the strength is the norm of all of these (for "induced", their sum).

    *Normalisation.* Batch norm multiplies by ``|γ| / sqrt(variance + eps)``. This is folded into the layer before it,
    also through pooling and ReLU. Where there is not exactly one such layer, or something else reads that layer's
    output as well (after additions and concatenations, in pre-activation networks), it is folded into the inputs of
    the layers that follow; a sum that comes before any layer ends it. Other norms (layer, group, instance) fold in
    ``|γ|`` alone, and a product with a constant tensor (layer scale) folds in its absolute value. In a
    state dictionary eps is taken to be 1e-5.

    *Groups.* A layer in groups is one block. Where it reads or makes a node twice, or some of its units are no nodes,
    each group is a block of its own, and shuffles stay within groups.

    *A layer that is used again* has new nodes each time; its second use is named ``"name#2"``.

    A state dictionary does not tell of additions without weights of their own: pass the module of a residual
    network.

    Examples
    --------
    >>> graph = network_graph(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
    >>> graph
    NetworkGraph(9 nodes in 3 groups, 18 edges)
    >>> [group.name for group in graph.groups]
    ['input', '0', '2']

    >>> class Residual(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.stem, self.inner, self.outer = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)
    ...     def forward(self, x):
    ...         x = self.stem(x)
    ...         return x + self.outer(self.inner(x).relu())
    >>> [(group.name, group.size) for group in network_graph(Residual(), torch.zeros(1, 3, 9, 9)).groups]
    [('stem', 8), ('inner', 4)]
    """
    if norm not in get_args(Norm):
        raise unknown_name("norm", norm, get_args(Norm))
    if convention is not None and convention not in get_args(Convention):
        raise unknown_name("convention", convention, get_args(Convention))
    layers, units = _read(network, example_input)
    return assemble(layers, units, norm=norm, convention=convention)


def _read(
    network: nn.Module | Mapping[str, Tensor] | Sequence[ArrayLike | Tensor], example_input: Tensor | None
) -> tuple[list[WeightedLayer], Units]:
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


def _read_module(network: nn.Module, example_input: Tensor | None) -> tuple[list[WeightedLayer], Units]:
    # A compiled network is a wrapper around the plain one.
    network = getattr(network, "_orig_mod", network)
    for name, tensor in [*network.named_parameters(), *network.named_buffers()]:
        if nn.parameter.is_lazy(tensor) or tensor.is_meta:
            raise SpecError(f"{name!r} has no values yet; load weights, or run the network once, before")
    follower = follow(record(network, _example(network, example_input)))
    if not follower.layers:
        raise SpecError("the network has no layer with weights between its input and its output")
    return follower.layers, follower.units


def _example(network: nn.Module, given: Tensor | None) -> Tensor:
    """Return the example input, or for a network of dense layers one made up."""
    if given is not None:
        if not isinstance(given, Tensor) or given.dim() < 2 or 0 in given.shape:
            what = (
                f"of shape {tuple(given.shape)}" if isinstance(given, Tensor) else f"a {type(given).__name__}"
            )
            raise ShapeError(f"example_input is {what}; pass a tensor with a batch of one or more inputs")
        return given
    parts = [part for part in network.modules() if next(part.parameters(recurse=False), None) is not None]
    other = next((part for part in parts if not isinstance(part, nn.Linear | nn.BatchNorm1d)), None)
    first = next((part for part in parts if isinstance(part, nn.Linear)), None)
    if first is None or other is not None:
        kind = "without nn.Linear" if other is None else f"with {type(other).__name__}"
        raise SpecError(f"a network {kind} needs {EXAMPLE}; only its shape counts")
    return torch.zeros(1, first.in_features)
