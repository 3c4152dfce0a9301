"""Charts of audits: they show the numbers that the audit has."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
from dovetail.report.charts_cluster import composition_chart, null_chart


@pytest.fixture(scope="module")
def found() -> dt.Clusterability:
    return dt.clusterability(dt.build_net("mlp:16", (8,), 4, seed=0), k=3, shuffles=12, progress=False)


def test_the_null_has_every_copy_once_and_the_network_where_it_is(found: dt.Clusterability) -> None:
    bars, network = null_chart(found.ncut, found.null.tolist()).data
    assert sum(bars.y) == 12
    assert list(bars.y) == np.histogram(found.null, 7)[0].tolist()
    assert bars.name == "12 shuffled copies"
    assert set(network.x) == {found.ncut}


def test_the_null_says_what_the_audit_says(found: dt.Clusterability) -> None:
    title = null_chart(found.ncut, found.null.tolist()).layout.title.text
    assert title == f"n-cut {found.ncut:.4g}, z = {found.z_score:.2f}, p = {found.p_value:.3g}"


def test_a_null_that_is_not_full_says_so() -> None:
    assert null_chart(1.0, [2.0], wanted=20).data[0].name == "1 of 20 shuffled copies"
    (network,) = null_chart(1.0, [], wanted=20).data
    assert network.name == "the network"


def test_copies_that_are_all_the_same_can_be_drawn() -> None:
    figure = null_chart(2.0, [2.0] * 4)
    assert sum(figure.data[0].y) == 4
    assert figure.layout.title.text == "n-cut 2, z = 0.00, p = 1"


def test_the_composition_shows_counts_and_shares_of_layers(found: dt.Clusterability) -> None:
    counts = found.composition().to_numpy()
    layers = [(group.name, group.size) for group in found.graph.groups]
    figure = composition_chart(counts.tolist(), layers)
    (heat,) = figure.data
    assert np.array(heat.z) == pytest.approx(counts / [size for _, size in layers])
    assert [[int(text or 0) for text in row] for row in heat.text] == counts.tolist()
    assert list(figure.layout.xaxis.ticktext) == ["input", "dense1", "output"]


def test_many_layers_share_the_room_and_names_are_not_tags() -> None:
    layers = [(f"<b>{number}", 3) for number in range(100)]
    figure = composition_chart([[1] * 100] * 50, layers)
    assert len(figure.layout.xaxis.ticktext) <= 40
    assert figure.layout.xaxis.ticktext[0] == "&lt;b&gt;0"
    assert figure.data[0].texttemplate is None


def test_all_that_is_drawn_lies_within_the_frame(found: dt.Clusterability) -> None:
    for copies in (found.null.tolist(), [], [found.ncut] * 3):
        figure = null_chart(found.ncut, copies)
        low, high = figure.layout.xaxis.range
        assert low < found.ncut < high
        for bars in figure.data[:-1]:
            assert low < min(bars.x) - bars.width[0] / 2
            assert max(bars.x) + bars.width[0] / 2 < high
