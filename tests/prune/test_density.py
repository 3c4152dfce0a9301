from __future__ import annotations

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import ShapeError
from dovetail.prune import density, effective_density


def random_masks(seed: int, members: int, conv: bool) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes: dict[str, tuple[int, ...]] = {"a": (4, 3), "a_bias": (4,), "b": (3, 4), "c": (2, 3)}
    if conv:
        shapes = {"a": (3, 2, 2, 1), "b": (2, 3, 1, 2), "c": (3, 8), "d": (2, 3)}
    return {n: torch.rand(members, *shape, generator=generator) < 0.35 for n, shape in shapes.items()}


def effective_by_path_search(masks: dict[str, torch.Tensor]) -> float:
    weights = [mask for mask in masks.values() if mask.dim() > 1]
    graph: nx.DiGraph[object] = nx.DiGraph()
    edges: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for depth, mask in enumerate(weights):
        below = len(weights[depth - 1]) if depth else mask.shape[1]
        for entry in mask.nonzero().tolist():
            source = entry[1] * below // mask.shape[1]
            edges.append(((depth, source), (depth + 1, entry[0])))
    graph.add_edges_from(edges)
    first, last = "all inputs", "all outputs"
    graph.add_edges_from((first, (0, unit)) for unit in range(weights[0].shape[1]))
    graph.add_edges_from(((len(weights), unit), last) for unit in range(len(weights[-1])))
    on_path = sum(nx.has_path(graph, first, a) and nx.has_path(graph, b, last) for a, b in edges)
    return on_path / sum(mask.numel() for mask in weights)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_effective_density_is_what_path_search_finds(seed: int, members: int, conv: bool) -> None:
    masks = random_masks(seed, members, conv)
    together = effective_density(masks, population=True)
    overall = density(masks, population=True)
    for member in range(members):
        alone = {name: mask[member] for name, mask in masks.items()}
        assert effective_density(alone) == float(together[member])
        assert density(alone) == float(overall[member])
        assert effective_density(alone) == pytest.approx(effective_by_path_search(alone))


def test_density_counts_all_entries() -> None:
    masks = {"w": torch.tensor([[True, False, False]]), "b": torch.tensor([True])}
    assert density(masks) == 0.5
    assert density({"w": torch.tensor([0.0, 2.0, -1.0, 0.0])}) == 0.5
    assert effective_density(masks) == pytest.approx(1 / 3)


def test_a_unit_with_only_a_bias_is_no_path() -> None:
    masks = {
        "a": torch.tensor([[True], [False]]),
        "bias": torch.tensor([True, True]),
        "b": torch.tensor([[False, True]]),
    }
    assert effective_density(masks) == 0


def test_flattened_channels_feed_all_their_positions() -> None:
    conv = torch.tensor([True, False]).view(2, 1, 1, 1)
    dense = torch.tensor([[True, True, True, True]])
    assert effective_density({"conv": conv, "dense": dense}) == pytest.approx(3 / 6)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ShapeError, match="chain"):
        effective_density({"a": torch.ones(2, 2), "b": torch.ones(2, 3)})
    with pytest.raises(ShapeError, match="at least one mask"):
        density({})
    with pytest.raises(ShapeError, match="at least one weight"):
        effective_density({"bias": torch.ones(2)})
