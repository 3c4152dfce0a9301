"""The mean of a bipartite graph's smallest Laplacian eigenvalues, and how it changes with every connection.

With B the connections between the two halves of the graph and d, e the degrees of their nodes, the smallest
eigenvalues of the normalised Laplacian are one minus the largest singular values of ``B_ab / √(d_a e_b)``, a matrix of
half the size. With singular vectors u and v, ``∂σ/∂B_ab = u_a v_b / √(d_a e_b) - σ (u_a² / d_a + v_b² / e_b) / 2``.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import lapack
from threadpoolctl import ThreadpoolController
from torch import Tensor

Floats = NDArray[np.floating]

_LIBRARY = torch.library.Library("dovetail", "FRAGMENT")
_LIBRARY.define("mean_eigenvalue(Tensor between, int k) -> (Tensor, Tensor)")


def mean_eigenvalue(between: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the mean of the 2nd to k-th smallest eigenvalues of L_sym, and its derivatives.

    It is an operation of its own, so that a recorded training step can hold it.

    Parameters
    ----------
    between : Tensor
        Connections between the two halves of each member's graph, ``[members, nodes, nodes]``, at least 0. Nodes
        without any are left out. Where fewer than k nodes of a half have any, the eigenvalues that are missing count
        as 1; a graph without connections has a mean of 0.
    k : int
        Up to which eigenvalue; at most the number of nodes of the smaller half.

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
    with _linear_algebra().limit(limits=1):
        # LAPACK takes one matrix at a time, in torch too; the few vectors that are needed take half the time of all.
        means, slopes = zip(*(_of_one(matrix, k) for matrix in between.numpy()), strict=True)
    return torch.from_numpy(np.stack(means)), torch.from_numpy(np.stack(slopes))


@cache
def _linear_algebra() -> ThreadpoolController:
    """Return the libraries that numpy and scipy compute with; looking for them takes longer than a step."""
    return ThreadpoolController().select(user_api="blas")


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
