"""What a network does to its input: it is run once, and every operation on the way is written down.

Running it follows any Python code, whatever it branches on; symbolic tracing would stop at the first branch. What is
written down are PyTorch's functions as the code calls them (``linear``, ``relu``, ``Tensor.view``), before they are
taken apart. Whatever depends on the weights alone (a pruning mask, a parametrisation) is simply computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_leaves


@dataclass(frozen=True)
class Value:
    """A tensor that depends on the network's input.

    Attributes
    ----------
    index : int
        Tensors are numbered as they come about; the input is number 0.
    shape : tuple of int
        Its shape.
    """

    index: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """Where in a network an operation is.

    Attributes
    ----------
    module : str
        Path of the innermost module; empty for the network itself.
    kind : str
        The class of that module.
    line : str or None
        File, line and code outside of PyTorch; None when a module of PyTorch calls it and no other code.
    """

    module: str
    kind: str
    line: str | None

    def __str__(self) -> str:
        where = f"in module {self.module!r} ({self.kind})" if self.module else f"in the network ({self.kind})"
        return where if self.line is None else f"{where}, {self.line}"


@dataclass(frozen=True)
class Call:
    """A function of PyTorch that was called with tensors that depend on the input.

    Attributes
    ----------
    name : str
        What it does, in one word, however it was called: ``add`` for ``+``, ``+=``, ``torch.add`` and ``Tensor.add_``.
    function : callable
        The function.
    args, kwargs
        What it was called with; a `Value` stands for each tensor that depends on the input.
    results : tuple of Value
        The tensors that it returned.
    place : Place
        Where.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    results: tuple[Value, ...]
    place: Place

    @property
    def operands(self) -> tuple[Value, ...]:
        """The values among the arguments, each once, in order."""
        return tuple(dict.fromkeys(values_in((self.args, self.kwargs))))

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """Return an argument, however it was passed."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if len(self.args) > position else default


@dataclass(frozen=True)
class Trace:
    """What a network did to its input.

    Attributes
    ----------
    source : Value
        The input.
    calls : tuple of Call
        What contributes to the outputs, in order of execution.
    users : mapping from int
        How many calls use each value; being an output counts as a use.
    weight_names : mapping from int to str
        Names of the network's parameters and buffers, by ``id``.
    """

    source: Value
    calls: tuple[Call, ...]
    users: Mapping[int, int]
    weight_names: Mapping[int, str]


def values_in(tree: object) -> list[Value]:
    """Return the values in nested arguments."""
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Value)]


def tensors_in(tree: object) -> list[Tensor]:
    """Return the tensors in nested arguments or results."""
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def contributing(calls: Iterable[Call], outputs: Iterable[Value]) -> tuple[tuple[Call, ...], Counter[int]]:
    """Return the calls that the outputs depend on, and how often each value is used by these or as an output."""
    users = Counter(value.index for value in outputs)
    kept = []
    for call in reversed(list(calls)):
        if any(users[value.index] for value in call.results):
            kept.append(call)
            users.update(value.index for value in call.operands)
    return tuple(reversed(kept)), users
