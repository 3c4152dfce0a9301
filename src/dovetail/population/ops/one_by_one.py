"""Operations that are done for one member after another, so that a member's result does not depend on its company.

On the CPU convolutions and batch norm are done so. As one operation over all members' channels, which is what `vmap`
would make of them, the library chooses its algorithm by their number, and a member's last bits would depend on how many
are beside it. It costs nothing: these operations are large, and no memory is moved to bring channels together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor


def is_mapped(tensor: Tensor) -> bool:
    """Whether `vmap` has wrapped this tensor; it leaves those that members share as they are."""
    return is_functorch_wrapped_tensor(tensor)


def one_by_one(function: Callable[..., Tensor], *inputs: Any) -> Tensor:
    """Call a function for each member of what is mapped; tensors come first among the inputs."""
    result: Tensor = _OneByOne.apply(function, *inputs)  # type: ignore[no-untyped-call]
    return result


class _OneByOne(torch.autograd.Function):
    """Only its way of being mapped is used: inside of it, autograd follows the function itself."""

    @staticmethod
    def forward(function: Callable[..., Tensor], *inputs: Any) -> Tensor:
        raise AssertionError("only for tensors that are mapped")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        raise AssertionError("only for tensors that are mapped")

    @staticmethod
    def vmap(
        info: Any, in_dims: Sequence[Any], function: Callable[..., Tensor], *inputs: Any
    ) -> tuple[Tensor, int]:
        of_members = [
            given.unbind(dim) if isinstance(given, Tensor) and dim is not None else [given] * info.batch_size
            for given, dim in zip(inputs, in_dims[1:], strict=True)
        ]
        return torch.stack([function(*member) for member in zip(*of_members, strict=True)]), 0
