"""Merging: pure functions that put networks together, by their weights or by their logits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm

from ..errors import SpecError
from .blueprint import Blueprint, Packed, State

Method = Literal["sum", "logits", "ties", "calibrated"]
METHODS: tuple[str, ...] = get_args(Method)

MOST_INPUTS = 2048
"""Samples that coefficients are fitted on, and that a clash is judged on, at most."""


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


def add_packed(packed: Sequence[Mapping[str, Packed]]) -> State:
    """Return the sum of the weights of sparse networks: what `add_weights` does, for what is kept of them alone.

    Examples
    --------
    >>> from .blueprint import pack
    >>> add_packed([{"w": pack(torch.tensor([1.0, 0.0]))}, {"w": pack(torch.tensor([2.0, 5.0]))}])
    {'w': tensor([3., 5.])}
    """
    total = {}
    for name, first in packed[0].items():
        tensors = [weights[name] for weights in packed]
        places = [tensor.positions for tensor in tensors if tensor.positions is not None]
        if len(places) == len(tensors) and first.values.is_floating_point():
            total[name] = first.values.new_zeros(first.shape)
            # All at once, which adds in the same order as one after the other.
            values = torch.cat([tensor.values for tensor in tensors])
            total[name].view(-1).index_add_(0, torch.cat(places), values)
        else:
            total |= add_weights({name: tensor.dense()} for tensor in tensors)
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


class LogitAverage(nn.Module):
    """Networks whose logits are averaged with given weights."""

    def __init__(self, networks: Iterable[nn.Module], weights: Sequence[float], temperature: float) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.weights = tuple(weights)
        self.temperature = temperature
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        """Return the averaged logits over the temperature."""
        logits = torch.stack([network(x) for network in self.networks])
        return mix_logits(logits, self.weights) / self.temperature


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


def fit_coefficients(
    blueprint: Blueprint, states: Sequence[State], inputs: Tensor, *, iterations: int = 40
) -> tuple[float, ...]:
    """Return the coefficients a that bring the network with weights Σ aᵢ θᵢ nearest to the summed logits.

    Labels are not needed: each specialist is right on its own classes and undecided elsewhere, so the sum of
    their logits is what the merged network should give. Minimises the divergence between the two predictions,
    over at most `MOST_INPUTS` of the inputs, starting from a = 1.
    """
    network = blueprint.network(states[0])
    for module in network.modules():
        if isinstance(module, _BatchNorm):
            module.train()  # of a mixture only the statistics of the batch at hand are known
    x = some_of(inputs).to(next(iter(states[0].values())))
    with torch.no_grad():
        wanted = sum(blueprint.network(state)(x) for state in states)
        target = F.log_softmax(wanted / blueprint.temperature, 1)
    names = [name for name, _ in network.named_parameters()]
    stack = {name: torch.stack([state[name] for state in states]) for name in names}
    buffers = {name: tensor.clone() for name, tensor in states[0].items() if name not in stack}
    factors = torch.ones(len(states), requires_grad=True)

    def mixed() -> State:
        return {name: torch.tensordot(factors, tensor, dims=1) for name, tensor in stack.items()} | buffers

    optimizer = torch.optim.LBFGS([factors], max_iter=iterations, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        log_p = F.log_softmax(functional_call(network, mixed(), (x,)) / blueprint.temperature, 1)
        value = F.kl_div(log_p, target, log_target=True, reduction="batchmean")
        value.backward()
        return value

    optimizer.step(loss)
    found = factors.detach()
    # A line search that fails leaves NaN; adding the weights as they are is always possible.
    return tuple(found.tolist()) if bool(found.isfinite().all()) else (1.0,) * len(states)


def some_of(inputs: Tensor) -> Tensor:
    """Return at most `MOST_INPUTS` of the inputs, from all over them, as they may be sorted.

    Examples
    --------
    >>> len(some_of(torch.zeros(5000, 2))), len(some_of(torch.zeros(5, 2)))
    (2048, 5)
    """
    order = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(0))
    return inputs[order[:MOST_INPUTS].to(inputs.device)]
