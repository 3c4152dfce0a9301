"""Ways to put networks together: short pure functions on their weights, or on their logits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from ..errors import SpecError
from .packed import State


def add_weights(states: Iterable[State]) -> State:
    """Return the sum of the networks' weights (the paper's way).

    Examples
    --------
    >>> add_weights([{"w": torch.tensor([1.0, 0.0])}, {"w": torch.tensor([2.0, 5.0])}])
    {'w': tensor([3., 5.])}
    """
    total: State = {}
    for state in states:
        for name, tensor in state.items():
            total[name] = _joined(total[name], tensor) if name in total else tensor.clone()
    return total


def scale_weights(states: Iterable[State], coefficients: Sequence[float]) -> State:
    """Return the sum of the networks' weights, each times its coefficient.

    Examples
    --------
    >>> scale_weights([{"w": torch.tensor([1.0])}, {"w": torch.tensor([2.0])}], [1.0, 0.5])
    {'w': tensor([2.])}
    """
    return add_weights(
        {name: tensor * factor for name, tensor in state.items()}
        for state, factor in zip(states, coefficients, strict=True)
    )


def ties_weights(states: Sequence[State], keep: float = 1.0) -> State:
    """Return the weights merged by trimming, electing signs, and averaging those that agree (TIES).

    Each network keeps, of the entries of each tensor that are not 0, the ``keep`` share of largest magnitude.
    Each entry gets the sign with more magnitude behind it, and the mean of the non-zero entries of that sign.
    Specialists are merged as they are, without subtracting θ0.

    References
    ----------
    P. Yadav et al., "TIES-Merging: Resolving Interference When Merging Models", NeurIPS 2023.

    Examples
    --------
    >>> states = [{"w": torch.tensor([4.0, 1.0, 0.0])}, {"w": torch.tensor([-1.0, 3.0, 2.0])}]
    >>> ties_weights(states)
    {'w': tensor([4., 2., 2.])}
    """
    check_keep(keep)
    return {name: _elected([_trimmed(state[name], keep) for state in states]) for name in states[0]}


def check_keep(keep: float) -> None:
    """Refuse a share that is none."""
    if not 0 < keep <= 1:
        raise SpecError(f"keep is a share of each network's weights, above 0 and at most 1; got {keep}")


def check_weights(weights: Sequence[float], members: int) -> None:
    """Refuse weights of an average that do not make one."""
    if len(weights) != members or min(weights) < 0 or not 0 < sum(weights) < math.inf:
        raise SpecError(
            f"weights are {members} numbers from 0, not all 0, one per specialist; got {weights!r:.80}"
        )


def mix_logits(logits: Tensor, weights: Sequence[float]) -> Tensor:
    """Return the weighted sum of networks' logits ``[networks, ...]``.

    Examples
    --------
    >>> mix_logits(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), [0.5, 0.5])
    tensor([1., 2.])
    """
    mixed: Tensor = torch.tensordot(logits.new_tensor(weights), logits, dims=1)
    return mixed


def _joined(total: Tensor, tensor: Tensor) -> Tensor:
    # Batch norm counts its batches in an integer, which says nothing about the network.
    return total + tensor if tensor.is_floating_point() else torch.maximum(total, tensor)


def _trimmed(tensor: Tensor, keep: float) -> Tensor:
    entries = int(tensor.count_nonzero())
    count = round(keep * entries)
    if count == entries:
        return tensor
    kept = tensor.abs().flatten().topk(count).indices
    flat = torch.zeros_like(tensor).flatten()
    flat[kept] = tensor.flatten()[kept]
    return flat.reshape(tensor.shape)


def _elected(tensors: list[Tensor]) -> Tensor:
    stack = torch.stack(tensors)
    agree = (stack != 0) & (stack.sign() == stack.sum(0).sign())
    return torch.where(agree, stack, 0).sum(0) / agree.sum(0).clamp(min=1)
