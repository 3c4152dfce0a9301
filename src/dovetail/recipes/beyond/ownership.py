"""Whose a unit is: the specialist with most of the weight at it, or the class that it responds to most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...data.dataset import Split

Floats = NDArray[np.float64]
Members = NDArray[np.int64]
"""A class for each unit; -1 for units that have none."""


def weight_matrices(state: dict[str, Tensor]) -> list[Floats]:
    """Return the weights of a perceptron ``[outputs, inputs]``, first layer first."""
    return [tensor.double().cpu().numpy() for tensor in state.values() if tensor.dim() == 2]


def weight_shares(parts: Sequence[Sequence[Floats]]) -> list[Floats]:
    """Return, for each layer of nodes from the inputs on, what share of the weight at a node is whose.

    The weight at a node is the sum of magnitudes of what comes in and what goes out, of each part by itself.

    Parameters
    ----------
    parts : sequence of sequence of array
        For each part its weight matrices.

    Returns
    -------
    list of array
        For each layer ``[parts, nodes]``; columns add up to 1, or are 0 for nodes where no part has any weight.

    Examples
    --------
    >>> first, second = [np.array([[2.0, 0.0]]), np.array([[1.0]])], [np.array([[0.0, 3.0]]), np.array([[3.0]])]
    >>> weight_shares([first, second])[1].T
    array([[0.33333333, 0.66666667]])
    """
    sizes = [parts[0][0].shape[1], *(len(matrix) for matrix in parts[0])]
    at = [np.zeros((len(parts), size)) for size in sizes]
    for number, matrices in enumerate(parts):
        for layer, matrix in enumerate(matrices):
            at[layer][number] += np.abs(matrix).sum(0)
            at[layer + 1][number] += np.abs(matrix).sum(1)
    return [weight / np.where(weight.any(0), weight.sum(0), 1) for weight in at]


def owners(shares: Sequence[Floats]) -> list[Members]:
    """Return the owner of each node: the part with the largest share; outputs belong to their class.

    Examples
    --------
    >>> owners([np.array([[0.2, 0.0], [0.8, 0.0]]), np.array([[0.5, 0.5], [0.5, 0.5]])])
    [array([ 1, -1]), array([0, 1])]
    """
    inner = [np.where(share.any(0), share.argmax(0), -1) for share in shares[:-1]]
    return [*inner, np.arange(shares[-1].shape[1])]


def favourites(network: nn.Module, split: Split, classes: int) -> list[Members]:
    """Return the class on whose samples each node is most active on average; -1 if it never is.

    Parameters
    ----------
    network : nn.Module
        Dense layers with ReLU in between.
    split : Split
        Samples.
    classes : int
        How many classes there are.

    Returns
    -------
    list of array
        Of inputs and of each hidden layer; outputs belong to their class.
    """
    seen = [split.x.flatten(1)]
    hooks = [
        module.register_forward_hook(lambda _module, _inputs, active: seen.append(active.detach()))
        for module in network.modules()
        if isinstance(module, nn.ReLU)
    ]
    with torch.inference_mode():
        network(split.x)
    for hook in hooks:
        hook.remove()
    samples = nn.functional.one_hot(split.y, classes).to(split.x)
    means = [((samples / samples.sum(0).clamp_min(1)).T @ active).cpu().numpy() for active in seen]
    return [*(np.where(mean.any(0), mean.argmax(0), -1) for mean in means), np.arange(classes)]
