"""What is added to the loss of each network of a population: L1, L2 and clusterability, each with its own weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from ...errors import ShapeError, SpecError
from .gradual_pruning import kernels


def l1_penalty(params: Mapping[str, Tensor]) -> Tensor:
    """Return the sum of the weights' magnitudes, biases not counted, ``[members]``.

    Examples
    --------
    >>> l1_penalty({"weight": torch.tensor([[[1.0, -2.0]]]), "bias": torch.tensor([[5.0]])})
    tensor([3.])
    """
    return torch.stack([weight.abs().flatten(1).sum(1) for weight in kernels(params).values()]).sum(0)


def l2_penalty(params: Mapping[str, Tensor]) -> Tensor:
    """Return the sum of the weights' squares, biases not counted, ``[members]``.

    Examples
    --------
    >>> l2_penalty({"weight": torch.tensor([[[1.0, -2.0]]]), "bias": torch.tensor([[5.0]])})
    tensor([5.])
    """
    return torch.stack([weight.square().flatten(1).sum(1) for weight in kernels(params).values()]).sum(0)


def one_per_network(name: str, value: float | Sequence[float], networks: int) -> Tensor:
    """Return a setting as one number for each network, not negative."""
    try:
        given = torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise SpecError(f"{name} must be a number, or one for each network; got {value!r:.80}") from error
    if given.shape not in {(), (networks,)}:
        raise ShapeError(
            f"{name} must be one number or {networks}, one for each network; got {tuple(given.shape)}"
        )
    if not bool((given.isfinite() & (given >= 0)).all()):
        raise SpecError(f"{name} must be finite and not negative; got {value!r:.80}")
    return given.expand(networks)
