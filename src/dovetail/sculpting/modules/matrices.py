"""Which edges a network has, read off a module of dense layers, weight matrices or masks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from ...errors import DataError, ShapeError, SpecError

Edges: TypeAlias = NDArray[np.bool_]
"""The edges between a layer and the one before it, ``[units, units before]``."""

Matrices: TypeAlias = Mapping[str, Tensor] | Iterable[Tensor | ArrayLike]

_WAYS = "pass a network of dense layers, or a list of matrices [units, units before], first layer first"


def read_edges(network: nn.Module | Matrices) -> tuple[Edges, ...]:
    """Return the edges between the layers of a network, first layer first: its weights other than 0.

    Parameters
    ----------
    network : nn.Module, mapping or sequence
        A module whose layers with weights are all ``nn.Linear``, in the order in which they are used (batch norm
        in between is passed over), or weight matrices or masks, ``[units, units before]``. A mapping is read as
        a state dictionary: in order, without its vectors.

    Returns
    -------
    tuple of bool array
        One for each layer. They share no memory with the network and cannot be written to.

    Examples
    --------
    >>> for edges in read_edges([[[0.5, 0.0], [0.0, -2.0]], torch.tensor([[1, 0]])]):
    ...     print(edges.tolist())
    [[True, False], [False, True]]
    [[True, False]]
    """
    named = list(_named(network))
    if not named:
        raise SpecError(f"no matrix was given; {_WAYS}")
    matrices = [_edges(name, matrix) for name, matrix in named]
    for (before, first), (name, second) in pairwise(zip([name for name, _ in named], matrices, strict=True)):
        if second.shape[1] != len(first):
            raise ShapeError(
                f"{name} is {_shape(second.shape)} and so reads {second.shape[1]} units, but {before} is "
                f"{_shape(first.shape)} and has {len(first)}; matrices are [units, units before], first layer first"
            )
    return tuple(matrices)


def _named(network: nn.Module | Matrices) -> Iterator[tuple[str, Tensor | ArrayLike]]:
    """Yield each matrix with what to call it in messages."""
    if isinstance(network, nn.Module):
        yield from _weights(network, "")
    elif isinstance(network, Mapping):
        for name, tensor in network.items():
            if np.ndim(tensor) > 1:
                yield repr(name), tensor
    elif isinstance(network, Tensor | np.ndarray):
        raise SpecError(
            f"one array of shape {_shape(network.shape)}; {_WAYS}; for a single layer, a list of one"
        )
    elif isinstance(network, str | bytes) or not isinstance(network, Iterable):
        raise SpecError(f"no network: a value of type {type(network).__name__}; {_WAYS}")
    else:
        for number, matrix in enumerate(network):
            yield f"matrix {number}", matrix


def _weights(module: nn.Module, name: str) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights of dense layers, as pruned or parametrised, and refuse modules with others."""
    if isinstance(module, nn.Linear):
        if isinstance(module.weight, nn.parameter.UninitializedParameter):
            raise SpecError(f"layer {name!r} has no weights yet; run the network once before")
        yield f"layer {name!r}", module.weight
        return
    own = [key for key, _ in module.named_parameters(recurse=False)]
    if own and not isinstance(module, nn.BatchNorm1d):
        kind = type(module).__name__
        where = f"layer {name!r} is a {kind}" if name else f"the network is a {kind}"
        raise SpecError(
            f"{where} with parameters of its own ({', '.join(own)}); modules are read off dense layers "
            "(nn.Linear) only; pass a list of matrices [units, units before] instead"
        )
    for key, child in module.named_children():
        yield from _weights(child, f"{name}.{key}" if name else key)


def _edges(name: str, matrix: Tensor | ArrayLike) -> Edges:
    try:
        # A tensor is compared as it is: numpy has no bfloat16.
        values = matrix.detach().to_dense() if isinstance(matrix, Tensor) else np.asarray(matrix)
        if isinstance(values, Tensor):
            finite, edges = torch.isfinite(values).cpu().numpy(), (values != 0).cpu().numpy()
        else:
            finite, edges = np.isfinite(values), values != 0
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{name} cannot be read as numbers: {error}") from None
    if edges.ndim != 2:
        raise ShapeError(f"{name} has shape {_shape(edges.shape)}; a matrix is [units, units before]")
    if 0 in edges.shape:
        raise ShapeError(f"{name} has shape {_shape(edges.shape)}; a layer has at least one unit")
    if not finite.all():
        raise DataError(f"{name} has weights that are not finite; train again, or mask them")
    edges.setflags(write=False)
    return edges


def _shape(shape: Iterable[int]) -> str:
    return " x ".join(map(str, shape)) or "()"
