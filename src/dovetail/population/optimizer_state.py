"""The state of an optimizer: what it remembers of its steps, for several fits to go on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..errors import TrainingError
from .optim import Optimizer
from .stack import Tensors, put


@dataclass
class OptimizerState:
    """What an optimizer remembers of its steps, for several fits to go on with: its moments, and how many steps.

    Give the same one to every fit of a procedure, and their optimizer is one.

    Attributes
    ----------
    tensors : dict of str to dict
        The optimizer's own tensors ``[members, ...]`` by its `state_names` and the parameter's name; empty before the
        first fit.
    steps : Tensor
        How many steps each member has taken.

    Examples
    --------
    >>> import dovetail as dt
    >>> from dovetail.population import OptimizerState
    >>> data, state = dt.load("digits"), OptimizerState()
    >>> population = dt.Population(dt.net_builder("mlp:8", data.input_shape, data.outputs), seeds=[0])
    >>> for _ in range(2):
    ...     history = population.fit(data, epochs=1, optimizer_state=state, progress=False)
    >>> state.steps
    tensor([36])
    """

    tensors: dict[str, Tensors] = field(default_factory=dict)
    steps: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.int64))

    def begin(self, optimizer: Optimizer, params: Mapping[str, Tensor]) -> None:
        """Fill in zeros before the first fit; refuse to go on with another optimizer or other networks."""
        if not self.tensors:
            self.tensors = {
                name: {k: torch.zeros_like(p) for k, p in params.items()} for name in optimizer.state_names
            }
            self.steps = torch.zeros(len(next(iter(params.values()))), dtype=torch.int64)
        shapes = {name: tensor.shape for name, tensor in params.items()}
        if tuple(self.tensors) != optimizer.state_names or any(
            {name: tensor.shape for name, tensor in tensors.items()} != shapes
            for tensors in self.tensors.values()
        ):
            raise TrainingError(
                "this optimizer_state is of another optimizer or of other networks; begin with OptimizerState()"
            )

    def take_back(self, members: Tensor, tensors: Mapping[str, Tensors], steps: Tensor) -> None:
        """Take in what the state of some members has become."""
        for name, each in tensors.items():
            put(self.tensors[name], members, each)
        self.steps[members] = steps.to(self.steps.device)
