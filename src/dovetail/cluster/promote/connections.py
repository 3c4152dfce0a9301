"""Connections between units of adjacent layers, from stacked parameters: their strengths, with gradients."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from ...errors import ShapeError
from ...graph.chain import Layer, layer_chain
from ..checks import check_stacked


def weighted_chain(params: Mapping[str, Tensor]) -> list[Layer]:
    """Return the layers of stacked parameters; refuse networks that have none."""
    check_stacked(params)
    layers = layer_chain(params, population=True)
    if not layers:
        raise ShapeError("this network has no layers with weights; use one with dense layers or convolutions")
    return layers


def plain_chain(params: Mapping[str, Tensor]) -> list[Layer]:
    """Return the layers of stacked parameters; refuse networks with more to a layer than a weight and a bias."""
    layers = weighted_chain(params)
    for layer in layers:
        if len(layer.vectors) > 1:
            raise ShapeError(
                f"{layer.weight!r} has batch norm or other scales ({', '.join(layer.vectors)}), which this does not "
                "take into account; use a network of weights and biases alone"
            )
    return layers


def connections(params: Mapping[str, Tensor]) -> list[Tensor]:
    """Return the strengths of all connections, layer by layer, each ``[members, units, units before]``.

    Without convolutions they are the weights' magnitudes, and inputs and outputs are units too. With convolutions they
    are the sums of magnitudes of kernel slices, between hidden channels only: the first layer and dense layers are
    left out. They are float64 where the weights are, else float32, in which eigenvalues can be found.

    Examples
    --------
    >>> import torch
    >>> connections({"hidden": torch.tensor([[[1.0, -2.0]]]), "output": torch.tensor([[[-3.0]]])})
    [tensor([[[1., 2.]]]), tensor([[[3.]]])]
    """
    layers = plain_chain(params)
    if any(layer.convolutional for layer in layers):
        layers = [layer for layer in layers[1:] if layer.convolutional]
    if not layers:
        raise ShapeError("there are no connections between hidden channels: a single convolution has none")
    return [_strengths(params[layer.weight]) for layer in layers]


def _strengths(weight: Tensor) -> Tensor:
    magnitudes = weight.abs() if weight.dtype == torch.float64 else weight.abs().float()
    return magnitudes.flatten(3).sum(3) if weight.dim() > 3 else magnitudes
