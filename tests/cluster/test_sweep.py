"""Sweeps: audits with several numbers of clusters on the same copies, and what trying them all costs."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

import dovetail as dt
from dovetail.cluster.sweep import corrected
from dovetail.errors import SpecError


def modular(modules: int = 4) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(0)
    blocks = np.kron(np.eye(modules), np.ones((4, 4))) + 0.05
    return [blocks * rng.random(blocks.shape), blocks * rng.random(blocks.shape)]


def test_each_audit_is_that_of_its_own() -> None:
    swept = dt.sweep_clusters(modular(), ks=[4, 2], shuffles=5, seed=3, stability=1, progress=False)
    assert swept.ks == [2, 4]
    for audit in swept.audits:
        alone = dt.clusterability(modular(), audit.k, 5, seed=3, stability=1, progress=False)
        assert audit.ncut == alone.ncut
        assert audit.null.tolist() == alone.null.tolist()


def test_planted_modules_are_found_with_their_number() -> None:
    swept = dt.sweep_clusters(modular(), ks=[2, 3, 4, 6], shuffles=30, progress=False)
    assert swept.best.k == 4
    assert swept.p_value == 1 / 31
    assert "stands out most with 4 clusters" in swept.verdict()
    frame = swept.to_frame()
    assert frame.loc[4, "corrected p"] == swept.p_values[2]
    assert (frame["corrected p"] >= frame["p"] - 1e-12).all()
    content = json.loads(swept.to_json())
    assert content["best_k"] == 4
    assert [audit["k"] for audit in content["audits"]] == [2, 3, 4, 6]


def test_corrected_p_values_are_right_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    shared = rng.normal(size=(400, 1, 40))  # tests on the same copies go along with one another
    drawn = shared + rng.normal(size=(400, 6, 40))
    lowest = [corrected(one[:, 0], one[:, 1:]).min() for one in drawn]
    assert np.mean(np.array(lowest) <= 0.05) < 0.08
    assert np.mean(np.array(lowest) <= 0.5) == pytest.approx(0.5, abs=0.08)
    single = [((one[:, 1:] <= one[:, :1]).sum(1) + 1).min() / 40 for one in drawn]
    assert np.mean(np.array(single) <= 0.05) > 0.1  # uncorrected, six tests find something too often


def test_one_number_is_no_correction() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        ncut, copies = rng.normal(), rng.normal(size=19)
        assert corrected([ncut], [copies])[0] == pytest.approx(((copies <= ncut).sum() + 1) / 20)


def test_ties_are_no_wins() -> None:
    assert corrected([1.0, 2.0], [[1.0, 1.0], [2.0, 2.0]]).tolist() == [1.0, 1.0]


def test_a_network_is_read_once_with_its_options() -> None:
    network = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    swept = dt.sweep_clusters(
        network, [2, 3], 2, example_input=torch.zeros(1, 8), layers=["0", "2"], stability=0, progress=False
    )
    assert [group.name for group in swept.audits[0].graph.groups] == ["0", "2"]
    of_graph = dt.sweep_clusters(
        dt.network_graph(network), [2, 3], 2, layers=["0", "2"], stability=0, progress=False
    )
    assert of_graph.audits[0].ncut == pytest.approx(swept.audits[0].ncut)


def test_few_or_no_copies_are_no_verdict() -> None:
    assert "too few copies to tell" in dt.sweep_clusters(modular(), [2, 4], 3, progress=False).verdict()
    assert "no copies were shuffled" in dt.sweep_clusters(modular(), [2, 4], 0, progress=False).verdict()


@pytest.mark.parametrize(
    ("ks", "says"),
    [
        (5, "ks is a list of numbers of clusters"),
        ([], "ks names 1 to 100 numbers of clusters, not 0"),
        ([2, 2], "names a number of clusters twice"),
        ([1, 2], "k must be a whole number of at least 2"),
        (["4"], "k must be a whole number of at least 2"),
    ],
)
def test_odd_numbers_are_refused(ks: object, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        dt.sweep_clusters(modular(), ks)  # type: ignore[arg-type]
