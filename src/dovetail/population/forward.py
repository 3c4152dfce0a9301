"""A forward pass whose mode is fixed: what a network computes, as a function of its tensors.

A `Forward` is made by whoever computes (a training step, an evaluation, batch-norm statistics) and shared by nobody: it
has a copy of the network's code, with every layer's mode set once. So evaluating never touches training, in whatever
order and in whichever thread. `over_members` maps a function of one member, such as one that calls a `Forward`, over
the members of a stack.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from ..errors import TrainingError
from .ops.rules import MemberOperations
from .random import Noise
from .trace import OWN_NOISE

Mode = Literal["train", "eval", "statistics"]


class Forward:
    """One network's forward pass in a mode that does not change.

    Parameters
    ----------
    network : nn.Module
        Whose code to run; it is copied, its tensors are not.
    mode : {"train", "eval", "statistics"}
        As in training, as in evaluation, or as in evaluation with only the batch-norm layers gathering statistics.
    momentum : float, optional
        Weight of a new batch's statistics; by default each layer's own.
    autocast : torch.dtype, optional
        The type in which `torch.autocast` has layers compute; outputs are in the type of the inputs all the same.

    Examples
    --------
    >>> network = nn.Sequential(nn.Linear(2, 1, bias=False), nn.Dropout(0.5))
    >>> weights = {"0.weight": torch.ones(1, 2)}
    >>> Forward(network, "eval")(weights, {}, torch.ones(1, 2)), network.training
    (tensor([[2.]]), True)
    """

    def __init__(
        self,
        network: nn.Module,
        mode: Mode,
        momentum: float | None = None,
        autocast: torch.dtype | None = None,
    ) -> None:
        self._autocast = autocast
        shared = {id(tensor): tensor for tensor in chain(network.parameters(), network.buffers())}
        self._network = copy.deepcopy(network, shared)
        self._network.train(mode == "train")
        if mode == "statistics":
            for layer in statistics_layers(self._network):
                layer.train()
                layer.momentum = layer.momentum if momentum is None else momentum

    def __call__(
        self,
        params: Mapping[str, Tensor],
        buffers: Mapping[str, Tensor],
        x: Tensor,
        key: Tensor | None = None,
    ) -> Tensor:
        """Run one member: the network's code with the member's tensors, and its noise where there is a key."""
        with self._types(x.device), MemberOperations(None if key is None else Noise(key)):
            logits: Tensor = functional_call(self._network, ({**params}, {**buffers}), (x,))
        return logits if self._autocast is None else logits.to(x.dtype)

    def _types(self, device: torch.device) -> AbstractContextManager[object]:
        if self._autocast is None:
            return nullcontext()
        # No cache: it would keep tensors of a recording for what is not recorded.
        return torch.autocast(device.type, self._autocast, cache_enabled=False)

    def as_it_is(self, x: Tensor) -> Tensor:
        """Run the network with its own tensors, by torch's operations."""
        logits: Tensor = self._network(x)
        return logits


def statistics_layers(network: nn.Module) -> list[_BatchNorm]:
    """Return the batch-norm layers that keep running statistics."""
    return [m for m in network.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]


def over_members(
    function: Callable[..., Tensor],
    members: int,
    in_dims: Sequence[int | None],
    out_dim: int = 0,
    *,
    device: torch.device,
) -> Callable[..., Tensor]:
    """Return the function mapped over the first dimension of its arguments, to be recorded by `trace.traced`.

    A member that is alone on CUDA is not mapped: its layers are then torch's own instead of stacked ones, which matters
    where one network fills the device (a step of VGG-16 on an H200, see docs/performance.md). What it computes there
    is the same to rounding; on the CPU it is the same to the last bit (`trace`).

    Parameters
    ----------
    function : callable
        From one member's tensors to one tensor.
    members : int
        How many there are.
    in_dims : sequence of int or None
        For each argument 0, or None if all members share it.
    out_dim : int
        Which dimension of the result is that of the members.
    device : torch.device
        Where it is computed.

    Examples
    --------
    >>> cpu = torch.device("cpu")
    >>> mapped = over_members(lambda x, y: (x * y).sum(), 3, (0, None), device=cpu)
    >>> mapped(torch.ones(3, 2), torch.ones(2))
    tensor([2., 2., 2.])
    """
    if members != 1 or device.type != "cuda":
        return vmap(function, in_dims=tuple(in_dims), out_dims=out_dim)

    def alone(*arguments: Any) -> Tensor:
        # Squeezed, not indexed: the gradient of an index is written into zeros, that of a squeeze is a view.
        squeezed = [
            argument if dim is None else tree_map_only(Tensor, lambda tensor: tensor.squeeze(0), argument)
            for argument, dim in zip(arguments, in_dims, strict=True)
        ]
        with _NoNoise():  # type: ignore[no-untyped-call]
            return function(*squeezed).unsqueeze(out_dim)

    return alone


class _NoNoise(TorchDispatchMode):
    """Refuses operations that draw random numbers, as `vmap` does."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if torch.Tag.nondeterministic_seeded in func.tags and not _drops_nothing(func, args, kwargs or {}):
            raise TrainingError(OWN_NOISE)
        return func(*args, **(kwargs or {}))


def _drops_nothing(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether an operation draws numbers only for a dropout (that of attention), and that is 0."""
    for place, argument in enumerate(func._schema.arguments):
        if argument.name == "dropout_p":
            given = args[place] if place < len(args) else kwargs.get("dropout_p", argument.default_value)
            return bool(given == 0)
    return False
