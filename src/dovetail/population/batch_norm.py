"""Batch-norm statistics, recomputed from data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.nn.modules.batchnorm import _BatchNorm

from ..errors import ShapeError
from .forward import member_forward
from .stack import Tensors
from .trace import clear_errors

if TYPE_CHECKING:
    from .population import Population

Network = TypeVar("Network", bound="nn.Module | Population")


def has_batch_norm(network: nn.Module) -> bool:
    """Whether any layer normalises by statistics of its batch."""
    return any(isinstance(module, _BatchNorm) for module in network.modules())


def _layers(network: nn.Module) -> list[_BatchNorm]:
    """Return the layers that keep running statistics."""
    return [m for m in network.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]


def recompute_batch_norm(network: Network, x: Tensor, *, batch_size: int = 512) -> Network:
    """Set the running statistics of every batch-norm layer to the averages over the given inputs.

    Training leaves exponential averages of past weights' statistics; a sum of networks has none that fit at
    all. This replaces them by the average, over batches of ``x``, of the batch statistics under the present
    weights. Weights do not change. A network without batch norm is left as it is.

    Parameters
    ----------
    network : nn.Module or Population
        What to recompute, in place.
    x : Tensor
        Training inputs, ``[samples, ...]``.
    batch_size : int
        Samples per batch; a last batch of one sample is joined to the one before.

    Returns
    -------
    network
        The same object.

    Examples
    --------
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    >>> x = torch.randn(100, 2)
    >>> mean = recompute_batch_norm(net, x, batch_size=100)[1].running_mean
    >>> bool(torch.allclose(mean, net[0](x).mean(0), atol=1e-6))
    True
    """
    if len(x) < 2:
        raise ShapeError(f"batch-norm statistics need at least 2 samples, not {len(x)}")
    if isinstance(network, nn.Module):
        for layer in _layers(network):
            layer.reset_running_stats()
        average_statistics(network, network, x, batch_size)
    else:
        network.recompute_batch_norm(x, batch_size=batch_size)
    return network


def average_stacked(
    template: nn.Module, params: Tensors, buffers: Tensors, x: Tensor, batch_size: int
) -> None:
    """Recompute the statistics in the buffers of a stack, in place."""

    def forward(batch: Tensor) -> object:
        with clear_errors():
            return vmap(lambda p, b: member_forward(template, p, b, batch, None))(params, buffers)

    for name, buffer in buffers.items():
        _reset_(name, buffer)
    average_statistics(template, forward, x, batch_size)


def _reset_(name: str, buffer: Tensor) -> None:
    """Set a running statistic to its first value: an average that starts from NaN would stay NaN."""
    first = {"running_mean": 0, "running_var": 1, "num_batches_tracked": 0}.get(name.rpartition(".")[2])
    if first is not None:
        buffer.fill_(first)


def average_statistics(
    network: nn.Module, forward: Callable[[Tensor], object], x: Tensor, batch_size: int
) -> None:
    """Run batches through ``forward``, which calls ``network``, with its layers set to average statistics."""
    seen = 0
    with torch.no_grad(), _gathering(network) as layers:
        for batch in _batches(x, batch_size) if layers else []:
            seen += len(batch)
            for layer in layers:
                layer.momentum = len(batch) / seen  # a running average in which every sample weighs the same
            forward(batch)


@contextmanager
def _gathering(network: nn.Module) -> Iterator[list[_BatchNorm]]:
    """Put only the batch-norm layers into training mode (no dropout noise), and everything back afterwards."""
    modes = [(module, module.training) for module in network.modules()]
    layers = _layers(network)
    momenta = [layer.momentum for layer in layers]
    try:
        network.eval()
        for layer in layers:
            layer.train()
        yield layers
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        for module, training in modes:
            module.training = training


def _batches(x: Tensor, batch_size: int) -> list[Tensor]:
    """Cut inputs into batches, none of them of a single sample."""
    parts = list(x.split(max(2, batch_size)))
    if len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    return parts
