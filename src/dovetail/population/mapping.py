"""A function of one member, for all members of a stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.func import vmap
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from ..errors import TrainingError
from .trace import OWN_NOISE


def over_members(
    function: Callable[..., Tensor], members: int, in_dims: Sequence[int | None], out_dim: int = 0
) -> Callable[..., Tensor]:
    """Return the function mapped over the first dimension of its arguments, to be recorded by `graph.traced`.

    A member that is alone is not mapped: its layers are then torch's own instead of stacked ones, which matters
    where one network fills the device (a step of VGG-16 on an H200, see docs/performance.md).

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

    Examples
    --------
    >>> import torch
    >>> for members in (1, 3):
    ...     print(over_members(lambda x, y: (x * y).sum(), members, (0, None))(torch.ones(members, 2), torch.ones(2)))
    tensor([2.])
    tensor([2., 2., 2.])
    """
    if members != 1:
        return vmap(function, in_dims=tuple(in_dims), out_dims=out_dim)

    def alone(*arguments: Any) -> Tensor:
        # Squeezed, not indexed: the gradient of an index is written into zeros, that of a squeeze is a view.
        own = [
            argument if dim is None else tree_map_only(Tensor, lambda tensor: tensor.squeeze(0), argument)
            for argument, dim in zip(arguments, in_dims, strict=True)
        ]
        with _NoNoise():  # type: ignore[no-untyped-call]
            return function(*own).unsqueeze(out_dim)

    return alone


def is_wrapped(tensor: Tensor) -> bool:
    """Whether `vmap` has wrapped this tensor; it leaves those that members share as they are."""
    return is_functorch_wrapped_tensor(tensor)


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
