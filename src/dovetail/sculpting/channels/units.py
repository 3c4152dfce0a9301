"""Units and edges of a chain of layers: channels and the kernels between them, neurons and the weights between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

import torch
from torch import Tensor, nn

from ...data.split import Split
from ...errors import ShapeError, SpecError
from ...graph.read import module_chain
from ...graph.trace import evaluating
from ...population.objectives import Objective

_AT_ONCE = 512
"""Samples whose activations are kept at once."""


class UnitChain:
    """The units of a network whose layers read one another in a row, and the edges between them.

    A unit is a channel of a convolution or a unit of a dense layer, and in the first layer a channel, or a number, of
    the input. An edge is all that leads from one unit to another: a kernel, or the weights from all places of a
    flattened channel.

    Parameters
    ----------
    network : nn.Module
        Convolutions and dense layers, with anything without weights between them, and batch norm.
    example_input : Tensor
        A batch that it takes, of which only the shape counts.

    Attributes
    ----------
    layers : tuple of Layer
        Its layers, in the order of their use.
    sizes : tuple of int
        Units of each layer, inputs first.

    Examples
    --------
    >>> network = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 4, 2))
    >>> UnitChain(network, torch.zeros(1, 1, 4, 4)).sizes
    (1, 3, 2)
    """

    def __init__(self, network: nn.Module, example_input: Tensor) -> None:
        self.layers = tuple(module_chain(network, example_input))
        if len(self.layers) < 2:
            raise SpecError(
                f"sculpting needs hidden units: two layers with weights or more; this {type(network).__name__} has one"
            )
        first = self.layers[0]
        self.sizes = (first.inputs // first.places, *(layer.units for layer in self.layers))

    @property
    def hidden(self) -> int:
        """How many hidden units there are."""
        return sum(self.sizes[1:-1])

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return sum(before * after for before, after in pairwise(self.sizes))

    def lengths(self, params: Mapping[str, Tensor]) -> list[Tensor]:
        """Return the length of every edge in stacked networks, ``[members, units, units before]`` layer by layer.

        It is the root of the sum of squares of an edge's weights: what it adds to a unit, for inputs of a usual size
        that differ from place to place. Of a single weight it is the magnitude.
        """
        return [
            params[layer.weight].reshape(len(params[layer.weight]), after, before, -1).norm(dim=3)
            for layer, (before, after) in zip(self.layers, pairwise(self.sizes), strict=True)
        ]

    def masks(self, kept: Sequence[Tensor], params: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return masks for the parameters of stacked networks of which only some edges are kept.

        Of hidden units that nothing leads to, biases and whatever scales and shifts them go too; an output may be
        constant.
        """
        masks: dict[str, Tensor] = {}
        for layer, edges in zip(self.layers, kept, strict=True):
            shape = params[layer.weight].shape
            each = shape[1:].numel() // edges[0].numel()
            masks[layer.weight] = edges[..., None].expand(*edges.shape, each).reshape(shape)
            if layer is not self.layers[-1]:
                masks |= dict.fromkeys(layer.vectors, edges.any(2))
        return masks

    def sensitivity(self, network: nn.Module, split: Split, loss: Objective) -> Tensor:
        """Return how much the loss hangs on each hidden unit, first layer first.

        It is the mean over samples of ``abs(∂L/∂g)``, where g scales all that the unit passes on: the sum of ``∂L/∂a ·
        a`` over the places of a channel. For a single number a that is the paper's ``abs(∂L/∂a · a)``.
        """
        total = torch.zeros(self.hidden, dtype=torch.float64)
        modules = [network.get_submodule(layer.weight.rpartition(".")[0]) for layer in self.layers[1:]]
        for start in range(0, len(split), _AT_ONCE):
            x, y = split.x[start : start + _AT_ONCE], split.y[start : start + _AT_ONCE]
            read: list[list[Tensor]] = [[] for _ in modules]
            hooks = [
                module.register_forward_pre_hook(partial(_keep, into))
                for module, into in zip(modules, read, strict=True)
            ]
            try:
                with evaluating(network), torch.enable_grad():
                    # No sample's loss depends on another sample, so one sum has the derivatives of all.
                    summed = loss(network(x.to(next(network.parameters()))), y).sum()
            finally:
                for hook in hooks:
                    hook.remove()
            if any(len(values) != 1 for values in read):
                raise ShapeError(
                    "the network uses the weights of a layer without calling the layer, or calls it twice, so what its "
                    "units pass on is not seen"
                )
            activations = [values[0] for values in read]
            scores = [
                (slope * values.detach()).reshape(len(x), units, -1).sum(2).abs().sum(0).double().cpu()
                for slope, values, units in zip(
                    torch.autograd.grad(summed, activations), activations, self.sizes[1:], strict=False
                )
            ]
            total += torch.cat(scores)
        return total / len(split)


def _keep(into: list[Tensor], module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    """Note what a layer reads, on its way to it."""
    into.append(inputs[0])
