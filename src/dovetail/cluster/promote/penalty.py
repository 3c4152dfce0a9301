"""Penalties that are added to the loss of each network of a population: L1, L2 and clusterability.

The last is the mean of the smallest eigenvalues of a network's normalised Laplacian. The network's layers form a chain,
so its graph is bipartite, even against odd layers. With B the connections between its two sides and d, e the degrees of
their nodes, the smallest eigenvalues are one minus the largest singular values of ``B_ab / √(d_a e_b)``, of half the
size. With singular vectors u and v, ``∂σ/∂B_ab = u_a v_b / √(d_a e_b) - σ (u_a² / d_a + v_b² / e_b) / 2``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import lapack
from torch import Tensor, nn

from ...errors import ShapeError, TrainingError
from ...graph import Layer
from ...threads import one_blas_thread
from ..checks import check_stacked, whole_number
from .connections import connections, stacked_chain
from .gradual_pruning import kernels


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

    >>> from dovetail.graph import module_chain
    >>> data = dt.load("digits")
    >>> population = dt.Population(dt.net_builder("mlp:16-16", data.input_shape, 10), seeds=[0, 1], device="cpu")
    >>> layers = module_chain(population.member(0))
    >>> history = population.fit(
    ...     data, epochs=1, penalty=lambda params: 0.05 * penalty.stacked(params, layers), progress=False
    ... )
    """

    def __init__(self, k: int = 4) -> None:
        # At least 2, because the first eigenvalue is always 0.
        self.k = whole_number("k", k, least=2)

    def __repr__(self) -> str:
        return f"ClusterabilityPenalty(k={self.k})"

    def __call__(self, model: nn.Module, example_input: Tensor | None = None) -> Tensor:
        """Return the penalty of one network, a scalar; with convolutions it needs an example of an input once."""
        return self._of(*stacked_chain(model, example_input)).squeeze(0)

    def stacked(self, params: Mapping[str, Tensor], layers: Sequence[Layer]) -> Tensor:
        """Return the penalty of every member of a population, ``[members]``, on the CPU.

        The layers, in the order of their use, are those that `dovetail.graph.module_chain` finds in a member.
        """
        check_stacked(params)
        if any(param.is_cuda for param in params.values()):
            raise TrainingError(
                "eigenvectors cannot be part of a captured CUDA step; train a population with this penalty on the CPU: "
                "device='cpu'"
            )
        return self._of(params, layers)

    def _of(self, params: Mapping[str, Tensor], layers: Sequence[Layer]) -> Tensor:
        strengths = connections(params, layers)
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
        mean, slopes = mean_eigenvalue(_between_sides(strengths), k)
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
        return None, *_layer_views(slopes, ctx.sizes)


def _sizes(strengths: Sequence[Tensor]) -> list[int]:
    """Return the number of units of each layer."""
    return [strengths[0].shape[2], *(matrix.shape[1] for matrix in strengths)]


def _between_sides(strengths: Sequence[Tensor]) -> Tensor:
    """Return the connections between even and odd layers, ``[members, units, units]``."""
    sizes = _sizes(strengths)
    between = strengths[0].new_zeros(len(strengths[0]), sum(sizes[0::2]), sum(sizes[1::2]))
    for block, matrix in zip(_layer_views(between, sizes), strengths, strict=True):
        block.copy_(matrix)
    return between


