"""What is added to the loss of each network of a population: L1, L2 and clusterability, each with its own weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from ...errors import SpecError
from .checks import number_per_network
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
    given = number_per_network(name, value, networks)
    if not bool((given.isfinite() & (given >= 0)).all()):
        raise SpecError(f"{name} must be finite and not negative; got {value!r:.80}")
    return given
