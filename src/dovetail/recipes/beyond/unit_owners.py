"""Membership of units: the specialist or class whose a unit is, and how well clusters agree with that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from torch import Tensor, nn

from ...data.split import Split

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


@dataclass(frozen=True)
class Agreement:
    """The adjusted Rand index of clusters and a membership: 1 if they are the same, about 0 by chance.

    Attributes
    ----------
    all : float
        Over all units.
    layers : list of float
        Within each layer.
    permuted : float
        Mean over memberships in which the units of a layer changed places.
    p_value : float
        Share of those that agree as well, the real one counted among them.
    """

    all: float
    layers: list[float]
    permuted: float
    p_value: float


def agreement(clusters: Members, members: Members, layer: Members, *, permutations: int) -> Agreement:
    """Compare the clusters of units with their membership.

    Parameters
    ----------
    clusters, members : int array
        Of each unit; units with a negative one are left out.
    layer : int array
        The layer of each unit; chance puts no unit into another layer.
    permutations : int
        How many memberships to draw.

    Examples
    --------
    >>> thirds = np.repeat([0, 1, 2], 10)
    >>> found = agreement(thirds, 2 - thirds, np.zeros(30, int), permutations=99)
    >>> found.all, found.p_value, abs(found.permuted) < 0.1
    (1.0, 0.01, True)
    """
    known = (clusters >= 0) & (members >= 0)
    clusters, members, layer = clusters[known], members[known], layer[known]
    places = [np.flatnonzero(layer == number) for number in np.unique(layer)]
    whole = rand(clusters, members)
    drawn = [rand(clusters, other) for other in _permuted(members, places, permutations)]
    return Agreement(
        all=whole,
        layers=[rand(clusters[place], members[place]) for place in places],
        permuted=float(np.mean(drawn)),
        p_value=(1 + sum(value >= whole for value in drawn)) / (1 + permutations),
    )


def rand(clusters: Members, members: Members) -> float:
    """Return the adjusted Rand index over the units that have both a cluster and a membership."""
    known = (clusters >= 0) & (members >= 0)
    return float(adjusted_rand_score(members[known], clusters[known]))


def _permuted(members: Members, places: list[Members], count: int) -> Iterable[Members]:
    rng = np.random.default_rng(0)
    for _ in range(count):
        other = members.copy()
        for place in places:
            other[place] = rng.permutation(members[place])
        yield other
