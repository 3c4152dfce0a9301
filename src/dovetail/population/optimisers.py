"""Adam and SGD on stacked tensors, with a step size per member.

Both are elementwise, so one kernel serves a whole stack. Members with equal step sizes lie next to each other
in the stack (the trainer sorts them), and each such run is one call of torch's fused kernel. When members
differ in *which* steps they take (subsets of unequal size), a plain elementwise version is used instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.sgd import sgd

from ..errors import TrainingError


@dataclass(frozen=True)
class Adam:
    """Adam with torch's defaults.

    Attributes
    ----------
    lr : float or sequence of float
        Step size, one for all or one per member.
    betas, eps, weight_decay
        As in `torch.optim.Adam`; ``weight_decay`` is an L2 term in the gradient.

    Examples
    --------
    >>> Adam(lr=[1e-3, 1e-4]).lr
    [0.001, 0.0001]
    """

    lr: float | Sequence[float] = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0

    slots = ("exp_avg", "exp_avg_sq")

    def fused(self, lr: float, params: list[Tensor], grads: list[Tensor], state: list[list[Tensor]], steps: list[Tensor]) -> None:
        """Take one step of one size for whole tensors."""
        adam(
            params, grads, state[0], state[1], [], steps, fused=True, amsgrad=False, maximize=False,
            beta1=self.betas[0], beta2=self.betas[1], lr=lr, weight_decay=self.weight_decay, eps=self.eps,
        )  # fmt: skip

    def elementwise(self, lr: Tensor, param: Tensor, grad: Tensor, state: list[Tensor], step: Tensor, active: Tensor) -> None:
        """Take one step for the active members; ``lr``, ``step`` and ``active`` broadcast over the tensor."""
        beta1, beta2 = self.betas
        if self.weight_decay:
            grad = grad + self.weight_decay * param
        mean, square = state
        mean.copy_(torch.where(active, mean.lerp(grad, 1 - beta1), mean))
        square.copy_(torch.where(active, square * beta2 + (1 - beta2) * grad * grad, square))
        # The corrections in float64: 1 - 0.999 keeps only four digits in float32.
        size, correction = (t.to(param.dtype) for t in (lr / (1 - beta1**step), 1 - beta2**step))
        change = size * mean / (square / correction).sqrt_().add_(self.eps)
        param.sub_(torch.where(active, change, 0))


@dataclass(frozen=True)
class SGD:
    """Stochastic gradient descent with momentum.

    Attributes
    ----------
    lr : float or sequence of float
        Step size, one for all or one per member.
    momentum, weight_decay
        As in `torch.optim.SGD`.

    Examples
    --------
    >>> SGD(lr=0.1).momentum
    0.9
    """

    lr: float | Sequence[float] = 0.1
    momentum: float = 0.9
    weight_decay: float = 0.0

    slots = ("momentum_buffer",)

    def fused(self, lr: float, params: list[Tensor], grads: list[Tensor], state: list[list[Tensor]], steps: list[Tensor]) -> None:
        """Take one step of one size for whole tensors."""
        del steps
        sgd(
            params, grads, list(state[0]), fused=True, weight_decay=self.weight_decay, momentum=self.momentum,
            lr=lr, dampening=0.0, nesterov=False, maximize=False,
        )  # fmt: skip

    def elementwise(self, lr: Tensor, param: Tensor, grad: Tensor, state: list[Tensor], step: Tensor, active: Tensor) -> None:
        """Take one step for the active members; ``lr`` and ``active`` broadcast over the tensor."""
        del step
        if self.weight_decay:
            grad = grad + self.weight_decay * param
        (buffer,) = state
        buffer.copy_(torch.where(active, self.momentum * buffer + grad, buffer))
        param.sub_(torch.where(active, lr.to(param.dtype) * buffer, 0))


Optimiser = Adam | SGD


def step_sizes(optimiser: Optimiser, members: int) -> list[float]:
    """Return one checked step size per member."""
    lr = optimiser.lr
    sizes = [float(lr)] * members if isinstance(lr, int | float) else [float(v) for v in lr]
    if len(sizes) != members:
        raise TrainingError(f"{len(sizes)} step sizes for {members} members; give one, or one per member")
    for size in sizes:
        if not (math.isfinite(size) and size >= 0):
            raise TrainingError(f"step size {size} is not a finite number ≥ 0")
    return sizes


class Stepper:
    """An optimiser bound to the tensors of one stack.

    Parameters
    ----------
    optimiser : Adam or SGD
        What to do.
    params : list of Tensor
        Stacked tensors ``[members, ...]``, changed in place.
    state : dict
        The optimiser's own tensors by slot, stacked like ``params``, changed in place.
    taken : Tensor
        Steps that each member has taken, ``[members]``, changed in place.
    sizes : list of float
        Step size of each member; equal ones next to each other.
    skipping : bool
        Whether members may skip steps.
    """

    def __init__(
        self,
        optimiser: Optimiser,
        params: list[Tensor],
        state: dict[str, list[Tensor]],
        taken: Tensor,
        sizes: list[float],
        *,
        skipping: bool,
    ) -> None:
        self._optimiser, self._params, self._taken = optimiser, params, taken
        self._state = [state[slot] for slot in optimiser.slots]
        self._skipping = skipping
        self._lr = torch.tensor(sizes, dtype=torch.float64, device=taken.device)
        bounds = [0, *(i for i in range(1, len(sizes)) if sizes[i] != sizes[i - 1]), len(sizes)]
        self._runs = list(zip(bounds, bounds[1:], strict=False))
        self._sizes = [sizes[start] for start, _ in self._runs]
        # The fused kernel counts steps itself, in one scalar per tensor.
        self._counters = [[taken[start].to(torch.float32).clone() for _ in params] for start, _ in self._runs]

    def step(self, grads: Sequence[Tensor], active: Tensor | None) -> None:
        """Take one step; ``active`` says which members take part, None for all."""
        if self._skipping:
            assert active is not None
            self._taken.add_(active)
            self._elementwise(grads, active)
            return
        grads = [grad.contiguous() for grad in grads]  # the fused kernels take every tensor as one run of memory
        for (start, stop), lr, counters in zip(self._runs, self._sizes, self._counters, strict=True):
            cut = [t if len(self._runs) == 1 else t[start:stop] for t in (*self._params, *grads)]
            count = len(self._params)
            state = [[t if len(self._runs) == 1 else t[start:stop] for t in slot] for slot in self._state]
            self._optimiser.fused(lr, cut[:count], cut[count:], state, counters)

    def _elementwise(self, grads: Sequence[Tensor], active: Tensor) -> None:
        for place, (param, grad) in enumerate(zip(self._params, grads, strict=True)):
            # A member that has not begun has taken 0 steps; 1 keeps its unused branch finite.
            lr, step, on = (
                t.view(-1, *[1] * (param.dim() - 1)) for t in (self._lr, self._taken.double().clamp(min=1), active)
            )
            self._optimiser.elementwise(lr, param, grad, [s[place] for s in self._state], step, on)
