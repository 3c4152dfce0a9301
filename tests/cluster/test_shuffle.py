"""Shuffled copies: the same weights in other places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.cluster.null import Shuffles
from dovetail.cluster.settings import Shuffle
from dovetail.errors import SpecError
from dovetail.graph.graph import Block, Group, NetworkGraph

from .graphs import chain


def layer(outputs: int, inputs: int, *, groups: int = 1, density: float = 1.0, seed: int = 0) -> NetworkGraph:
    """Return one layer, of groups that are not connected with each other."""
    rng = np.random.default_rng(seed)
    weights = rng.random((outputs, inputs)) * (rng.random((outputs, inputs)) < density)
    weights *= np.kron(np.eye(groups), np.ones((outputs // groups, inputs // groups)))
    block = Block("layer", np.arange(outputs), np.arange(inputs) + outputs, weights, groups)
    return NetworkGraph((Group("out", outputs), Group("in", inputs)), (block,))


@given(st.sampled_from(["layer", "layer-nonzero"]), st.sampled_from([1, 2]), st.integers(0, 1000))
def test_a_shuffle_keeps_the_weights_and_what_is_never_connected(
    how: Shuffle, groups: int, seed: int
) -> None:
    graph = layer(6, 4, groups=groups, density=0.6, seed=seed)
    weights = graph.blocks[0].weights
    (mixed,) = Shuffles(graph, how).draw(np.random.default_rng(seed))
    np.testing.assert_array_equal(np.sort(mixed.ravel()), np.sort(weights.ravel()))
    assert not mixed[np.kron(np.eye(groups), np.ones((6 // groups, 4 // groups))) == 0].any()
    assert not mixed[weights.sum(1) == 0].any()
    assert not mixed[:, weights.sum(0) == 0].any()
    if how == "layer-nonzero":
        np.testing.assert_array_equal(mixed == 0, weights == 0)


def test_every_weight_may_go_everywhere() -> None:
    copies = Shuffles(layer(2, 2), "layer")
    rng = np.random.default_rng(0)
    places = [int(copies.draw(rng)[0].argmax()) for _ in range(400)]
    assert np.bincount(places, minlength=4).min() > 70  # 100 expected, standard deviation 8.7


def test_zeros_move_too_when_a_layer_is_shuffled_whole() -> None:
    graph = layer(20, 20, density=0.3)
    (mixed,) = Shuffles(graph, "layer").draw(np.random.default_rng(1))
    assert ((mixed == 0) != (graph.blocks[0].weights == 0)).any()


def test_a_unit_that_only_sends_may_receive_in_a_copy() -> None:
    """What is left out are units without any connection, not rows or columns of one layer."""
    first, second = np.ones((3, 4)), np.ones((2, 3))
    first[0] = 0
    copies = Shuffles(chain([first, second]), "layer")
    rng = np.random.default_rng(0)
    assert any(copies.draw(rng)[0][0].any() for _ in range(5))


def test_unknown_shuffles_are_named() -> None:
    with pytest.raises(SpecError, match="did you mean 'layer'"):
        Shuffles(layer(2, 2), "layers")  # type: ignore[arg-type]
