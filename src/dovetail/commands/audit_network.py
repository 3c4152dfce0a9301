"""The network that weights alone are taken to be, so that it can be measured."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from ..cluster.dense_layers import ASSUMED, foreign_tensor
from ..cluster.source import Source
from ..errors import ShapeError, SpecError
from ..graph.chain import layer_chain
from ..graph.matrices import PASS_MODULE


def measurable(source: Source) -> nn.Module:
    """Return a source's network, or what its weights are assumed to be: dense layers with ReLUs between them."""
    return source.what if isinstance(source.what, nn.Module) else _dense_network(source.what)


def _dense_network(tensors: Mapping[str, Tensor]) -> nn.Module:
    """Return dense layers with ReLUs between them, if the tensors are their weights and biases and nothing else."""
    from ..sculpting.pruning.start import perceptron_of

    try:
        layers = layer_chain(tensors)
    except ShapeError as error:
        raise ShapeError(f"{error}; {PASS_MODULE}") from error
    if not layers:
        raise _not_dense(f"there is no weight matrix among {len(tensors)} tensors")
    if name := foreign_tensor(tensors, layers):
        if any(layer.convolutional and layer.weight == name for layer in layers):
            raise _not_dense(f"{name!r} is a convolution")
        kind = "batch norm" if "running_" in name else "something else"
        raise _not_dense(f"{name!r} is neither the weights of a dense layer nor its bias, but of {kind}")
    return nn.Sequential(nn.Flatten(), *perceptron_of(tensors))


def _not_dense(why: str) -> SpecError:
    return SpecError(
        f"--lesion needs a network to measure, and weights alone say which for {ASSUMED} only; {why}; name a "
        "builder, package.module:builder, and the file with --weights"
    )