def _layer_views(between: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """Return each layer's part of a matrix between even and odd layers, as views ``[members, units, units before]``."""
    starts = [sum(sizes[place % 2 : place : 2]) for place in range(len(sizes))]
    blocks = []
    for layer in range(1, len(sizes)):
        even, odd = sorted((layer, layer - 1), key=lambda place: place % 2)
        rows, columns = (slice(starts[at], starts[at] + sizes[at]) for at in (even, odd))
        block = between[:, rows, columns]
        blocks.append(block if layer == even else block.mT)
    return blocks


Floats = NDArray[np.floating]

_LIBRARY = torch.library.Library("dovetail", "FRAGMENT")
_LIBRARY.define("mean_eigenvalue(Tensor between, int k) -> (Tensor, Tensor)")


def mean_eigenvalue(between: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the mean of the 2nd to k-th smallest eigenvalues of L_sym, and its derivatives.

    It is an operation of its own, so that a recorded training step can hold it.

    Parameters
    ----------
    between : Tensor
        Connections between the two sides of each member's graph, ``[members, nodes, nodes]``, at least 0. Nodes
        without any are left out. Where fewer than k nodes of a side have any, the eigenvalues that are missing count
        as 1; a graph without connections has a mean of 0.
    k : int
        Up to which eigenvalue; at most the number of nodes of the smaller side.

    Returns
    -------
    mean : Tensor
        ``[members]``. Not finite where a member's connections are not.
    slopes : Tensor
        Its derivatives with respect to the connections, like ``between``.

    Examples
    --------
    Two parts without any connection have a second eigenvalue of 0:

    >>> mean, slopes = mean_eigenvalue(torch.eye(2).unsqueeze(0), k=2)
    >>> mean.abs() < 1e-6
    tensor([True])
    """
    mean, slopes = torch.ops.dovetail.mean_eigenvalue(between, k)
    return mean, slopes


def _on_cpu(between: Tensor, k: int) -> tuple[Tensor, Tensor]:
    # On matrices of this size threads get in each other's way: they take ten times as long, and more.
    with one_blas_thread():
        # LAPACK takes one matrix at a time, in torch too; the few vectors that are needed take half the time of all.
        means, slopes = zip(*(_of_one(matrix, k) for matrix in between.numpy()), strict=True)
    return torch.from_numpy(np.stack(means)), torch.from_numpy(np.stack(slopes))


def _on_cuda(between: Tensor, k: int) -> tuple[Tensor, Tensor]:
    # At these sizes the way to the CPU and back is shorter than any solver's on the GPU.
    mean, slopes = _on_cpu(between.cpu(), k)
    return mean.to(between.device), slopes.to(between.device)


def _stand_in(between: Tensor, k: int) -> tuple[Tensor, Tensor]:
    return between.new_empty(len(between)), torch.empty_like(between, memory_format=torch.contiguous_format)


_LIBRARY.impl("mean_eigenvalue", _on_cpu, "CPU")
_LIBRARY.impl("mean_eigenvalue", _on_cuda, "CUDA")
torch.library.register_fake("dovetail::mean_eigenvalue", _stand_in, lib=_LIBRARY)


def _of_one(between: Floats, k: int) -> tuple[np.floating, Floats]:
    """Return the mean and its derivatives for one graph.

    Only sums over the k largest singular values are used, for which any basis of their vectors will do. The first is 1
    whatever the connections are, so it adds nothing to either result.
    """
    if not between.any():  # there is no such singular value, and nothing to cut
        return between.dtype.type(0), np.zeros_like(between)
    rows, columns = _inverse_root(between.sum(1)), _inverse_root(between.sum(0))
    matrix = between * rows[:, None]
    matrix *= columns
    left, sigma, right = _largest_singular(matrix, k)
    left *= rows[:, None]
    right *= columns[:, None]
    slopes = left @ right.T
    slopes -= 0.5 * (left**2 @ sigma)[:, None]
    slopes -= 0.5 * (right**2 @ sigma)
    slopes /= 1 - k
    return (k - sigma.sum()) / (k - 1), slopes


def _inverse_root(degrees: Floats) -> Floats:
    """Return d^-1/2, and 0 for a node without connections, which takes it out of the graph."""
    return np.where(degrees == 0, 0, np.maximum(degrees, np.finfo(degrees.dtype).tiny) ** -0.5)


def _largest_singular(matrix: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return the k largest singular values, and their vectors on both sides as columns."""
    if matrix.shape[0] > matrix.shape[1]:
        right, sigma, left = _largest_singular(matrix.T, k)
        return left, sigma, right
    left = _top_eigenvectors(matrix @ matrix.T, k)
    right = matrix.T @ left
    # A singular value of 0 has no vector on this side; the derivatives do without it.
    sigma = np.maximum(np.sqrt((right**2).sum(0)), np.finfo(matrix.dtype).tiny)
    right /= sigma
    return left, sigma, right


def _top_eigenvectors(matrix: Floats, k: int) -> Floats:
    """Return the eigenvectors of the k largest eigenvalues of a symmetric matrix; NaN where there are none."""
    size = len(matrix)
    if np.isfinite(matrix).all():
        solve = lapack.ssyevr if matrix.dtype == np.float32 else lapack.dsyevr
        # The transpose, which is the same matrix, is laid out as LAPACK wants it.
        _, vectors, _, _, failed = solve(matrix.T, range="I", il=size - k + 1, iu=size)
        if not failed:
            found: Floats = vectors
            return found
    return np.full((size, k), np.nan, matrix.dtype)  # of a network that has diverged; others go on


def l1_penalty(params: Mapping[str, Tensor]) -> Tensor:
    """Return the sum of the weights' magnitudes, biases not counted, ``[members]``.

    Examples
    --------
    >>> l1_penalty({"weight": torch.tensor([[[1.0, -2.0]]]), "bias": torch.tensor([[5.0]])})
    tensor([3.])
    """
    return torch.stack([weight.abs().flatten(1).sum(1) for weight in kernels(params).values()]).sum(0)


def l2_penalty(params: Mapping[str, Tensor], l1_on: str = "") -> Tensor:
    """Return the sum of the weights' squares, biases not counted, ``[members]``.

    Parameters
    ----------
    params : mapping of str to Tensor
        The stacked parameters ``[members, ...]``.
    l1_on : str
        The name of a weight that is to count with its magnitudes, not its squares: a slip of the paper's program.

    Examples
    --------
    >>> params = {"first": torch.tensor([[[1.0, -2.0]]]), "bias": torch.ones(1, 1), "last": torch.tensor([[[3.0]]])}
    >>> l2_penalty(params), l2_penalty(params, l1_on="first")
    (tensor([14.]), tensor([12.]))
    """
    terms = [weight.abs() if name == l1_on else weight.square() for name, weight in kernels(params).items()]
    return torch.stack([term.flatten(1).sum(1) for term in terms]).sum(0)
