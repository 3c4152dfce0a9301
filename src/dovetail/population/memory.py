"""Memory: what a member costs, what the device holds, and so how many train and are evaluated at once.

The numbers behind it. A training member needs its parameters about six times over (weights, gradients, the
optimizer's tensors, the best checkpoint, a temporary), a byte per weight for its mask, and about twice the
activations that autograd saves (the other half are gradients and temporaries). Activations are measured on
the network itself.

On a GPU the limit is its free memory. On a CPU it is `CPU_WORKING_SET`: larger stacks no longer get faster,
and past the caches they get slower (docs/performance.md). There all numbers depend on the network alone, not on how
many members there are: the last bits of a product may depend on how many samples it is over.

Inputs are held on the device where they take up to `_GPU_DATA` of what is free there, else streamed (`feed`). On a CPU
they stay where they are; from `_CPU_DATA` of the machine's memory on, a mapped file is read from the disk again and
again, and a thread that reads ahead pays.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..errors import ShapeError, memory_is_full
from ..nets import keep_random_state
from .ops.rules import MemberNoise
from .random import Noise, member_keys

CPU_WORKING_SET = 128 * 2**20
"""Bytes that a stack may occupy while it trains on a CPU."""

_GPU_SHARE = 0.8
_GPU_DATA = 0.4
_CPU_DATA = 0.5
_GPU_EVALUATION = 2 * 2**30
_CPU_EVALUATION = 64 * 2**20
_CPU_EVALUATION_MOST = 512 * 2**20


@dataclass(frozen=True)
class MemberCost:
    """Bytes of one member.

    Attributes
    ----------
    params : int
        Its parameters.
    sample : int
        The activations that one training sample leaves for the backward pass, and the sample itself.
    outputs : int
        How many outputs it has.
    """

    params: int
    sample: int
    outputs: int

    def training(self, batch_size: int, optimizer_tensors: int) -> int:
        """Return the bytes of one member in training."""
        return int(self.params * (4.25 + optimizer_tensors)) + 2 * self.sample * batch_size


def measure_cost(network: nn.Module, x: Tensor) -> MemberCost:
    """Measure a network's cost with a forward pass of two samples, which also proves that it takes them."""
    own = {p.data_ptr() for p in network.parameters()}
    saved: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        if tensor.data_ptr() not in own:
            saved[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    sample = torch.cat([x[:1], x[:1]])
    try:
        # Noise of a member's kind: torch's would be drawn from the generator that all threads share.
        with (
            keep_random_state(),
            MemberNoise(Noise(member_keys([0])[0])),
            torch.autograd.graph.saved_tensors_hooks(note, lambda t: t),
        ):
            out = network.train()(sample)
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        if memory_is_full(error):
            raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ShapeError(f"the network cannot take inputs of shape {tuple(x.shape[1:])}: {reason}") from error
    if not isinstance(out, Tensor) or out.dim() != 2 or len(out) != 2:
        what = f"shape {tuple(out.shape)}" if isinstance(out, Tensor) else f"a {type(out).__name__}"
        raise ShapeError(f"the network must map a batch to logits [batch, outputs]; 2 samples gave {what}")
    params = sum(p.numel() * p.element_size() for p in network.parameters())
    per_sample = (sum(saved.values()) + sample.numel() * sample.element_size()) // 2
    return MemberCost(params, per_sample, out.shape[1])


def storage_for(params: int, device: torch.device) -> torch.device:
    """Return where a population with this many bytes of parameters is kept: the device, or main memory."""
    # Parameters and θ0 lie there all the time; most of the device is for training.
    crowded = device.type == "cuda" and 2 * params > 0.3 * torch.cuda.mem_get_info(device)[0]
    return torch.device("cpu") if crowded else device


def can_hold(x: Tensor, device: torch.device) -> bool:
    """Return whether to hold inputs where training is, rather than to stream them there."""
    size = x.numel() * x.element_size()
    if device.type == "cuda":
        return x.device == device or size <= _GPU_DATA * free_memory(device)
    return size <= _CPU_DATA * _main_memory()


def members_at_once(cost: MemberCost, batch_size: int, optimizer_tensors: int, device: torch.device) -> int:
    """Return how many members to train together on a device (at least one)."""
    budget = int(free_memory(device) * _GPU_SHARE) if device.type == "cuda" else CPU_WORKING_SET
    most = max(1, budget // cost.training(batch_size, optimizer_tensors))
    if device.type == "cpu":
        most = max(1, most - most % torch.get_num_threads())  # products share members out to threads
    return most


def evaluation_batch(cost: MemberCost, members: int, device: torch.device) -> int:
    """Return how many samples to evaluate in one pass of a stack; on a CPU, of at most `evaluated_at_once` members."""
    if device.type == "cuda":
        return max(16, _GPU_EVALUATION // (members * cost.sample))
    sample = cost.sample * evaluated_at_once(cost, device)
    return max(16, _CPU_EVALUATION // sample, min(256, _CPU_EVALUATION_MOST // sample))


def evaluated_at_once(cost: MemberCost, device: torch.device) -> int:
    """Return how many members to evaluate together: as many as would train together in a usual setting."""
    return members_at_once(cost, 64, 0 if device.type == "cuda" else 2, device)


def _main_memory() -> float:
    """Return the bytes of the machine's memory, infinity where the system does not tell."""
    if not {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= set(getattr(os, "sysconf_names", ())):
        return float("inf")
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def free_memory(gpu: torch.device) -> int:
    """Return the bytes that are free on a GPU."""
    # What torch has reserved but does not use is free for us too.
    spare = torch.cuda.memory_reserved(gpu) - torch.cuda.memory_allocated(gpu)
    return torch.cuda.mem_get_info(gpu)[0] + spare
