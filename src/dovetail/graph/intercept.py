"""Layers' inputs, changed while a network runs: what an ablation sets to 0, wherever the layer is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from ..errors import SpecError
from .expand import EXPANSIONS
from .layers import WeightedLayer
from .trace import one_word


@contextmanager
def changed_inputs(
    layers: Sequence[WeightedLayer], change: Callable[[WeightedLayer, Tensor], Tensor]
) -> Iterator[None]:
    """Let layers read what a function makes of their inputs, for one run of the network inside of the ``with``.

    A layer is found again by its place among the functions that are called (`WeightedLayer.call`), so it does not
    matter whether it is a module, or a parameter that a product is taken with.

    Parameters
    ----------
    layers : sequence of WeightedLayer
        As `read_network` found them in this network.
    change : callable
        Is given a layer and what it is about to read, and returns what it shall read instead. The layer's inputs lie
        along dimension ``layer.axis``.

    Raises
    ------
    SpecError
        When the run has ended without some of the layers: then the network does not do the same every time.

    Examples
    --------
    >>> import torch
    >>> from dovetail.graph.read import read_network
    >>> weight = torch.ones(2, 3)
    >>> class Product(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x @ weight.T
    >>> layers = read_network(Product(), torch.zeros(1, 4, 3)).layers
    >>> with changed_inputs(layers, lambda layer, x: 0 * x):
    ...     print(Product()(torch.ones(1, 1, 3)))
    tensor([[[0., 0.]]])
    """
    mode = _ChangedInputs(layers, change)
    with mode:
        yield
    if mode.left:
        first = next(iter(mode.left.values()))
        raise SpecError(
            f"the network did not use layer {first.name!r}, which it used when it was read; what layers read can only "
            "be changed in a network that does the same with every input"
        )


class _ChangedInputs(TorchFunctionMode):
    def __init__(
        self, layers: Sequence[WeightedLayer], change: Callable[[WeightedLayer, Tensor], Tensor]
    ) -> None:
        super().__init__()
        self.left: dict[tuple[str, int], WeightedLayer] = {}
        for layer in layers:
            if layer.call in self.left:
                raise SpecError(
                    f"{self.left[layer.call].name!r} and {layer.name!r} are computed in one call, as the steps of a "
                    "recurrent layer are: what they read in it cannot be changed"
                )
            if layer.call is not None:
                self.left[layer.call] = layer
        self._change = change
        self._called: Counter[str] = Counter()

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = one_word(func)
        if (written_out := EXPANSIONS.get(name)) is not None:
            with self:
                result = written_out(*args, **kwargs)
            if result is not NotImplemented:
                return result
        layer = self.left.pop((name, self._called[name]), None)
        self._called[name] += 1
        if layer is not None:
            if "input" in kwargs:
                kwargs = {**kwargs, "input": self._change(layer, kwargs["input"])}
            else:
                args = (self._change(layer, args[0]), *args[1:])
        return func(*args, **kwargs)
