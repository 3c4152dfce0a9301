"""The clusterability penalty: the mean of the smallest eigenvalues of a network's normalised Laplacian.

A network's layers form a chain, so its graph is bipartite, even against odd layers, which halves the eigenproblem.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ...errors import ShapeError, TrainingError
from ..checks import whole_number
from .checks import check_stacked, stacked_alone
from .connections import connections
from .eigenvalues import mean_eigenvalue


class ClusterabilityPenalty:
    """How badly a network falls into clusters: the mean of the 2nd to k-th smallest eigenvalues of L_sym.

    The lower these are, the lower the n-cut of ``k`` clusters can be. Added to the loss it makes a network more
    clusterable. Units could make it lower without any change of what the network does, by small weights on one side and
    large ones on the other, so use it with `rescale_` before every batch.

    The graph has the magnitudes of weights between adjacent layers; of convolutions, the sums of magnitudes of kernel
    slices between hidden channels. Biases do not count. Units without connections are left out; a network that has no
    connections at all has a penalty of 0. The gradient is exact; where the k-th eigenvalue equals the next, which has
    no gradient, it is one of those that neighbours have. There are no second derivatives.

    Parameters
    ----------
    k : int
        Up to which eigenvalue, at least 2.

    References
    ----------
    Filan et al., "Clusterability in neural networks", 2021, section 4.1 and appendix A.9, whose printed derivative
    halves the terms of the degrees.

    Examples
    --------
    >>> import dovetail as dt
    >>> net = dt.build_net("mlp:8-8", (4,), outputs=2, seed=0)
    >>> penalty = ClusterabilityPenalty(k=4)
    >>> loss = 0.05 * penalty(net)
    >>> loss.backward()
    >>> net.output.weight.grad.shape
    torch.Size([2, 8])

    For a population, in its training:

    >>> data = dt.load("digits")
    >>> population = dt.Population(dt.net_builder("mlp:16-16", data.input_shape, 10), seeds=[0, 1], device="cpu")
    >>> history = population.fit(data, epochs=1, penalty=lambda params: 0.05 * penalty.stacked(params), progress=False)
    """

    def __init__(self, k: int = 4) -> None:
        # At least 2, because the first eigenvalue is always 0.
        self.k = whole_number("k", k, least=2)

    def __repr__(self) -> str:
        return f"ClusterabilityPenalty(k={self.k})"

    def __call__(self, model: nn.Module) -> Tensor:
        """Return the penalty of one network, a scalar."""
        return self._of(stacked_alone(model)).squeeze(0)

    def stacked(self, params: Mapping[str, Tensor]) -> Tensor:
        """Return the penalty of every member of a population, ``[members]``, on the CPU."""
        check_stacked(params)
        if any(param.is_cuda for param in params.values()):
            raise TrainingError(
                "eigenvectors cannot be part of a captured CUDA step; train a population with this penalty on the CPU: "
                "device='cpu'"
            )
        return self._of(params)

    def _of(self, params: Mapping[str, Tensor]) -> Tensor:
        strengths = connections(params)
        sizes = _sizes(strengths)
        smaller = min(sum(sizes[0::2]), sum(sizes[1::2]))
        if self.k > smaller:
            raise ShapeError(
                f"k={self.k} eigenvalues, but every second layer has only {smaller} units together ({sizes})"
            )
        result: Tensor = _MeanEigenvalue.apply(self.k, *strengths)  # type: ignore[no-untyped-call]
        return result


class _MeanEigenvalue(torch.autograd.Function):
    """The mean of λ2 to λk, from the connections of each layer ``[members, units, units before]``."""

    @staticmethod
    def forward(ctx: Any, k: int, *strengths: Tensor) -> Tensor:
        mean, slopes = mean_eigenvalue(_between_halves(strengths), k)
        ctx.sizes = _sizes(strengths)
        ctx.save_for_backward(slopes)
        return mean

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            # Slopes are constants to torch, so second derivatives would be 0. `once_differentiable` does not notice:
            # it looks at the incoming gradient alone, which is a constant too where the penalty is the loss.
            raise TrainingError(
                "the clusterability penalty has no second derivatives; leave create_graph=True out, or the penalty"
            )
        slopes = ctx.saved_tensors[0] * gradient.view(-1, 1, 1)
        return None, *_blocks(slopes, ctx.sizes)


def _sizes(strengths: Sequence[Tensor]) -> list[int]:
    """Return the number of units of each layer."""
    return [strengths[0].shape[2], *(matrix.shape[1] for matrix in strengths)]


def _between_halves(strengths: Sequence[Tensor]) -> Tensor:
    """Return the connections between even and odd layers, ``[members, units, units]``."""
    sizes = _sizes(strengths)
    between = strengths[0].new_zeros(len(strengths[0]), sum(sizes[0::2]), sum(sizes[1::2]))
    for block, matrix in zip(_blocks(between, sizes), strengths, strict=True):
        block.copy_(matrix)
    return between


def _blocks(between: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """Return each layer's part of a matrix between even and odd layers, as views ``[members, units, units before]``."""
    starts = [sum(sizes[place % 2 : place : 2]) for place in range(len(sizes))]
    blocks = []
    for layer in range(1, len(sizes)):
        even, odd = sorted((layer, layer - 1), key=lambda place: place % 2)
        rows, columns = (slice(starts[at], starts[at] + sizes[at]) for at in (even, odd))
        block = between[:, rows, columns]
        blocks.append(block if layer == even else block.mT)
    return blocks
