"""Block networks: weights within and between modules are as strong as asked for, and modules are found."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
import torch

import dovetail as dt
from dovetail.errors import SpecError
from dovetail.planted import KnownNetwork, agreement_with, block_network
from dovetail.planted.blocks import Kind

KINDS = get_args(Kind)


def within_and_between(known: KnownNetwork) -> tuple[np.ndarray, np.ndarray]:
    """Return all connections of the graph, those of one module and those of two."""
    graph = known.graph()
    labels = known.labels(graph)
    within, between = [], []
    for block in graph.blocks:
        same = labels[block.outputs][:, None] == labels[block.inputs]
        within.append(block.weights[same])
        between.append(block.weights[~same])
    return np.concatenate(within), np.concatenate(between)


@pytest.mark.parametrize("kind", KINDS)
def test_the_noise_between_modules_is_as_strong_as_asked(kind: Kind) -> None:
    nothing = within_and_between(block_network(kind, units=6, strength=1.0))[1]
    assert not nothing.any()
    within, between = within_and_between(block_network(kind, units=12, strength=0.7))
    assert between.mean() / within.mean() == pytest.approx(0.3, rel=0.05)
    within, between = within_and_between(block_network(kind, units=12, strength=0.0))
    assert between.mean() / within.mean() == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_every_unit_has_a_module_and_modules_are_found(kind: Kind) -> None:
    known = block_network(kind, modules=3, units=5, layers=2, strength=0.95, seed=3)
    graph = known.graph()
    labels, hidden = known.labels(graph), known.labels(graph, ends=False)
    assert (labels >= 0).all()
    assert (hidden < 0).sum() == sum(group.size for group in graph.groups if group.name in known.ends)
    assert [np.count_nonzero(hidden == number) for number in range(3)] == [len(hidden[hidden >= 0]) // 3] * 3
    found = dt.clusterability(graph, k=3, shuffles=0, progress=False)
    assert agreement_with(hidden, found.labels).rand > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_networks_run_and_signals_neither_vanish_nor_explode(kind: Kind) -> None:
    known = block_network(kind, strength=0.5, seed=1)
    with torch.no_grad():
        outputs = known.network(known.samples)
    assert outputs.shape[-1] == 32
    assert 0.01 < float(outputs.std()) < 100


def test_a_seed_gives_the_same_network_and_another_another() -> None:
    one, same, other = (block_network("mlp", strength=0.5, seed=seed) for seed in (0, 0, 1))
    for name, weight in one.network.state_dict().items():
        assert torch.equal(weight, same.network.state_dict()[name])
    assert not torch.equal(one.network.state_dict()["0.weight"], other.network.state_dict()["0.weight"])
    assert not np.array_equal(one.owners["0"], other.owners["0"])


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(SpecError, match="unknown kind 'cnnn'; did you mean 'cnn'"):
        block_network("cnnn")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="strength is from 0"):
        block_network(strength=1.5)
    with pytest.raises(SpecError, match="modules must be at least 2; got 1"):
        block_network(modules=1)
