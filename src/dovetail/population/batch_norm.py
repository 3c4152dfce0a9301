"""Batch-norm statistics, recomputed from data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.nn.modules.batchnorm import _BatchNorm

from ..errors import ShapeError
from .forward import Forward, statistics_layers
from .stack import Tensors
from .trace import ONE_AT_A_TIME, clear_errors

if TYPE_CHECKING:
    from .population import Population

Network = TypeVar("Network", bound="nn.Module | Population")


def has_batch_norm(network: nn.Module) -> bool:
    """Whether any layer normalises by statistics of its batch."""
    return any(isinstance(module, _BatchNorm) for module in network.modules())


def recompute_batch_norm(network: Network, x: Tensor, *, batch_size: int = 512) -> Network:
    """Set the running statistics of every batch-norm layer to the averages over the given inputs.

    Training leaves exponential averages of past weights' statistics; a sum of networks has none that fit at
    all. This replaces them by the average, over batches of ``x``, of the batch statistics under the present
    weights. Weights and modes do not change. A network without batch norm is left as it is.

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
    if not isinstance(network, nn.Module):
        network.recompute_batch_norm(x, batch_size=batch_size)
        return network
    for layer in statistics_layers(network):
        layer.reset_running_stats()
    with torch.no_grad():
        for batch, forward in _passes(network, x, batch_size, next(network.parameters(), x)):
            forward.as_it_is(batch)
    return network


def recompute_stacked(
    network: nn.Module, params: Tensors, buffers: Tensors, x: Tensor, batch_size: int
) -> None:
    """Recompute the statistics in the buffers of a stack, in place."""
    for name, buffer in buffers.items():
        _reset_(name, buffer)
    with ONE_AT_A_TIME, torch.no_grad(), clear_errors():
        for batch, forward in _passes(network, x, batch_size, next(iter(params.values()))):
            vmap(lambda p, b, batch=batch, forward=forward: forward(p, b, batch))(params, buffers)


def _passes(network: nn.Module, x: Tensor, batch_size: int, like: Tensor) -> Iterator[tuple[Tensor, Forward]]:
    """Yield batches, each with the pass that takes its statistics into an average over all samples so far.

    They come where ``like`` is, in its type.
    """
    if not statistics_layers(network):
        return
    seen = 0
    for batch in _batches(x, batch_size):
        seen += len(batch)
        yield batch.to(like.device, like.dtype), Forward(network, "statistics", momentum=len(batch) / seen)


def _reset_(name: str, buffer: Tensor) -> None:
    """Set a running statistic to its first value: an average that starts from NaN would stay NaN."""
    first = {"running_mean": 0, "running_var": 1, "num_batches_tracked": 0}.get(name.rpartition(".")[2])
    if first is not None:
        buffer.fill_(first)


def _batches(x: Tensor, batch_size: int) -> list[Tensor]:
    """Cut inputs into batches, none of them of a single sample."""
    parts = list(x.split(max(2, batch_size)))
    if len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    return parts
