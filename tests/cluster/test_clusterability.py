"""N-cuts beside their null, against scikit-learn and against networks with known answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

import dovetail as dt
from dovetail.cluster import Null
from dovetail.cluster.doubts import negligible_units, without_units
from dovetail.cluster.partition.spectral import Spectra
from dovetail.errors import SpecError

from .graphs import chain, dense_ncut, random_layers

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
needs_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample networks are not here")


def planted(blocks: int = 4, units: int = 8, noise: float = 0.02) -> list[np.ndarray]:
    layer = np.kron(np.eye(blocks), np.ones((units, units)))
    rng = np.random.default_rng(0)
    return [layer * rng.random(layer.shape) + noise * rng.random(layer.shape) for _ in range(3)]


def test_planted_clusters_are_found_and_are_no_chance() -> None:
    found = dt.clusterability(planted(), k=4, shuffles=20, progress=False)
    truth = np.tile(np.repeat(np.arange(4), 8), 4)
    assert adjusted_rand_score(truth, found.labels) == 1
    assert found.ncut == pytest.approx(dense_ncut(found.graph.adjacency.toarray(), found.labels.tolist()))
    assert found.p_value == pytest.approx(1 / 21)
    assert found.z_score == pytest.approx((found.ncut - found.null.mean()) / found.null.std())
    assert found.z_score < -10
    assert found.stability.agreement == pytest.approx(1)
    assert found.stability.ncuts == pytest.approx(np.full(5, found.ncut))
    assert found.warnings == ()
    assert (found.composition().to_numpy() == 8).all()
    assert "more than its weights would be by chance" in found.verdict()


def test_whoever_watches_the_null_sees_it_grow_and_changes_nothing() -> None:
    seen: list[Null] = []
    found = dt.clusterability(planted(), k=4, shuffles=6, progress=False, on_null=seen.append)
    assert [null.copies.tolist() for null in seen] == [found.null[:count].tolist() for count in range(7)]
    assert {null.ncut for null in seen} == {found.ncut}
    assert (seen[-1].p_value, seen[-1].z_score) == (found.p_value, found.z_score)
    unseen = dt.clusterability(planted(), k=4, shuffles=6, progress=False)
    assert unseen.to_json() == found.to_json()


def test_whoever_watches_the_null_can_end_it() -> None:
    def enough(null: Null) -> None:
        if len(null.copies) == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        dt.clusterability(planted(), k=4, shuffles=200, progress=False, on_null=enough)


def test_the_clusters_are_scikit_learns() -> None:
    graph = chain(planted(noise=0.3))
    theirs = SpectralClustering(4, affinity="precomputed", assign_labels="kmeans", n_init=25, random_state=0)
    expected = theirs.fit_predict(graph.adjacency.toarray())
    assert adjusted_rand_score(expected, dt.spectral_clusters(graph, 4)) == 1
    assert adjusted_rand_score(expected, dt.spectral_clusters(graph.adjacency, 4)) == 1


def test_a_tie_is_no_win() -> None:
    """Weights that are all equal make every shuffle among them the network itself."""
    layer = np.kron(np.eye(2), np.ones((5, 5)))
    layer[0, 9] = 1
    found = dt.clusterability([layer, layer], k=2, shuffles=9, shuffle="layer-nonzero", progress=False)
    assert found.null == pytest.approx(np.full(9, found.ncut))
    assert found.p_value == 1
    assert found.z_score == 0
    assert "no more than chance" in found.verdict()


def test_a_win_over_few_copies_says_little() -> None:
    found = dt.clusterability(planted(), 4, 5, progress=False)
    assert found.p_value == pytest.approx(1 / 6)
    assert "too few copies to tell, 19 at least" in found.verdict()


def test_the_same_seed_gives_the_same_numbers_and_another_one_others() -> None:
    layers = random_layers([20, 30, 10], 0.5)
    first, again, other = (dt.clusterability(layers, 3, 8, seed=seed, progress=False) for seed in (0, 0, 1))
    assert first.ncut == again.ncut
    assert (first.null == again.null).all()
    assert (first.labels == again.labels).all()
    assert (first.null != other.null).any()


def test_permuting_hidden_units_changes_nothing_but_their_order() -> None:
    first, second = planted(noise=0.1)[:2]
    order = np.random.default_rng(1).permutation(len(first))
    whole = dt.clusterability([first, second], 4, 0, progress=False)
    moved = dt.clusterability([first[order], second[:, order]], 4, 0, progress=False)
    assert moved.ncut == pytest.approx(whole.ncut)
    hidden = slice(32, 64)
    assert adjusted_rand_score(whole.labels[hidden][order], moved.labels[hidden]) == 1


def test_without_shuffles_there_is_no_verdict_on_chance() -> None:
    found = dt.clusterability(planted(), 4, 0, progress=False)
    assert np.isnan(found.p_value)
    assert len(found.null) == 0
    assert "No shuffled copies" in found.verdict()
    assert "shuffled" not in repr(found)
    assert json.loads(found.to_json())["p_value"] is None


def test_the_json_holds_the_numbers() -> None:
    found = dt.clusterability(planted(), 4, 5, progress=False)
    content = json.loads(found.to_json())
    assert content["schema"] == "dovetail.clusterability/1"
    assert content["ncut"] == found.ncut
    assert content["labels"] == found.labels.tolist()
    assert np.array(content["composition"]).sum() == len(found.graph)


def test_parts_that_are_not_connected_give_a_warning_and_dead_units_no_cluster() -> None:
    layer = np.kron(np.eye(2), np.ones((4, 4)))
    layer[0] = 0
    second = np.kron(np.eye(2), np.ones((4, 4)))
    second[:, 0] = 0
    found = dt.clusterability([layer, second], 2, 5, progress=False)
    assert found.components == 2
    assert found.labels[8] == -1
    assert np.isnan(found.embedding[8]).all()
    assert found.ncut == pytest.approx(0, abs=1e-12)
    assert "2 components that are not connected" in found.warnings[0]


def test_units_that_decay_has_all_but_removed_give_a_warning() -> None:
    layers = random_layers([30, 30, 30], seed=3)
    layers[0][:4] *= 1e-30
    layers[1][:, :4] *= 1e-30
    found = dt.clusterability(layers, 4, 0, all_units=True, progress=False)
    assert any(text.startswith("4 units have less than a millionth") for text in found.warnings)
    layers[0][:4], layers[1][:, :4] = 0, 0
    assert not dt.clusterability(layers, 4, 0, progress=False).warnings


def test_a_group_that_is_almost_isolated_gives_a_warning() -> None:
    layers = random_layers([40, 40, 40], seed=3)
    for layer in layers:
        layer[0] = layer[:, 0] = 1e-6
        layer[0, 0] = 0.5
    found = dt.clusterability(layers, 4, 0, progress=False)
    assert any("almost isolated" in text for text in found.warnings)
    assert not dt.clusterability(random_layers([40, 40, 40], seed=3), 4, 0, progress=False).warnings


def test_large_parts_that_hang_on_by_a_thread_give_a_warning() -> None:
    layer = np.kron(np.eye(2), np.random.default_rng(0).random((20, 20))) + 1e-12
    found = dt.clusterability([layer, layer], 2, 0, progress=False)
    assert found.components == 1
    assert "would fall into 2 components" in found.warnings[0]


def test_an_island_far_out_does_not_hide_the_clusters_of_the_rest() -> None:
    rng = np.random.default_rng(0)
    layers = [np.kron(np.eye(3), rng.random((20, 20))) + 0.15 * rng.random((60, 60)) for _ in range(3)]
    whole = dt.clusterability(layers, 3, 0, progress=False)
    for layer in layers:
        layer[0] = layer[:, 0] = 1e-16
        layer[0, 0] = 1e-12
    found = dt.clusterability(layers, 4, 0, all_units=True, progress=False)
    assert found.ncut == pytest.approx(whole.ncut, rel=0.1)
    assert found.warnings


@pytest.mark.parametrize("scale", [1e-150, 1e-46, 1e38, 1e150])
def test_the_scale_of_weights_does_not_matter(scale: float) -> None:
    layers = random_layers([20, 30, 10], 0.5)
    plain = dt.clusterability(layers, 3, 5, progress=False)
    scaled = dt.clusterability([layer * scale for layer in layers], 3, 5, progress=False)
    assert scaled.ncut == pytest.approx(plain.ncut)
    assert scaled.null == pytest.approx(plain.null, rel=1e-3)
    graph = chain([layer * scale for layer in layers])
    assert dt.ncut(graph, plain.labels) == pytest.approx(plain.ncut)
    assert dt.ncut(graph.adjacency, plain.labels) == pytest.approx(plain.ncut)


def test_numpy_numbers_are_numbers() -> None:
    found = dt.clusterability(planted(), np.int64(4), 2, seed=np.int64(1), progress=False)  # type: ignore[arg-type]
    assert json.loads(found.to_json())["k"] == 4


def test_options_for_making_a_graph_are_refused_with_a_graph() -> None:
    with pytest.raises(SpecError, match="this is one already"):
        dt.clusterability(chain(planted()), 4, 0, norm="l2")


def test_communities_by_leiden_go_through_the_same_null() -> None:
    pytest.importorskip("leidenalg")
    found = dt.clusterability(planted(), k=4, shuffles=5, method="leiden", progress=False)
    assert adjusted_rand_score(np.tile(np.repeat(np.arange(4), 8), 4), found.labels) == 1
    assert found.p_value == pytest.approx(1 / 6)
    assert len(found.eigenvalues) == 0
    for k in (2, 3, 7):
        assert set(dt.clusterability(planted(), k, 0, method="leiden", progress=False).labels) == set(
            range(k)
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "k must be at least 2"),
        ({"k": 3.0}, "not 3.0"),
        ({"k": 96}, "ask for fewer than there are nodes"),
        ({"shuffles": -1}, "shuffles must be"),
        ({"starts": 0}, "starts must be"),
        ({"shuffle": "layers"}, "did you mean 'layer'"),
        ({"method": "louvain"}, "unknown method 'louvain'"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_what_cannot_be_done_is_said(options: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        dt.clusterability(planted()[:2], **{"progress": False, **options})  # type: ignore[arg-type]


CASES = [
    "tiny_hand",
    "mlp_small_magprune90",
    "mlp_block12",
    "mlp_dead",
    "mlp_small_randsparse90",
    "mlp_tiny_island",
]


def sample(case: str) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Return what is known of a sample network, and its layers ``[outputs, inputs]``."""
    known = json.loads((SAMPLES / "ncuts.json").read_text())[case]
    with np.load(SAMPLES / "ncut_weights.npz") as file:
        return known, [file[name].T for name in file.files if name.startswith(f"{case}/")]


