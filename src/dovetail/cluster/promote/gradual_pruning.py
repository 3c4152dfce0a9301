"""Pruning while a population trains: a sparsity that rises along a cubic, every few steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from ...errors import SpecError
from ...population import Population, StepContext
from ...prune import cubic_sparsity, prune_by_magnitude
from ..checks import finite_number, whole_number


def kernels(params: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return those of a population's stacked parameters that are weights of layers, not biases or scales."""
    return {name: param for name, param in params.items() if param.dim() > 2}


def cutoffs(params: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the least magnitude that pruning has left in each layer's weights, ``[members]``; 0 where nothing is left.

    Examples
    --------
    >>> import torch
    >>> cutoffs({"weight": torch.tensor([[[0.5, -0.2, 0.0]], [[0.0, 0.0, 0.0]]]), "bias": torch.zeros(2, 1)})
    {'weight': tensor([0.2000, 0.0000])}
    """
    found = {}
    for name, weight in kernels(params).items():
        magnitudes = weight.detach().abs().flatten(1)
        least = magnitudes.masked_fill(magnitudes == 0, torch.inf).amin(1)
        found[name] = torch.where(least.isinf(), 0, least)
    return found


@dataclass(frozen=True)
class GradualPruning:
    """A cubic schedule of pruning over a number of steps, as TensorFlow's model optimization does it.

    Every layer is pruned by itself, to the same sparsity; biases stay.

    Attributes
    ----------
    steps : int
        How long the training is; the final sparsity is reached with its last step.
    initial, final : float
        Sparsity before the first step and after the last.
    every : int
        Steps between one pruning and the next.
    """

    steps: int
    initial: float = 0.5
    final: float = 0.9
    every: int = 10

    def __post_init__(self) -> None:
        whole_number("steps", self.steps, least=0)
        whole_number("prune_every", self.every, least=1)
        initial = finite_number("initial_sparsity", self.initial)
        if not 0 <= initial <= finite_number("final_sparsity", self.final) < 1:
            raise SpecError(
                f"sparsities must rise within [0, 1): initial_sparsity={self.initial}, final_sparsity={self.final}"
            )

    def begin(self, population: Population) -> None:
        """Prune to the initial sparsity."""
        weights = kernels(population.params)
        population.set_masks(
            prune_by_magnitude(weights, population.masks, sparsity=self.initial, population=True)
        )

    def is_due(self, step: int) -> bool:
        """Whether weights are pruned after a step."""
        return step % self.every == 0 or step >= self.steps

    def __call__(self, context: StepContext) -> None:
        """Prune after a step of the training, if one is due; other steps cost nothing."""
        if not self.is_due(context.step):
            return
        sparsity = cubic_sparsity(context.step, 0, self.steps, self.initial, self.final)
        context.set_masks(
            prune_by_magnitude(kernels(context.params), context.masks, sparsity=sparsity, population=True)
        )
