"""Clusterable initialisation: every hidden unit gets a tag, and units with equal tags are connected more strongly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from ...errors import SpecError
from ...graph.chain import Layer
from ...population.checks import check_seeds
from ...population.random import Noise, member_keys
from ..checks import number_per_network, stacked_alone, whole_number
from .connections import weighted_chain

_TAG_STREAM = 1 << 32
"""Keeps the tags apart from what trainings draw from the same seeds: their streams are small numbers."""


def clusterable_init_(model: nn.Module, clusters: int = 10, beta: float = 0.6, *, seed: int = 0) -> None:
    """Weaken a fresh network's connections between units of different tags, strengthen those of equal tags.

    Every hidden unit gets one of the tags 0 to ``clusters`` - 1 at random, output ``j`` gets ``j`` modulo
    ``clusters``. Weights between different tags are multiplied by ``beta``, weights between equal tags by
    ``1 + (1 - beta) (clusters - 1)``, so that the mean magnitude stays. The first layer and all biases stay as they
    are. The units of a convolution are its channels; a dense layer that reads flattened feature maps sees each value
    with the tag of its channel.

    Parameters
    ----------
    model : nn.Module
        A network whose layers form a chain, changed in place.
    clusters : int
        Number of tags.
    beta : float
        From 0 (no connections between clusters) to 1 (nothing is changed). The paper has 0.6 for dense networks and
        0.8 for convolutional ones.
    seed : int
        Of the tags.

    References
    ----------
    Filan et al., "Clusterability in neural networks", 2021, section 4.2.

    Examples
    --------
    >>> import dovetail as dt
    >>> net = dt.build_net("mlp:8", (2,), outputs=2, seed=0)
    >>> before = net.output.weight.detach().abs()
    >>> clusterable_init_(net, clusters=2, beta=0.5)
    >>> (net.output.weight.detach().abs() / before).unique()
    tensor([0.5000, 1.5000])
    """
    with torch.no_grad():
        changed = clusterable_weights(stacked_alone(model), [seed], clusters, beta)
        for name, param in model.named_parameters():
            if name in changed:
                param.copy_(changed[name][0])


def clusterable_builder(
    build: Callable[[], nn.Module], clusters: int = 10, beta: float = 0.6
) -> Callable[[], nn.Module]:
    """Return a builder whose networks are clusterably initialised, with tags from torch's random state.

    So each seed of a `Population` has tags of its own.

    Examples
    --------
    >>> import dovetail as dt
    >>> build = clusterable_builder(dt.net_builder("mlp:8-8", (2,), outputs=2))
    >>> dt.Population(build, seeds=[0, 1], device="cpu")
    Population(2 networks of 112 parameters on cpu)
    """

    def build_clusterable() -> nn.Module:
        network = build()
        clusterable_init_(network, clusters, beta, seed=int(torch.randint(2**62, ())))
        return network

    return build_clusterable


def clusterable_weights(
    params: Mapping[str, Tensor], seeds: Sequence[int], clusters: int = 10, beta: float | Tensor = 0.6
) -> dict[str, Tensor]:
    """Return the weights that `clusterable_init_` changes, for stacked parameters ``[members, ...]``.

    Parameters
    ----------
    params : mapping of str to Tensor
        The parameters of freshly initialised networks, stacked.
    seeds : sequence of int
        One for each member; its tags are those that `clusterable_init_` draws from the same seed.
    clusters : int
        Number of tags.
    beta : float or Tensor
        One for all, or one for each member.
    """
    seeds = check_seeds(seeds)
    clusters = whole_number("clusters", clusters, least=1)
    factors = number_per_network("beta", beta, len(seeds))
    if not bool(((factors >= 0) & (factors <= 1)).all()):
        raise SpecError(
            f"beta must be from 0 (no connections between clusters) to 1 (nothing is changed), not {beta}"
        )
    layers = weighted_chain(params)
    tags = _tags(layers, seeds, clusters)
    changed = {}
    for place, layer in enumerate(layers[1:], start=1):
        before = tags[place - 1].repeat_interleave(layer.places, dim=1)
        weight = params[layer.weight]
        equal = tags[place].unsqueeze(2) == before.unsqueeze(1)
        weak = factors.view(-1, 1, 1)
        factor = torch.where(equal, 1 + (1 - weak) * (clusters - 1), weak).to(weight)
        changed[layer.weight] = weight * factor.view(*factor.shape, *[1] * (weight.dim() - 3))
    return changed


def _tags(layers: Sequence[Layer], seeds: Sequence[int], clusters: int) -> list[Tensor]:
    """Return the tags of each layer's units, ``[members, units]``: random ones, and the outputs' own."""
    keys = member_keys(seeds, _TAG_STREAM)
    noise = Noise(keys)
    places = torch.zeros((), dtype=torch.float64)
    drawn = [(noise.uniform(places, [layer.units]) * clusters).long() for layer in layers[:-1]]
    outputs = torch.arange(layers[-1].units) % clusters
    return [*drawn, outputs.expand(len(seeds), -1)]
