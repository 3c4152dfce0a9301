"""Adam and AdamW for a stack in one pass over memory, as a Triton kernel for CUDA.

Adam is bound by memory: four tensors in, three out. Doing step sizes, bias corrections, masks and skipped steps
in the same pass costs nothing more; torch's fused kernel needs 1.5 times as long for Adam alone, and a second
pass for masks (docs/performance.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..optim import Adam, UpdateTensors

_BLOCK = 1024


@triton.jit
def _adam(
    param, grad, mean, square, pattern, lr, powers, active, values, members, blocks,
    beta1: tl.constexpr, beta2: tl.constexpr, eps: tl.constexpr, decay: tl.constexpr, decoupled: tl.constexpr,
    masked: tl.constexpr, skipping: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Update ``block`` values of one member of one tensor; constants, because arguments would be float32."""
    program = tl.program_id(0)
    member = program // blocks
    place = (program % blocks) * block + tl.arange(0, block)
    inside = place < values
    if skipping:
        inside = inside & (tl.load(active + member) != 0)
    place = member.to(tl.int64) * values + place
    size = tl.load(lr + member) / (1 - tl.load(powers + member))
    correction = 1 - tl.load(powers + members + member)
    p = tl.load(param + place, mask=inside)
    g = tl.load(grad + place, mask=inside)
    if decay != 0.0:
        if decoupled:
            p = p * (1 - tl.load(lr + member) * decay).to(p.dtype)
        else:
            g = g + decay * p
    m = tl.load(mean + place, mask=inside)
    v = tl.load(square + place, mask=inside)
    m = m + (g - m) * (1 - beta1)
    v = v * beta2 + g * g * (1 - beta2)
    p = p - size.to(p.dtype) * m / (tl.sqrt(v / correction.to(p.dtype)) + eps)
    if masked:
        p = tl.where(tl.load(pattern + place, mask=inside) != 0, p, 0)
    tl.store(param + place, p, mask=inside)
    tl.store(mean + place, m, mask=inside)
    tl.store(square + place, v, mask=inside)


class KernelUpdate:
    """Adam or AdamW on CUDA; members take part or not, and count their own steps."""

    def __init__(self, optimizer: Adam, tensors: UpdateTensors) -> None:
        self._optimizer, self._tensors, self._lr = optimizer, tensors, tensors.lr
        device = tensors.steps.device
        self._betas = torch.tensor(optimizer.betas, dtype=torch.float64, device=device).unsqueeze(1)
        self._powers = self._betas.new_empty(2, len(tensors.steps))

    def restart(self) -> None:
        """Begin anew, as if no step had been taken."""
        self._tensors.restart()

    def step(self, grads: Sequence[Tensor], active: Tensor | None) -> None:
        """Take a step with the active members."""
        tensors, optimizer = self._tensors, self._optimizer
        tensors.steps.add_(1 if active is None else active)
        torch.pow(self._betas, tensors.steps, out=self._powers)
        members = len(tensors.steps)
        rows = zip(tensors.params, grads, *tensors.state, tensors.patterns, strict=True)
        for param, grad, mean, square, pattern in rows:
            values = param[0].numel()
            block = min(_BLOCK, triton.next_power_of_2(values))
            blocks = triton.cdiv(values, block)
            _adam[(members * blocks,)](
                param, grad.contiguous(), mean, square, param if pattern is None else pattern.view(torch.uint8),
                self._lr, self._powers, tensors.steps if active is None else active.view(torch.uint8),
                values, members, blocks, beta1=optimizer.betas[0], beta2=optimizer.betas[1], eps=optimizer.eps,
                decay=optimizer.weight_decay, decoupled=optimizer.decoupled,
                masked=pattern is not None, skipping=active is not None, block=block,
            )  # fmt: skip
