"""Fit one coefficient per specialist so that the sum of weights does what the sum of logits would."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm

from .basis import Basis
from .networks import network_of
from .packed import State

MOST_INPUTS = 2048


def fit_coefficients(
    basis: Basis, states: Sequence[State], inputs: Tensor, *, iterations: int = 40
) -> tuple[float, ...]:
    """Return the coefficients a that bring the network with weights Σ aᵢ θᵢ nearest to the summed logits.

    Labels are not needed: each specialist is right on its own classes and undecided elsewhere, so the sum of
    their logits is what the merged network should give. Minimises the divergence between the two predictions,
    over at most `MOST_INPUTS` of the inputs, starting from a = 1.
    """
    network = network_of(basis, states[0])
    for module in network.modules():
        if isinstance(module, _BatchNorm):
            module.train()  # of a mixture only the statistics of the batch at hand are known
    x = some_of(inputs).to(next(iter(states[0].values())))
    with torch.no_grad():
        wanted = sum(network_of(basis, state)(x) for state in states)
        target = F.log_softmax(wanted / basis.temperature, 1)
    names = [name for name, _ in network.named_parameters()]
    stack = {name: torch.stack([state[name] for state in states]) for name in names}
    buffers = {name: tensor.clone() for name, tensor in states[0].items() if name not in stack}
    factors = torch.ones(len(states), requires_grad=True)

    def mixed() -> State:
        return {name: torch.tensordot(factors, tensor, dims=1) for name, tensor in stack.items()} | buffers

    optimizer = torch.optim.LBFGS([factors], max_iter=iterations, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        log_p = F.log_softmax(functional_call(network, mixed(), (x,)) / basis.temperature, 1)
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
