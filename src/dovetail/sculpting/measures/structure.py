"""Structure in weights alone: products along paths that link units, and how many units carry them.

References
----------
.. [1] Patil, Michael, Dovrolis, "Neural Sculpting: Uncovering hierarchically modular task structure in neural
   networks through pruning and network analysis", NeurIPS 2023, section 2 and appendix G.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import torch
from numpy.typing import NDArray

from ...errors import DataError, SpecError
from ...graph.read import DenseNetwork, dense_matrices

_ROUNDING = 1e-12
"""Share of a total that may be missing for no other reason than how numbers are rounded."""


def path_products(network: DenseNetwork) -> NDArray[np.float64]:
    """Return how strongly each output is linked to each input, whatever the signs.

    The strength of a path is the product of its weights' magnitudes, and the strength between two units is
    the sum over all paths, π(i, j) in [1]_. Nothing is enumerated: it is a product of the matrices of
    magnitudes. Biases play no part.

    Parameters
    ----------
    network : Module or sequence of array
        Dense layers, or weight matrices ``[units, units before]``, pruned or not.

    Returns
    -------
    array
        ``[outputs, inputs]``, in float64: row j, column i is π(i, j).

    Examples
    --------
    >>> path_products([[[1, -2], [0, 3]], [[1, 1]]])
    array([[1., 5.]])
    """
    return _products_to_outputs(network)[0]


def units_needed(network: DenseNetwork, share: float = 0.9) -> NDArray[np.int64]:
    """Return how many units of each hidden layer carry most of what reaches the outputs.

    A unit carries the sum of the path products (see `path_products`) from it to all outputs. N_P in [1]_ is
    the least number of units of a layer that together carry P percent of what the layer carries.

    Parameters
    ----------
    network : Module or sequence of array
        Dense layers, or weight matrices ``[units, units before]``, as in `path_products`.
    share : float
        P as a share, above 0 and at most 1.

    Returns
    -------
    array
        One number for each hidden layer, the first layer first. A layer that carries nothing needs 0 units.

    Examples
    --------
    >>> first, second, last = np.ones((4, 2)), np.eye(3, 4), [[8, 1, 1]]
    >>> units_needed([first, second, last], share=0.9)
    array([2, 2])
    """
    if not 0 < share <= 1:
        raise SpecError(f"share must be above 0 and at most 1, as in 0.9 for 90 %; got {share}")
    _, *products = _products_to_outputs(network)
    counts = [_fewest(product.sum(axis=-2), share) for product in products]
    return np.stack(counts, axis=-1) if counts else np.zeros(0, dtype=np.int64)


def _products_to_outputs(network: DenseNetwork) -> list[NDArray[np.float64]]:
    """Return the path products to the outputs from each layer but the last: inputs first, then hidden layers."""
    magnitudes = [
        matrix.to("cpu", torch.float64).abs().numpy() for matrix in dense_matrices(network).values()
    ]
    with np.errstate(over="ignore", invalid="ignore"):  # checked below, with a way out
        products = list(accumulate(reversed(magnitudes), np.matmul))
    if not np.isfinite(products[-1]).all():
        raise DataError("path products exceed float64; scale the weights down, which keeps their proportions")
    return products[::-1]


def _fewest(carried: NDArray[np.float64], share: float) -> NDArray[np.int64]:
    largest_first = -np.sort(-carried, axis=-1)
    reached = largest_first.cumsum(axis=-1)
    total = reached[..., -1:]
    short = reached < share * total * (1 - _ROUNDING)
    counts: NDArray[np.int64] = np.where(total[..., 0] > 0, short.sum(axis=-1) + 1, 0)
    return counts
