"""What weights are taken to be that come without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from ..graph.chain import Layer

ASSUMED = "dense layers with ReLU between them"


def foreign_tensor(tensors: Mapping[str, Tensor], chain: Sequence[Layer]) -> str | None:
    """Return the name of a tensor that does not belong to a chain of dense layers with biases, if there is one.

    Parameters
    ----------
    tensors : mapping of str to Tensor
        Weights by name.
    chain : sequence of Layer
        Their layers, as `layer_chain` finds them.

    Examples
    --------
    >>> import torch
    >>> from dovetail.graph.chain import layer_chain
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
