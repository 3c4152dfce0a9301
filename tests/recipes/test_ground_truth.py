"""Every finder, held against networks whose modules are known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import dovetail as dt
from dovetail.planted import block_network, named_programs
from dovetail.recipes import Comparison, Finished, Unit, find_recipe
from dovetail.recipes.beyond.finders import FINDERS, find, modularity, shuffled_network
from dovetail.recipes.beyond.ground_truth import _FINDERS, _PROGRAMS
from dovetail.recipes.recipe import Scale

from .recipe_checks import check_units
from .smoke import run_smoke

NAME = "ground-truth"
SCALES: tuple[Scale, ...] = ("paper", "smoke")


def made_up(unit: Unit) -> Finished:
    """Return a finished unit: every finder is right by half, and sure of the first network alone."""
    count = len(unit.settings["seeds"])
    columns: dict[str, list[float | None]] = {
        "rand": [0.5] * count,
        "information": [0.25] * count,
        "p_values": [0.05, *[0.1] * (count - 1)],
    }
    none: dict[str, list[float | None]] = {**columns, "p_values": [None] * count}
    found = {name: columns if name in unit.settings["tested"] else none for name in unit.settings["finders"]}
    return Finished(unit, {"units": [9] * count, "modules": [3] * count, "finders": found}, 1.0, "cpu")


def test_units_are_all_conditions() -> None:
    check_units(NAME, paper=37, smoke=9)
    units = find_recipe(NAME).units("paper")
    assert {unit.settings["family"] for unit in units} == {"blocks", "tasks", "programs"}
    assert all(
        set(unit.settings["tested"]) <= set(unit.settings["finders"]) <= set(FINDERS) for unit in units
    )
    assert _FINDERS == FINDERS  # written twice, so that the list of recipes need not wait for torch
    # All named programs but the first, which is no operation.
    assert list(_PROGRAMS["paper"]["named"]) == list(range(1, len(named_programs())))
    assert next(iter(named_programs())) == "identity"


def test_any_part_can_be_shown() -> None:
    recipe = find_recipe(NAME)
    for scale in SCALES:
        units = recipe.units(scale)
        assert not recipe.tables(scale, [])
        for some in (units[:1], units[-1:], units):
            finished = [made_up(unit) for unit in some]
            assert all(len(table.wide()) for table in recipe.tables(scale, finished))
            titles = [title for title, _ in recipe.figures(scale, finished)]
            assert titles == ["agreement", "power"]


def test_tables_count_what_is_found() -> None:
    recipe = find_recipe(NAME)
    finished = [made_up(unit) for unit in recipe.units("paper")]
    rand, information, power, false, compiled, _ = recipe.tables("paper", finished)
    assert rand.wide().iloc[0]["paths"] == "0.500 (0.000)"
    assert information.wide().iloc[0]["paths"] == "0.250 (0.000)"
    assert power.wide().iloc[0]["spectral"] == "1/4"
    wide = false.wide().set_index("network")
    assert wide.loc["mlp blocks", "of (spectral)"] == "1/60"
    assert wide.loc["all", "of (leiden)"] == "5/108"
    assert wide.loc["all", "spectral"] == f"{5 / 340:.3f} ({(5 / 340 * 335 / 340 / 340) ** 0.5:.3f})"
    assert compiled.wide().iloc[0]["seen"] == "1/35"


@pytest.mark.slow
def test_smoke_scale() -> None:
    finished = run_smoke(f"beyond/{NAME}")
    rand, _, power, *_ = find_recipe(NAME).tables("smoke", finished)
    assert isinstance(rand, Comparison)
    assert isinstance(power, Comparison)
    found = {
        (cell.labels["network"], cell.labels["strength"], cell.metric): cell.ours
        for cell in rand.cells
        if cell.ours
    }
    assert all(found["mlp blocks", "1", name].value > 0.9 for name in ("spectral", "paths", "sculpted"))
    assert all(abs(found["mlp blocks", "0", name].value) < 0.2 for name in ("spectral", "paths", "lesions"))


@pytest.mark.parametrize("name", [name for name in FINDERS if name != "leiden"])
def test_a_finder_finds_blocks_and_is_sure(name: str) -> None:
    known = block_network("mlp", modules=3, units=5, layers=2, strength=1.0, seed=2)
    graph = known.graph()
    found = find(name, known, graph, 3, 19, seed=0)
    assert found is not None
    assert found.p_value == 0.05
    # The same again, and nothing of what is known is used.
    blind = dt.network_graph(known.network)
    again = find(name, known, blind, 3, 0, seed=0)
    assert again is not None
    assert again.p_value is None
    assert np.array_equal(again.labels, found.labels)


def test_modules_are_looked_for_in_chains_only() -> None:
    known = block_network("attention", modules=2, units=3, layers=1)
    assert find("sculpted", known, known.graph(), 2, 0, seed=0) is None


def test_modularity_is_that_of_networkx() -> None:
    import networkx as nx

    known = block_network("mlp", modules=3, units=4, layers=2, strength=0.7)
    graph = known.graph()
    labels = known.labels(graph)
    labels[:2] = -1
    communities = [set(np.flatnonzero(labels == number).tolist()) for number in range(3)] + [{0}, {1}]
    expected = nx.community.modularity(nx.from_scipy_sparse_array(graph.adjacency), communities)
    assert modularity(graph, labels) == pytest.approx(expected)


def test_a_shuffled_network_has_the_same_weights_elsewhere() -> None:
    network = nn.Sequential(nn.Conv2d(4, 5, 3), nn.Flatten(), nn.Linear(5, 6))
    mixed = shuffled_network(network, (0, 1))
    for (name, weight), other in zip(network.named_parameters(), mixed.parameters(), strict=True):
        if name.endswith("bias"):
            assert torch.equal(weight, other)
            continue
        assert not torch.equal(weight, other)
        kernels = [sorted(map(tuple, one.flatten(0, 1).flatten(1).tolist())) if one.dim() > 2
                   else sorted(one.flatten().tolist()) for one in (weight, other)]  # fmt: skip
        assert kernels[0] == kernels[1]
