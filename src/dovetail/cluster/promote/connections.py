"""Connections between units of adjacent layers, from stacked parameters: their strengths, with gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from ...errors import ShapeError, SpecError
from ...graph import Layer, module_chain
from ...graph.trace import plain_module

_known: WeakKeyDictionary[nn.Module, tuple[object, list[Layer]]] = WeakKeyDictionary()
"""The layers of networks that were followed: a training asks for them before every batch, and they stay the same."""


def stacked_chain(
    model: nn.Module, example_input: Tensor | None = None
) -> tuple[dict[str, Tensor], list[Layer]]:
    """Return one network's parameters as those of a population of one, and its layers in the order of their use."""
    if not isinstance(model, nn.Module):
        raise SpecError(f"a network must be an nn.Module, not {type(model).__name__}")
    model = plain_module(model)
    params = {name: param.unsqueeze(0) for name, param in model.named_parameters()}
    shapes = [(name, param.shape) for name, param in params.items()]
    before, layers = _known.get(model, (None, []))
    if before != shapes:
        layers = module_chain(model, example_input)
        _known[model] = shapes, layers
    return params, layers


def without_norms(layers: Sequence[Layer]) -> Sequence[Layer]:
    """Return layers as they are; refuse those with more to them than a weight and a bias."""
    for layer in layers:
        if len(layer.vectors) > 1:
            raise ShapeError(
                f"{layer.weight!r} has batch norm or other scales ({', '.join(layer.vectors)}), which this does not "
                "take into account; use a network of weights and biases alone"
            )
    return layers


def connections(params: Mapping[str, Tensor], layers: Sequence[Layer]) -> list[Tensor]:
    """Return the strengths of all connections, layer by layer, each ``[members, units, units before]``.

    Without convolutions they are the weights' magnitudes, and inputs and outputs are units too. With convolutions they
    are the sums of magnitudes of kernel slices, between hidden channels only: the first layer and dense layers are
    left out. They are float64 where the weights are, else float32, in which eigenvalues can be found.

    Examples
    --------
    >>> import torch
    >>> from dovetail.graph import layer_chain
    >>> params = {"hidden": torch.tensor([[[1.0, -2.0]]]), "output": torch.tensor([[[-3.0]]])}
    >>> connections(params, layer_chain(params, population=True))
    [tensor([[[1., 2.]]]), tensor([[[3.]]])]
    """
    layers = without_norms(layers)
    if any(layer.convolutional for layer in layers):
        layers = [layer for layer in layers[1:] if layer.convolutional]
    if not layers:
        raise ShapeError("there are no connections between hidden channels: a single convolution has none")
    return [_strengths(params[layer.weight]) for layer in layers]


def _strengths(weight: Tensor) -> Tensor:
    magnitudes = weight.abs() if weight.dtype == torch.float64 else weight.abs().float()
    return magnitudes.flatten(3).sum(3) if weight.dim() > 3 else magnitudes
