"""The rescaling that goes with the clusterability penalty: hidden units of equal size, and the same function."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import torch
from torch import Tensor, nn

from ...errors import ShapeError
from .connections import plain_chain

_HOMOGENEOUS = (
    nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ReLU, nn.LeakyReLU, nn.Identity, nn.Flatten, nn.Unflatten,
    nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d,
    nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d,
    nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d,
    nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d,
)  # fmt: skip
"""Layers between which a positive factor may move."""


def rescale_(model: nn.Module, norm: float = math.sqrt(2)) -> None:
    """Scale each hidden unit's incoming weights and bias to a norm, and its outgoing weights back, in place.

    With ReLU in between the network computes what it did before. Weights that are 0 stay 0. A unit whose incoming
    weights and bias are all 0 is always 0; its outgoing weights become 0 too. The units of a convolution are its
    channels.

    Parameters
    ----------
    model : nn.Module
        A network whose layers form a chain, without batch norm, with ReLU as its activation.
    norm : float
        The norm to scale to; √2 is what He initialisation gives.

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
    for name, module in model.named_modules():
        if not list(module.children()) and not isinstance(module, _HOMOGENEOUS):
            raise ShapeError(
                f"{name or 'the network'} is {type(module).__name__}, which does not let a factor through; rescaling "
                "keeps what a network computes only if its activations are ReLU and there is no normalisation"
            )
    rescale_stacked_({name: param.detach().unsqueeze(0) for name, param in model.named_parameters()}, norm)


@torch.no_grad()
def rescale_stacked_(
    params: Mapping[str, Tensor], norm: float = math.sqrt(2), members: Tensor | None = None
) -> None:
    """Do what `rescale_` does to every member of a population, in place.

    Parameters
    ----------
    params : mapping of str to Tensor
        The stacked parameters ``[members, ...]``, such as those of a `Moment` or a `Population`.
    norm : float
        The norm to scale to.
    members : bool Tensor, optional
        Which members to rescale, ``[members]``; by default all.
    """
    layers = plain_chain(params)
    for layer, following in pairwise(layers):
        tensors = [params[name] for name in (layer.weight, *layer.vectors)]
        size = torch.stack([t.flatten(2).norm(dim=2) if t.dim() > 2 else t.abs() for t in tensors]).norm(
            dim=0
        )
        size = size / norm
        if members is not None:
            size = torch.where(members.to(size.device).unsqueeze(1), size, 1)
        factor = torch.where(size > 0, 1 / size, 1)
        for tensor in tensors:
            tensor.mul_(factor.view(*factor.shape, *[1] * (tensor.dim() - 2)))
        outgoing = size.repeat_interleave(following.inputs // layer.units, dim=1)
        weight = params[following.weight]
        weight.mul_(outgoing.view(len(outgoing), 1, -1, *[1] * (weight.dim() - 3)))
