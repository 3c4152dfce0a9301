"""On the CPU a member learns the same alone and in any company, wherever it stands in the stack."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dovetail.data import Split
from dovetail.nets import net_builder
from dovetail.population import Population

NETWORKS = {
    "mlp:32-16": (64,),
    "mlp:32-16,dropout=0.3": (64,),
    "mlp:32-16,batch_norm=true": (64,),
    "lenet": (1, 28, 28),
    "small-cnn": (3, 16, 16),
}


def learned(spec: str, shape: tuple[int, ...], seeds: list[int], at_once: int | None = None) -> list[Tensor]:
    """Return what the member with seed 5 has learned, and its losses on the way."""
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(56, *shape, generator=generator), torch.randint(0, 10, (56,), generator=generator)
    population = Population(net_builder(spec, shape, 10), seeds, device="cpu")
    history = population.fit(
        Split(x, y), Split(x, y), epochs=2, batch_size=24, at_once=at_once, progress=False
    )
    place = seeds.index(5)
    tensors = [tensor[place] for tensor in (*population.params.values(), *population.buffers.values())]
    return [*tensors, history["loss"][:, place], population.evaluate(Split(x, y))["loss"][place]]


@pytest.mark.parametrize("spec", NETWORKS)
def test_a_member_learns_the_same_in_any_company(spec: str) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        alone = learned(spec, NETWORKS[spec], [5])
        for seeds, at_once in (([5, 6], None), ([7, 6, 5], None), ([7, 6, 5], 2)):
            beside = learned(spec, NETWORKS[spec], seeds, at_once)
            for ours, theirs in zip(alone, beside, strict=True):
                # Forward and backward pass give the same bits; torch's fused Adam rounds the last few numbers of a
                # tensor, those that fill no vector of the processor, otherwise than the others.
                torch.testing.assert_close(ours, theirs, atol=1e-8, rtol=0)
    finally:
        torch.set_num_threads(threads)
