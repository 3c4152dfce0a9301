"""Odd numbers and odd graphs for what reads and measures structure."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import dovetail as dt
from dovetail.data import Split
from dovetail.errors import DataError, DovetailError, ShapeError, SpecError

from .odd_data import FEATURES, INF, NAN, data, one_sample, split

NODES = FEATURES + 8 + 3


def network(value: float | None = None) -> nn.Sequential:
    torch.manual_seed(0)
    made = nn.Sequential(nn.Linear(FEATURES, 8), nn.ReLU(), nn.Linear(8, 3))
    if value is not None:
        for parameter in made.parameters():
            nn.init.constant_(parameter, value)
    return made


def halves() -> list[int]:
    return [int(unit) % 2 for unit in dt.network_graph(network()).unit_of]


def audited(given: nn.Module | list[np.ndarray], **options: object) -> dt.Clusterability:
    return dt.clusterability(
        given, **{"k": 2, "shuffles": 2, "stability": 1, "progress": False, **options}  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("bad", [NAN, INF])
def test_weights_that_are_not_finite_are_named(bad: float) -> None:
    wrong = network()
    with torch.no_grad():
        wrong[2].weight[1, 1] = bad  # type: ignore[operator]
    for read in (
        dt.network_graph,
        audited,
        dt.detect_modules,
        lambda one: dt.lesion(one, halves(), data().test, draws=2, progress=False),
    ):
        with pytest.raises(DataError, match=r"layer '2' has (1 )?weights that are not finite"):
            read(wrong)


def test_a_graph_without_edges() -> None:
    empty = network(0.0)
    graph = dt.network_graph(empty)
    assert len(graph) == NODES
    for find in (
        audited,
        lambda one: audited(one, method="leiden"),
        lambda _: dt.spectral_clusters(graph, 2),
    ):
        with pytest.raises(SpecError, match=r"all weights are 0, so nothing|the graph has no connections"):
            find(empty)
    assert dt.ncut(graph, [0] * NODES) == 0
    assert len(dt.detect_modules(empty).modules) == 0


@pytest.mark.parametrize("method", ["spectral", "leiden"])
@pytest.mark.parametrize("k", [NODES, NODES + 1, 10**9])
def test_more_clusters_than_nodes(method: str, k: int) -> None:
    with pytest.raises(SpecError, match=f"k={k} clusters of {NODES} connected nodes; ask for fewer"):
        audited(network(), k=k, method=method)
    with pytest.raises(SpecError, match="at least 2, not 1"):
        audited(network(), k=1, method=method)


def test_weights_that_are_all_the_same_are_like_their_copies() -> None:
    found = audited(network(1.0))
    assert found.null.tolist() == pytest.approx([found.ncut] * 2)
    assert found.p_value == 1


def test_the_smallest_graphs() -> None:
    with pytest.raises(SpecError, match="k=2 clusters of 2 connected nodes"):
        audited([np.ones((1, 1))])
    chain = audited([np.ones((1, 1)), np.ones((1, 1))])
    # One end of a chain of three against the rest: cut 1 of volume 1, and 1 of volume 3.
    assert chain.ncut == pytest.approx(1 + 1 / 3)
    assert len(dt.detect_modules([np.ones((1, 1))]).modules) == 1
    for nothing in ([], [np.ones((0, 3)), np.ones((2, 0))]):
        for read in (audited, dt.detect_modules):
            with pytest.raises((SpecError, ShapeError)):
                read(nothing)


@pytest.mark.parametrize("bad", [NAN, INF])
def test_lesions_on_samples_that_are_not_finite(bad: float) -> None:
    inputs = split(4, 3).x
    inputs[0, 0] = bad
    with pytest.raises(DataError, match="the samples to measure on hold NaN or infinity"):
        dt.lesion(network(), halves(), Split(inputs, torch.arange(4) % 3), draws=2, progress=False)


def test_lesions_on_one_sample_and_without_a_class() -> None:
    one = dt.lesion(network(), halves(), one_sample(), draws=2, progress=False)
    assert one.accuracy in (0, 1)
    some = dt.lesion(network(), halves(), split(30, 3, missing=1), draws=2, progress=False)
    assert np.isnan(some.class_accuracy).tolist() == [False, True, False]
    with pytest.raises(DataError, match="no samples to measure on"):
        dt.lesion(network(), halves(), split(30, 1, missing=0), draws=2, progress=False)
    with pytest.raises(ShapeError, match="class ids from 0 to 3, but the network has 3 outputs"):
        dt.lesion(network(), halves(), split(4, 4), draws=2, progress=False)


def test_lesions_of_all_and_of_nothing() -> None:
    whole = dt.lesion(network(), [0] * NODES, data().test, draws=2, progress=False)
    assert len(whole.drops) == 1
    # Every group of all units is the same group.
    assert whole.random_drops[0].tolist() == [whole.drops[0]] * 2
    assert "no clusters" in repr(dt.lesion(network(), [-1] * NODES, data().test, draws=2, progress=False))
    with pytest.raises(DovetailError):
        dt.lesion(network(), [0], data().test, draws=2, progress=False)
