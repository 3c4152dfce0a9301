"""Layers given as weight matrices, as a state dictionary or in a file of weights: each reads the one before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ..errors import DataError, ShapeError, SpecError
from ..io.checkpoint import check_dense, load_checkpoint
from .chain import Layer, layer_chain
from .families import read_family
from .graph import Floats
from .layers import Reading, Units, WeightedLayer

_BATCH_NORM_EPS = 1e-5  # a state dictionary does not tell; this is PyTorch's

WAYS = "pass a module, a state dictionary, or a list of matrices [outputs, inputs], first layer first"
PASS_MODULE = "pass the module itself with example_input instead"
"""The way out when tensors do not say how layers are connected; the command line has another in its place."""


def read_matrices(matrices: Sequence[ArrayLike | Tensor]) -> Reading:
    """Return the layers that weight matrices ``[outputs, inputs]`` stand for, first layer first.

    Kernels ``[outputs, inputs, height, width]`` stand for convolutions.
    """
    tensors: dict[str, Tensor] = {}
    for number, matrix in enumerate(matrices, start=1):
        name = f"layer{number}"
        tensor = tensors[name] = _tensor(name, matrix)
        if tensor.dim() < 2 or 0 in tensor.shape:
            raise ShapeError(
                f"matrix {number} has shape {_shape(tensor)}; a matrix is [outputs, inputs], at least one of each"
            )
    for (name, first), (after, second) in pairwise(tensors.items()):
        flattened = first.dim() > 2 and second.dim() == 2 and second.shape[1] % len(first) == 0
        if second.shape[1] != len(first) and not flattened:
            raise ShapeError(
                f"{after} is {_shape(second)} and so reads {second.shape[1]} units, but {name} is {_shape(first)} "
                f"and has {len(first)}; matrices are [outputs, inputs], first layer first"
            )
    return _chain(tensors, {})


BESIDE_WEIGHTS = ("masks/", "searches/")
"""How the names of those tensors of a sculpted network's file begin that are not its weights."""


def read_state(state: Mapping[str, ArrayLike | Tensor]) -> Reading:
    """Return the layers of a state dictionary, with batch norm folded into the layer before it.

    Weights that are named as those of a known family are read as such a network (`families`). Others are read in the
    order of the dictionary, each layer from the one before.

    A layer is a tensor of two or more dimensions. Batch norm is told by its ``running_var``. Weights with a
    pruning mask (``weight_orig`` and ``weight_mask``) are masked.
    """
    tensors = _masked({name: _tensor(name, tensor) for name, tensor in state.items()})
    computed = next((name for name in tensors if "parametrizations." in name), None)
    if computed is not None:
        raise SpecError(f"{computed!r} is no weight but what one is computed from; {PASS_MODULE}")
    norms = _batch_norms(tensors)
    family = read_family(tensors, norms)
    return _chain(tensors, norms) if family is None else family[1]


def family_of(state: Mapping[str, Tensor]) -> str | None:
    """Return in words which family of networks a state dictionary belongs to; None where it is read as a chain.

    Examples
    --------
    >>> family_of({"fc.weight": torch.zeros(2, 3)}) is None
    True
    """
    family = read_family(state, _batch_norms(state))
    return None if family is None else family[0]


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the weights in a file, without what that of a sculpted network has beside them."""
    found = {name: t for name, t in load_checkpoint(path).items() if not name.startswith(BESIDE_WEIGHTS)}
    for prefix in ("module.", "_orig_mod."):  # what DataParallel and torch.compile put in front
        if all(name.startswith(prefix) for name in found):
            found = {name.removeprefix(prefix): tensor for name, tensor in found.items()}
    return found


def _chain(tensors: Mapping[str, Tensor], factors: Mapping[str, Floats]) -> Reading:
    try:
        found = layer_chain(tensors)
    except ShapeError as error:
        raise ShapeError(f"{error}; {PASS_MODULE}") from None
    if not found:
        raise SpecError(f"there is no weight matrix among {len(tensors)} tensors; {WAYS}")
    units = Units()
    before = units.add("input", found[0].inputs, convolutional=False)
    layers = []
    for layer in found:
        name = layer.weight.removesuffix(".weight")
        outputs = units.add(name, layer.units, convolutional=layer.convolutional)
        layers.append(
            WeightedLayer(
                name,
                tensors[layer.weight],
                outputs,
                np.repeat(before, layer.places),
                output_factor=_factor(layer, factors),
            )
        )
        before = outputs
    unused = set(factors) - {vector for layer in found for vector in layer.vectors}
    if unused:
        raise ShapeError(
            f"batch norm with {sorted(unused)[0]!r} does not fit the layer before it; {PASS_MODULE}"
        )
    return Reading(layers, units)


def _factor(layer: Layer, factors: Mapping[str, Floats]) -> Floats | None:
    own = [factors[vector] for vector in layer.vectors if vector in factors]
    return np.prod(own, axis=0) if own else None


def _batch_norms(tensors: Mapping[str, Tensor]) -> dict[str, Floats]:
    """Return for each running variance what its batch norm multiplies by."""
    factors = {}
    for name, variance in tensors.items():
        if name.rpartition(".")[2] != "running_var":
            continue
        scale = tensors.get(name.removesuffix("running_var") + "weight", torch.ones(()))
        factor = scale.double().abs() / (variance.double() + _BATCH_NORM_EPS).sqrt()
        factors[name] = factor.numpy()
    return factors


def _masked(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors with pruning masks applied, under the names they have without."""
    result = {}
    for name, tensor in tensors.items():
        plain = name.removesuffix("_orig")
        if name.endswith("_mask") and f"{name.removesuffix('_mask')}_orig" in tensors:
            continue
        mask = tensors.get(f"{plain}_mask") if plain != name else None
        result[name if mask is None else plain] = tensor if mask is None else tensor * mask
    return result


def _tensor(name: str, values: ArrayLike | Tensor) -> Tensor:
    if isinstance(values, Tensor):
        check_dense(name, values)
    try:
        tensor = (
            values.detach().to_dense() if isinstance(values, Tensor) else torch.tensor(np.asarray(values))
        )
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{name!r} cannot be read as numbers: {error}") from None
    if tensor.is_complex():
        raise DataError(f"{name!r} holds complex numbers; a graph is made of real weights")
    return tensor.cpu()


def _shape(tensor: Tensor) -> str:
    return " x ".join(map(str, tensor.shape)) or "()"