@needs_samples
@pytest.mark.parametrize("case", CASES)
def test_the_samples_eigenvalues_and_ncuts(case: str) -> None:
    known, layers = sample(case)
    graph = dt.network_graph(layers)
    count = min(len(known["eigenvalues"]), len(graph) - 1)
    spectrum = Spectra(graph).of([block.weights for block in graph.blocks], count)
    np.testing.assert_allclose(spectrum.values, known["eigenvalues"][:count], atol=1e-8)
    assert int((spectrum.component >= 0).sum()) == known["nodes_kept"]
    for k, theirs in known["k"].items():
        found = dt.clusterability(layers, int(k), 0, progress=False)
        assert found.components == known["components"]
        ours = np.median(np.append(found.stability.ncuts, found.ncut))
        spread = theirs["ncut_by_kmeans_seed"]  # of six seeds: a little more is as likely
        assert min(spread) - 0.01 * ours - 1e-7 <= ours <= max(spread) + 0.01 * ours + 1e-7


@needs_samples
def test_the_samples_shuffled_copies() -> None:
    """28 means of 50 copies each: they differ from ours as chance has it, one by one and all together."""
    errors = []
    for case in CASES:
        known, layers = sample(case)
        for k, theirs in known["k"].items():
            null = dt.clusterability(layers, int(k), 50, stability=0, progress=False).null
            error = np.hypot(theirs["shuffled_std"], null.std()) / np.sqrt(50)
            errors.append((null.mean() - theirs["shuffled_mean"]) / error)
    assert len(errors) == 28
    assert np.sum(np.square(errors)) < stats.chi2.ppf(0.999, len(errors))
    assert np.sum(np.abs(errors) <= 2) >= 25


