"""Pictures of clusters: the values drawn, what is marked, and what does not fit."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

from dovetail.cluster import Clusterability, Lesions
from dovetail.cluster.audit import Stability
from dovetail.cluster.depth import Depth
from dovetail.cluster.plots import draw_composition, draw_embedding, draw_lesions, draw_null
from dovetail.errors import SpecError
from dovetail.graph import NetworkGraph
from dovetail.graph.graph import Group

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def found(k: int = 3, shuffles: int = 20, layers: int = 3, columns: int | None = None) -> Clusterability:
    """Return a result with made-up numbers: ten units a layer, node i in cluster i modulo k, one node in none."""
    rng = np.random.default_rng(0)
    graph = NetworkGraph(tuple(Group(f"layer{number}", 10) for number in range(layers)), ())
    labels = np.arange(10 * layers) % k
    embedding = rng.normal(size=(10 * layers, k if columns is None else columns))
    labels[3] = -1
    embedding[3] = np.nan
    return Clusterability(
        graph=graph, k=k, ncut=1.5, null=rng.normal(2, 0.1, shuffles), labels=labels,
        negligible=np.zeros(0, dtype=np.int64), components=1, eigenvalues=np.zeros(k), embedding=embedding,
        stability=Stability(np.zeros(0), 1.0), depth=Depth(0.2, 0.1, np.zeros(shuffles)), warnings=(),
        shuffle="layer", method="spectral", seed=0,
    )  # fmt: skip


def drawn(ax: Axes) -> Axes:
    """Render, so that whatever cannot be drawn fails here."""
    assert ax.figure.canvas is not None
    ax.figure.canvas.draw()
    return ax


def test_the_null_is_a_histogram_with_the_network_marked() -> None:
    result = found()
    ax = drawn(draw_null(result))
    assert sum(patch.get_height() for patch in ax.patches) == 20  # type: ignore[attr-defined]
    assert np.asarray(ax.lines[0].get_xdata()).tolist() == [1.5, 1.5]
    assert f"z = {result.z_score:.2f}, p = 0.0476" in ax.get_title()
    low, high = ax.get_xlim()
    assert low < 1.5 < result.null.max() <= high


@pytest.mark.parametrize("null", [np.zeros(0), np.full(5, 1.5), np.array([2.0])])
def test_a_null_of_nothing_or_of_one_value_is_drawn(
    null: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> None:
    result = found()
    object.__setattr__(result, "null", null)
    ax = drawn(draw_null(result))
    assert ("p =" in ax.get_title()) == bool(len(null))


def test_composition_has_a_cell_for_every_cluster_and_layer() -> None:
    result = found()
    ax = drawn(draw_composition(result))
    shares = ax.images[0].get_array()
    counts = result.composition().to_numpy()
    assert np.asarray(shares) == pytest.approx(counts / np.maximum(counts.sum(0), 1))
    assert sorted(int(text.get_text()) for text in ax.texts) == sorted(
        result.composition().to_numpy().ravel()
    )
    many = drawn(draw_composition(found(layers=100)))
    assert len(many.get_xticklabels()) <= 40
    assert not many.texts


def test_the_embedding_shows_nodes_by_cluster_and_leaves_out_the_far_ones() -> None:
    result = found(k=9, layers=30)
    result.embedding[7, 1] = 1e3
    ax = drawn(draw_embedding(result))
    dots = [dots for dots in ax.collections if isinstance(dots, PathCollection)]
    assert len(dots) == 9
    assert np.asarray(dots[2].get_offsets())[0].tolist() == result.embedding[2, 1:3].tolist()
    assert ax.get_xlim()[1] < 10
    title, note = ax.get_title().split("; ")
    assert title == "nodes by the 2nd eigenvector and the 3rd, coloured by cluster"
    outside = int(note.split()[0])
    low, high = ax.get_xlim()
    left, right = ax.get_ylim()
    x, y = result.embedding[np.isfinite(result.embedding[:, 0])][:, 1:3].T
    assert outside == int(((x < low) | (x > high) | (y < left) | (y > right)).sum())
    looks = {(dot.get_facecolor().tobytes(), dot.get_paths()[0].vertices.tobytes()) for dot in dots}  # type: ignore[union-attr]
    assert len(looks) == 9


def test_nothing_is_left_out_where_nothing_is_far() -> None:
    result = found()
    ax = drawn(draw_embedding(result))
    assert "outside" not in ax.get_title()
    assert ax.get_xlim()[0] < np.nanmin(result.embedding[:, 1])


def test_with_two_clusters_layers_are_the_other_axis() -> None:
    ax = drawn(draw_embedding(found(k=2)))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["layer0", "layer1", "layer2"]
    with pytest.raises(SpecError, match="no embedding"):
        draw_embedding(found(columns=0))


def lesions_of(accuracies: list[float]) -> Lesions:
    """Return lesions of a network with accuracy 0.9; four random groups for each cluster leave 0.7 of it."""
    clusters = len(accuracies)
    ones = np.ones((clusters, 2))
    return Lesions(
        0.9, np.ones(2), ("a",), np.ones((clusters, 1), int), np.array(accuracies), np.full((clusters, 4), 0.7), ones,
        ones, 10, 0,
    )  # fmt: skip


def test_lesions_are_drawn_beside_random_groups() -> None:
    lesions = lesions_of([0.1, 0.5, 0.9])
    ax = drawn(lesions.plot())
    random, own = (np.asarray(dots.get_offsets()) for dots in ax.collections)
    assert own == pytest.approx(np.array([[0, 0.8], [1, 0.4], [2, 0.0]]))
    assert random[:, 1] == pytest.approx(np.full(12, 0.2))
    given = plt.figure().add_subplot()
    assert draw_lesions(lesions, given) is given


@pytest.mark.parametrize("clusters", [1, 4, 40])
def test_all_of_a_legend_is_in_the_picture(clusters: int) -> None:
    for ax in (lesions_of([0.5] * clusters).plot(), draw_embedding(found(k=max(clusters, 2), layers=20))):
        legend = drawn(ax).get_legend()
        assert legend is not None
        whole, part = ax.figure.bbox, legend.get_window_extent()
        assert whole.x0 <= part.x0 < part.x1 <= whole.x1
        assert whole.y0 <= part.y0 < part.y1 <= whole.y1


def test_a_great_many_clusters_do_not_make_a_picture_too_large_to_write() -> None:
    many = found(k=500, layers=50)
    for ax in (lesions_of([0.5] * 500).plot(), draw_composition(many), draw_embedding(many)):
        assert max(drawn(ax).figure.bbox.size) <= 100 * 50
