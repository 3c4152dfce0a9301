"""Clusterable initialisation: every hidden unit gets a tag, and units with equal tags are connected more strongly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from ...errors import ShapeError
from ...graph import Layer, layer_chain
from ...population.checks import check_seeds
from ...population.random import Noise, member_keys
from ..checks import check_stacked, number_per_network, whole_number
from .connections import stacked_chain

_TAG_STREAM = 1 << 32
"""Keeps the tags apart from what trainings draw from the same seeds: their streams are small numbers."""


def clusterable_init_(
    model: nn.Module,
    clusters: int = 10,
    beta: float = 0.6,
    *,
    seed: int = 0,
    example_input: Tensor | None = None,
) -> None:
    """Weaken a fresh network's connections between units of different tags, strengthen those of equal tags.

    Every hidden unit gets one of the tags 0 to ``clusters`` - 1 at random, output ``j`` gets ``j`` modulo
    ``clusters``. Weights between different tags are multiplied by ``beta``, weights between equal tags by
    ``1 + (1 - beta) (clusters - 1)``, so that the mean magnitude stays. The first layer and all biases stay as they
    are. The units of a convolution are its channels; a dense layer that reads flattened feature maps sees each value
    with the tag of its channel.

    Parameters
    ----------
    model : nn.Module
        A network whose layers form a chain, changed in place. In which order they were defined does not matter.
    clusters : int
        Number of tags.
    beta : float
        From 0 (no connections between clusters) to 1 (nothing is changed). The paper has 0.6 for dense networks and
        0.8 for convolutional ones.
    seed : int
        Of the tags.
    example_input : Tensor, optional
        A batch for a network with convolutions, of which only the shape counts; needed once for each network.

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
        params, layers = stacked_chain(model, example_input)
        for name, weight in clusterable_weights(params, [seed], clusters, beta, layers).items():
            params[name].copy_(weight)


def clusterable_weights(
    params: Mapping[str, Tensor],
    seeds: Sequence[int],
    clusters: int = 10,
    beta: float | Tensor = 0.6,
    layers: Sequence[Layer] | None = None,
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
    layers : sequence of Layer, optional
        The layers in the order of their use, as `dovetail.graph.module_chain` finds them in one of the members; by
        default they are taken to be used in the order of the parameters.
    """
    seeds = check_seeds(seeds)
    clusters = whole_number("clusters", clusters, least=1)
    factors = number_per_network("beta", beta, len(seeds), most=1)
    check_stacked(params)
    layers = layer_chain(params, population=True) if layers is None else layers
    if not layers:
        raise ShapeError("these are no layers with weights; use a network with dense layers or convolutions")
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
