"""Unit sensitivity of a population against derivatives taken by hand, network by network."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dovetail.errors import SpecError
from dovetail.population import Population, measuring
from dovetail.prune import prune_units

from .helpers import cnn, images, mlp


def by_hand(network: nn.Sequential, x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """Run the layers one by one and differentiate with respect to the ReLUs' outputs."""
    activations: dict[str, Tensor] = {}
    for name, layer in network.named_children():
        x = layer(x)
        if isinstance(layer, nn.ReLU):
            x.retain_grad()
            activations[name] = x
    F.cross_entropy(x, y).backward()
    scores = {}
    for name, activation in activations.items():
        assert activation.grad is not None
        effect = (activation * activation.grad).detach()
        scores[name] = effect.flatten(2).sum(2).abs().mean(0) if effect.dim() > 2 else effect.abs().mean(0)
    return scores


@pytest.mark.parametrize("build", [mlp, cnn])
@pytest.mark.parametrize("batch", [1000, 7])
def test_scores_are_those_of_each_member_alone(
    build: type[nn.Module], batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "evaluation_batch", lambda *_: batch)
    split = images(40, dtype=torch.float64)
    population = Population(build, [0, 1, 2], device="cpu", dtype=torch.float64)
    scores = population.unit_sensitivity(split)
    for member in range(3):
        network = population.member(member)
        assert isinstance(network, nn.Sequential)
        alone = by_hand(network, *split)
        assert list(scores) == list(alone)
        for name, wanted in alone.items():
            torch.testing.assert_close(scores[name][member], wanted)
    kept = prune_units(scores, share=0.5, population=True)
    assert all(mask.shape == scores[name].shape for name, mask in kept.items())


def test_layers_are_named() -> None:
    population = Population(mlp, [0], device="cpu")
    assert list(population.unit_sensitivity(images(5), layers=["4"])) == ["4"]
    with pytest.raises(SpecError, match="unknown layer 'relu'"):
        population.unit_sensitivity(images(5), layers=["relu"])


def test_layers_that_run_twice_or_not_at_all_are_refused() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.relu = nn.Linear(64, 64), nn.ReLU()

        def forward(self, x: Tensor) -> Tensor:
            return self.relu(self.linear(self.relu(self.linear(x.flatten(1)))))  # type: ignore[no-any-return]

    with pytest.raises(SpecError, match="runs 2 times"):
        Population(Twice, [0], device="cpu").unit_sensitivity(images(5))
    with pytest.raises(SpecError, match="no ReLU modules"):
        Population(lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 5)), [0], device="cpu").unit_sensitivity(
            images(5)
        )
