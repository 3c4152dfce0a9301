"""Profiles of units: paths against products of matrices, effects against a loop that takes out one unit at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score
from torch import Tensor, nn

import dovetail as dt
from dovetail.cluster import effect_profiles, path_profiles, profile_clusters
from dovetail.errors import ShapeError, SpecError
from dovetail.planted import block_network
from dovetail.sculpting import path_products


def shares(rows: np.ndarray) -> np.ndarray:
    found: np.ndarray = rows / rows.sum(1, keepdims=True)
    return found


def test_paths_of_a_perceptron_are_products_of_matrices() -> None:
    rng = np.random.default_rng(0)
    matrices = [rng.normal(size=size) for size in ((5, 4), (6, 5), (3, 6))]
    found = path_profiles(dt.network_graph(matrices))
    first, second, third = (np.abs(matrix) for matrix in matrices)
    assert found.shape == (18, 7)
    np.testing.assert_allclose(found[4:9, :4], shares(first))
    np.testing.assert_allclose(found[4:9, 4:], shares((third @ second).T))
    np.testing.assert_allclose(found[9:15, :4], shares(second @ first))
    np.testing.assert_allclose(found[9:15, 4:], shares(third.T))
    np.testing.assert_allclose(found[15:, :4], shares(path_products(matrices)))
    np.testing.assert_allclose(found[:4, :4], np.eye(4))


class Shortcut(nn.Module):
    """What a stream carries goes past the layers that add to it."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.up, self.down, self.out = (
            nn.Linear(*sizes, bias=False) for sizes in ((3, 4), (4, 5), (5, 4), (4, 2))
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        return self.out(x + self.down(self.up(x).relu()))  # type: ignore[no-any-return]


def test_paths_go_along_a_residual_stream() -> None:
    torch.manual_seed(0)
    network = Shortcut()
    graph = dt.network_graph(network, torch.zeros(1, 3))
    stem, up, down, out = (weight.detach().abs().double().numpy() for weight in network.parameters())
    found = path_profiles(graph)
    names = [group.name for group in graph.groups]
    assert names == ["input", "stem", "up", "out"]
    of_up, of_input = (found[graph.group_of == names.index(name)] for name in ("up", "input"))
    np.testing.assert_allclose(of_up[:, 3:], shares((out @ down).T))
    np.testing.assert_allclose(of_up[:, :3], shares(up @ stem))
    np.testing.assert_allclose(of_input[:, 3:], shares((out @ (np.eye(4) + down @ up) @ stem).T))


@pytest.mark.parametrize("kind", ["mlp", "cnn", "attention"])
def test_effects_are_those_of_one_unit_at_a_time(kind: str) -> None:
    known = block_network(kind, modules=2, units=3, layers=1, strength=0.5)  # type: ignore[arg-type]
    graph, x = known.graph(), known.samples[:5]
    found = effect_profiles(known.network, x, graph)
    layer, name, dim = {
        "mlp": ("2", "0", 1), "cnn": ("4", "0", 1), "attention": ("blocks.0.down", "blocks.0.up", 2),
    }[kind]  # fmt: skip
    module = known.network.get_submodule(layer)
    nodes = np.flatnonzero(graph.group_of == [group.name for group in graph.groups].index(name))
    with torch.no_grad():
        whole = known.network(x)
        for unit, node in enumerate(nodes):

            def without(_: nn.Module, inputs: tuple[Tensor], unit: int = unit) -> Tensor:
                kept = torch.ones(inputs[0].shape[dim])
                kept[unit] = 0
                return inputs[0] * kept

            handle = module.register_forward_pre_hook(without)
            off = (known.network(x) - whole).square().flatten(0, -2).mean(0).sqrt()
            handle.remove()
            np.testing.assert_allclose(found[node], off.numpy(), rtol=1e-4, atol=1e-6)


def test_outputs_and_queries_have_no_effect() -> None:
    known = block_network("attention", modules=2, units=3, layers=1)
    graph = known.graph()
    found = effect_profiles(known.network, known.samples[:4])
    for name in ("readout", "blocks.0.attention.query", "tokens:tokens"):
        assert not found[graph.group_of == [group.name for group in graph.groups].index(name)].any()


def test_profiles_that_are_alike_are_together() -> None:
    rng = np.random.default_rng(0)
    owner = rng.permutation(np.repeat([0, 1, 2], 10))
    profiles = np.eye(3)[owner] * 5 + rng.uniform(0, 1, (30, 3))
    profiles *= rng.uniform(0.1, 10, (30, 1))  # how strong a unit is does not count
    labels, explained = profile_clusters(profiles, 3)
    assert adjusted_rand_score(owner, labels) == 1
    assert explained > 0.9
    assert profile_clusters(rng.uniform(size=(30, 3)), 3)[1] < explained
    assert profile_clusters(np.ones((4, 3)), 2)[1] == 0


def test_what_are_no_profiles_is_refused() -> None:
    with pytest.raises(ShapeError, match="rows of finite numbers from 0 on"):
        profile_clusters([[1.0, -1.0]], 1)
    with pytest.raises(SpecError, match="k=3 clusters of 2 units with a profile"):
        profile_clusters([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], 3)
    with pytest.raises(ShapeError, match="outputs along the last dimension"):
        effect_profiles(nn.Sequential(nn.Linear(2, 1), nn.Flatten(0)), torch.zeros(3, 2))