def with_dead_pairs(pairs: int, strength: float = 1e-8) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return a network of three clusters with pairs of units that lead almost only to each other, and one without."""
    rng = np.random.default_rng(0)
    clean = [np.kron(np.eye(3), rng.random((20, 20))) + 0.02 * rng.random((60, 60)) for _ in range(3)]
    for number in range(pairs):
        clean[0][number] = 0  # what the units of the second layer read
        clean[1][number], clean[1][:, number] = 0, 0  # what they lead to, and what those of the third read
        clean[2][:, number] = 0
    dead = [layer.copy() for layer in clean]
    for number in range(pairs):
        dead[0][number] += strength * 3e-3 * rng.random(60)
        dead[1][number, number] = strength
        dead[2][:, number] += strength * 3e-3 * rng.random(60)
    return dead, clean


def test_negligible_units_are_left_out_and_named() -> None:
    dead, clean = with_dead_pairs(12)
    found = dt.clusterability(dead, 6, 20, progress=False)
    plain = dt.clusterability(clean, 6, 20, progress=False)
    assert found.ncut == plain.ncut
    assert found.null.tolist() == plain.null.tolist()
    assert found.labels.tolist() == plain.labels.tolist()
    assert found.negligible.tolist() == [*range(60, 72), *range(120, 132)]
    assert (found.labels[found.negligible] == -1).all()
    assert found.p_value <= 0.05
    assert "more than its weights would be by chance" in found.verdict()
    assert found.warnings[0].startswith("24 units are left out")
    assert " 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11; " in found.warnings[0]
    assert "and 12 more" in found.warnings[0]
    assert found.to_dict()["negligible"] == found.negligible.tolist()
    assert not plain.negligible.size


def test_dead_pairs_spoil_the_clustering_if_all_units_are_kept_and_there_is_no_verdict_then() -> None:
    dead, _ = with_dead_pairs(12)
    found = dt.clusterability(dead, 6, 20, all_units=True, progress=False)
    assert found.ncut > 2 * found.eigenvalues.sum() + 1
    assert "No verdict: the clustering has failed" in found.verdict()
    assert "chance (" not in found.verdict()
    assert not found.negligible.size


def test_without_negligible_units_nothing_changes() -> None:
    layers = random_layers([30, 40, 30], 0.6)
    assert not dt.clusterability(layers, 4, 0, progress=False).negligible.size
    graph = dt.network_graph(layers)
    assert without_units(graph, negligible_units(graph)) is graph


@pytest.mark.parametrize("k", [2, 4, 8])
def test_no_clustering_is_below_the_sum_of_eigenvalues(k: int) -> None:
    for density in (0.05, 0.3, 1.0):
        found = dt.clusterability(random_layers([40, 60, 30, 10], density), k, 0, progress=False)
        assert found.ncut >= found.eigenvalues.sum() - 1e-9
        assert "No verdict" not in found.verdict()
