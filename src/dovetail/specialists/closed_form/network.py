"""The network of sums: random features and one linear layer, which any program can run."""

from __future__ import annotations

from torch import Tensor, nn

from .basis import BasisLayer


class SumsNetwork(nn.Module):
    """Features and one linear layer: what sums are as a network."""

    def __init__(self, basis: BasisLayer, weight: Tensor, temperature: float) -> None:
        super().__init__()
        self.features = basis
        self.output = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
        self.output.weight = nn.Parameter(weight)
        self.temperature = temperature
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        """Return scores over the temperature."""
        scores: Tensor = self.output(self.features(x))
        return scores / self.temperature
