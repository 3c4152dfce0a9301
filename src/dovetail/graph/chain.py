"""Layers read off shapes alone: which tensors form them, in the order of the tensors.

This is for what has no forward to follow: masks, checkpoints, and the stacked parameters of a population.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch

from ..errors import ShapeError
from ..io.bounds import check_layers

ASSUMED = "dense layers with ReLU between them"
"""What weights are taken to be that come without a network, where it must run."""


@dataclass(frozen=True)
class Layer:
    """One layer: its weight tensor and the vectors that go with it.

    Attributes
    ----------
    weight
        Name of the weight tensor ``[units, inputs, ...]``.
    vectors
        Names of the layer's vectors with one entry for each unit: bias, batch-norm scale, shift, statistics.
    units
        Number of output units (channels of a convolution).
    inputs
        Size of the weight's second dimension.
    convolutional
        Whether the weight has kernel dimensions.
    places
        In a chain: how many of its inputs come from each unit of the layer before it. More than one when a dense
        layer reads flattened feature maps, channel by channel.
    """

    weight: str
    vectors: tuple[str, ...]
    units: int
    inputs: int
    convolutional: bool
    places: int = 1

    def by_unit(self, weight: torch.Tensor) -> torch.Tensor:
        """Return the layer's weight, or a mask like it, as ``[units, units before, entries]``.

        What connects two units are the entries of a kernel, or a weight for each place of a flattened feature map.

        Examples
        --------
        >>> chain = layer_chain({"conv": torch.zeros(2, 1, 3, 3), "dense": torch.zeros(5, 8)})
        >>> [tuple(layer.by_unit(torch.zeros(layer.units, layer.inputs)).shape) for layer in chain]
        [(2, 1, 1), (5, 2, 4)]
        """
        return weight.reshape(self.units, self.inputs // self.places, self.places * weight.shape[2:].numel())

    def positions_after(self, previous: Layer) -> int | None:
        """Return how many of this layer's inputs come from each unit of the previous layer.

        More than one when a dense layer reads flattened feature maps, channel by channel. None when the two
        layers do not fit.
        """
        if self.inputs == previous.units:
            return 1
        flattened = previous.convolutional and not self.convolutional and self.inputs % previous.units == 0
        return self.inputs // previous.units if flattened else None


def find_layers(tensors: Mapping[str, torch.Tensor], *, population: bool = False) -> list[Layer]:
    """Return the layers of a network, in the order of its tensors.

    A tensor with two or more dimensions starts a layer. Vectors belong to the layer before them when they
    have one entry for each of its units; other tensors belong to none.

    Examples
    --------
    >>> net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Flatten(), torch.nn.Linear(36, 2))
    >>> for layer in find_layers(dict(net.named_parameters())):
    ...     print(layer.weight, layer.vectors, layer.units, layer.inputs)
    0.weight ('0.bias',) 4 1
    2.weight ('2.bias',) 2 36
    """
    layers: list[Layer] = []
    for name, tensor in tensors.items():
        shape = tensor.shape[1:] if population else tensor.shape
        if len(shape) >= 2:
            layers.append(Layer(name, (), shape[0], shape[1], len(shape) > 2))
        elif len(shape) == 1 and layers and shape[0] == layers[-1].units:
            layers[-1] = replace(layers[-1], vectors=(*layers[-1].vectors, name))
    return layers


def layer_chain(tensors: Mapping[str, torch.Tensor], *, population: bool = False) -> list[Layer]:
    """Return the layers of a network in which each layer reads the one before it, and nothing else.

    Raises
    ------
    ShapeError
        When a layer's inputs are not the units of the layer before it, as with depthwise convolutions and
        residual shortcuts. A shortcut without weights leaves no trace in the shapes and is not noticed.

    Examples
    --------
    >>> layers = layer_chain({"a": torch.zeros(4, 3), "b": torch.zeros(2, 4)})
    >>> [layer.weight for layer in layers]
    ['a', 'b']
    """
    layers = find_layers(tensors, population=population)
    check_layers(len(layers))
    chain = layers[:1]
    for previous, layer in pairwise(layers):
        places = layer.positions_after(previous)
        if places is None:
            raise ShapeError(
                f"{layer.weight!r} takes {layer.inputs} inputs, which are not the {previous.units} units of "
                f"{previous.weight!r} before it; this needs a network whose layers form a chain"
            )
        chain.append(replace(layer, places=places))
    return chain


def layers_in_order(tensors: Mapping[str, torch.Tensor]) -> list[str]:
    """Return the names of the layers as they are read, each from the one before.

    Examples
    --------
    >>> from torch import nn
    >>> layers_in_order(nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)).state_dict())
    ['0', '2']
    """
    return [layer.weight.removesuffix(".weight") for layer in layer_chain(tensors)]


def foreign_tensor(tensors: Mapping[str, torch.Tensor], chain: Sequence[Layer]) -> str | None:
    """Return the name of a tensor that does not belong to a chain of dense layers with biases, if there is one.

    Parameters
    ----------
    tensors : mapping of str to Tensor
        Weights by name.
    chain : sequence of Layer
        Their layers, as `layer_chain` finds them.

    Examples
    --------
    >>> tensors = {"fc.weight": torch.ones(3, 2), "fc.bias": torch.ones(3), "norm.weight": torch.ones(3)}
    >>> foreign_tensor(tensors, layer_chain(tensors))
    'norm.weight'
    """
    if kernel := next((layer.weight for layer in chain if layer.convolutional), None):
        return kernel
    # The first vector after a matrix is its bias, unless it is the scale of a norm.
    biases = [name for layer in chain for name in layer.vectors[:1] if not name.endswith("weight")]
    known = {layer.weight for layer in chain}.union(biases)
    return next((name for name in tensors if name not in known), None)
