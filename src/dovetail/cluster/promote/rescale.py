"""The rescaling that goes with the clusterability penalty: hidden units of equal size, and the same function."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from ...errors import ShapeError, SpecError, TrainingError
from ...graph import Layer
from ...nets.layers import InputScaling
from ...population import Population
from ..checks import check_stacked, finite_number
from .connections import stacked_chain, without_norms


def rescale_(model: nn.Module, norm: float = math.sqrt(2), *, example_input: Tensor | None = None) -> None:
    """Scale each hidden unit's incoming weights and bias to a norm, and its outgoing weights back, in place.

    With ReLU in between the network computes what it did before. Weights that are 0 stay 0. A unit whose incoming
    weights and bias are all 0 is always 0; its outgoing weights become 0 too. The units of a convolution are its
    channels.

    Parameters
    ----------
    model : nn.Module
        A network whose layers form a chain, without batch norm, with ReLU as its activation. In which order they were
        defined does not matter.
    norm : float
        The norm to scale to, more than 0; √2 is what He initialisation gives.
    example_input : Tensor, optional
        A batch for a network with convolutions, of which only the shape counts; needed once for each network.

    References
    ----------
    Filan et al., "Clusterability in neural networks", 2021, appendix A.10.

    Examples
    --------
    >>> import dovetail as dt
    >>> net = dt.build_net("mlp:3,dropout=0", (2,), outputs=2, seed=0)
    >>> x = torch.ones(1, 2)
    >>> before = net(x)
    >>> rescale_(net, norm=1.0)
    >>> rows = torch.cat([net.dense1.weight, net.dense1.bias[:, None]], 1)
    >>> rows.detach().norm(dim=1).round(decimals=3)
    tensor([1., 1., 1.])
    >>> bool(torch.allclose(net(x), before))
    True
    """
    alone, layers = stacked_chain(model, example_input)
    check_homogeneous(model)
    for name, param in alone.items():
        if not torch.isfinite(param).all():  # one would spread into the next layer
            raise TrainingError(f"{name} has weights that are not finite; rescale a network that has learnt")
    rescale_stacked_({name: param.detach() for name, param in alone.items()}, layers, norm)


@torch.no_grad()
def rescale_stacked_(
    params: Mapping[str, Tensor],
    layers: Sequence[Layer],
    norm: float = math.sqrt(2),
    members: Tensor | None = None,
    weigh: Mapping[str, Tensor] | None = None,
) -> None:
    """Do what `rescale_` does to every member of a population, in place.

    Parameters
    ----------
    params : mapping of str to Tensor
        The stacked parameters ``[members, ...]``, such as those of a `StepContext` or a `Population`.
    layers : sequence of Layer
        The layers in the order of their use, as `dovetail.graph.module_chain` finds them in one of the members.
    norm : float
        The norm to scale to, more than 0.
    members : bool Tensor, optional
        Which members to rescale, ``[members]``; by default all.
    weigh : mapping of str to Tensor, optional
        What weights are multiplied by where norms are taken, ``[members]`` for each weight's name; by default by 1. The
        paper's program has the cutoff of the pruning here, by a slip.
    """
    check_stacked(params)
    norm = finite_number("norm", norm)
    if norm <= 0:
        raise SpecError(f"norm must be more than 0, not {norm}")
    for layer, following in pairwise(without_norms(layers)):
        tensors = [params[name] for name in (layer.weight, *layer.vectors)]
        sizes = [t.flatten(2).norm(dim=2) if t.dim() > 2 else t.abs() for t in tensors]
        if weigh is not None:
            sizes[0] = sizes[0] * weigh[layer.weight].unsqueeze(1)
        size = torch.stack(sizes).norm(dim=0) / norm
        if members is not None:
            size = torch.where(members.to(size.device).unsqueeze(1), size, 1)
        factor = torch.where(size > 0, 1 / size, 1)
        for tensor in tensors:
            tensor.mul_(factor.view(*factor.shape, *[1] * (tensor.dim() - 2)))
        outgoing = size.repeat_interleave(following.places, dim=1)
        weight = params[following.weight]
        weight.mul_(outgoing.view(len(outgoing), 1, -1, *[1] * (weight.dim() - 3)))


@torch.no_grad()
def check_rescaling(population: Population, layers: Sequence[Layer], x: Tensor) -> None:
    """Refuse networks that rescaling would change, by their layers and by what they give for some inputs.

    The inputs show what layers do not: activations in the code of a network.
    """
    check_homogeneous(population.member(0))
    one = population.select([0])
    # Random weights, because those of a fresh network can hide it: an output layer of zeros, norms as asked already.
    generator = torch.Generator().manual_seed(0)
    for param in one.params.values():
        fan_in = param[0, 0].numel() if param.dim() > 1 else 1
        param.copy_(torch.randn(param.shape, generator=generator) / math.sqrt(fan_in))
    # Inputs of size 1 for the same reason: far from 0 other activations are like ReLU.
    x = x.to(one.device, one.dtype)
    x = x / x.abs().max().clamp_min(torch.finfo(one.dtype).tiny)
    before = one(x)
    rescale_stacked_(one.params, layers)
    change, size = (one(x) - before).abs().max(), before.abs().max()
    if bool(change > math.sqrt(torch.finfo(before.dtype).eps) * size):
        raise ShapeError(
            f"rescaling changes what this network computes, by up to {float(change):.2g} where outputs are up to "
            f"{float(size):.2g}; the clusterability penalty needs a network whose layers form a chain with ReLU in "
            "between, in its code too"
        )


_HOMOGENEOUS = (
    nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ReLU, nn.LeakyReLU, nn.Identity, nn.Flatten, nn.Unflatten,
    nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d,
    nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d,
    nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d,
    nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d, InputScaling,
)  # fmt: skip
"""Layers between which a positive factor may move; none moves before the first one, where inputs are scaled."""


def check_homogeneous(model: nn.Module) -> None:
    """Refuse a network with a layer that does not let a factor through; functions in its code are not seen.

    Examples
    --------
    >>> check_homogeneous(nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)))
    """
    for name, module in model.named_modules():
        if not list(module.children()) and not isinstance(module, _HOMOGENEOUS):
            raise ShapeError(
                f"{name or 'the network'} is {type(module).__name__}, which does not let a factor through; rescaling "
                "keeps what a network computes only if its activations are ReLU and there is no normalisation"
            )
