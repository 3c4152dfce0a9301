"""What many searches agree on: votes, stability, agreement beyond chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score

import dovetail as dt
from dovetail.errors import DataError, FileFormatError, SpecError
from dovetail.sculpting import SculptSettings, Sculptures, SearchEnd, compare
from dovetail.sculpting.consensus import _counted, _structure
from dovetail.sculpting.measures.agreement import agreement
from dovetail.sculpting.pruning.start import builder_of
from dovetail.sculpting.search_end import packed, unpacked

WIDTHS = (2, 2, 2)
APART, TOGETHER = [0, 3, 4, 7], [0, 1, 2, 3, 4, 5, 6, 7]
"""Edges of two modules with an input and an output each, and of one."""


def sculpture(
    *ends: list[int], seed: int = 0, losses: list[float] | None = None, task: str = "t"
) -> dt.Sculpture:
    """Return a sculpture whose searches left these edges; the first is its own."""
    network = builder_of(WIDTHS)()
    shapes = {name: p.shape for name, p in network.named_parameters()}
    flat = torch.zeros(8, dtype=torch.bool)
    flat[ends[0]] = True
    weights = [name for name, shape in shapes.items() if len(shape) == 2]
    masks = {name: torch.ones(shape, dtype=torch.bool) for name, shape in shapes.items()}
    masks |= {name: part.view(2, 2) for name, part in zip(weights, flat.split(4), strict=True)}
    searches = tuple(
        SearchEnd(0.5, 0.1 + place, loss, torch.tensor(edges, dtype=torch.int32))
        for place, (edges, loss) in enumerate(zip(ends, losses or [0.0] * len(ends), strict=True))
    )
    return dt.Sculpture(
        task=task, seed=seed, network=network, masks=masks, outcome="sculpted", accuracy=1.0, threshold=1.0,
        searches=searches, settings=SculptSettings(hidden=(2,), unit_steps=(0.5,), edge_steps=(0.1,) * len(ends)),
    )  # fmt: skip


def test_most_votes_win_and_modules_have_their_share() -> None:
    found = Sculptures([sculpture(APART, APART, TOGETHER), sculpture(APART, seed=1)]).consensus(within=2)
    assert [sorted(module) for module in found.hierarchy.modules] == [
        [(0, 0), (1, 0), (2, 0)],
        [(0, 1), (1, 1), (2, 1)],
    ]
    assert found.share == pytest.approx((2 / 3 + 1) / 2)
    assert found.stability == pytest.approx((found.share, found.share))
    assert found.runner_up == pytest.approx(1 / 6)
    assert (found.seeds, found.networks) == (2, 4)
    assert found.agreements["seeds"].value == pytest.approx(1)
    assert "(83%)" in found.describe()


def test_seeds_count_alike_however_many_of_their_searches_vote() -> None:
    many = sculpture(TOGETHER, *[TOGETHER] * 9)
    found = Sculptures([many, sculpture(APART, seed=1), sculpture(APART, seed=2)]).consensus()
    assert len(found.hierarchy.modules) == 2
    assert found.share == pytest.approx(2 / 3)


def test_networks_with_many_more_edges_have_no_vote() -> None:
    seed = sculpture(APART, TOGETHER, TOGETHER)
    assert len(Sculptures([seed]).consensus().hierarchy.modules) == 2
    assert len(Sculptures([seed]).consensus(within=2).hierarchy.modules) == 1


def test_of_structures_with_as_many_votes_the_sparser_one_is_taken() -> None:
    both = sculpture(APART, TOGETHER, losses=[0.2, 0.1])
    assert len(Sculptures([both]).consensus(within=2).hierarchy.modules) == 2


def test_the_planted_structure_is_found_by_real_searches() -> None:
    found = dt.sculpt_seeds(
        [4, 2, 4], [12], range(3), unit_steps=[0.3, 0.5], edge_steps=[0.02, 0.01], progress=False
    )
    assert compare(found.consensus().hierarchy, [4, 2, 4]).whole
    assert len(found.to_frame()) == 3
    assert isinstance(found[:2], Sculptures)


def test_searches_that_tie_are_all_there() -> None:
    one = dt.sculpt([4, 2, 4], [12], unit_steps=[0.3, 0.5], edge_steps=[0.02, 0.01], progress=False)
    assert len(one.searches) == 4
    assert [end.edges for end, _ in one.hierarchies()] == [one.edges] * one.tied
    assert one.grid is not None
    assert one.grid.tolist() == [
        [end.edges for end in one.searches[:2]],
        [end.edges for end in one.searches[2:]],
    ]
    own = next(
        h for end, h in one.hierarchies() if (end.unit_step, end.edge_step) == (one.unit_step, one.edge_step)
    )
    assert own == one.hierarchy


def test_a_file_holds_all_searches(tmp_path: Path) -> None:
    one = dt.sculpt([4, 2, 4], [12], unit_steps=[0.3, 0.5], edge_steps=[], progress=False)
    again = dt.open(one.save(tmp_path / "one.safetensors"))
    assert isinstance(again, dt.Sculpture)
    assert [end.edge_step for end in again.searches] == [None, None]
    for a, b in zip(one.searches, again.searches, strict=True):
        assert (a.unit_step, a.loss) == (b.unit_step, b.loss)
        assert torch.equal(a.positions, b.positions)
    assert Sculptures([again]).consensus().share == Sculptures([one]).consensus().share


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"positions": torch.tensor([0, 9, 1], dtype=torch.int32)}, "has not"),
        ({"positions": torch.tensor([0, 0, 1], dtype=torch.int32)}, "twice"),
        ({"edges": torch.tensor([1, 1])}, "contradict"),
        ({"edges": torch.tensor([4, -1])}, "contradict"),
        ({"loss": torch.tensor([0.5])}, "contradict"),
    ],
)
def test_damaged_searches_are_refused(change: dict[str, torch.Tensor], says: str) -> None:
    ends = [SearchEnd(0.5, None, 0.1, torch.tensor(edges, dtype=torch.int32)) for edges in ([0, 2], [1])]
    good = packed(ends)
    assert [end.edges for end in unpacked(good, 8)] == [2, 1]
    with pytest.raises(ValueError, match=says):
        unpacked(good | change, 8)


def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    from safetensors import safe_open
    from safetensors.torch import save_file

    one = dt.sculpt("y1 = x1 & x2", [4], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    path = one.save(tmp_path / "one.safetensors")
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata()
    save_file(tensors | {"searches/positions": tensors["searches/positions"] + 100}, path, metadata)
    with pytest.raises(FileFormatError, match="edges that the network has not"):
        dt.open(path)


def test_tasks_of_one_name_are_told_apart() -> None:
    few = {"hidden": [6], "unit_steps": [0.5], "edge_steps": [0.1], "progress": False}
    one, other = (dt.sculpt(f"y1 = x1 {sign} x2; y2 = x3 & x4", **few) for sign in "&|")  # type: ignore[arg-type]
    assert one.task == other.task
    with pytest.raises(DataError, match="for several"):
        Sculptures([one, other]).consensus()


def test_modules_of_inputs_that_others_do_not_use_are_not_compared() -> None:
    edges = np.ones((1, 2), dtype=bool), np.ones((1, 1), dtype=bool)
    modules = frozenset({(0, 0), (0, 1)}), frozenset({(1, 0)}), frozenset({(2, 0)})
    clusters = tuple(tuple(frozenset({unit}) for unit in range(size)) for size in (2, 1, 1))
    found = dt.Hierarchy(edges, clusters, modules)
    assert _counted(found, [0, 1]) == _counted(found, [1]) == [True, True, True]
    assert _counted(found, []) == [False, True, True]
    empty: frozenset[int] = frozenset()
    assert _structure(found, []) == {((empty, empty), 1), ((empty, frozenset({0})), 1)}


def test_nothing_to_agree_on() -> None:
    with pytest.raises(DataError, match="nothing to agree on: there are no sculptures"):
        Sculptures([]).consensus()
    with pytest.raises(DataError, match="for several"):
        Sculptures([sculpture(APART), sculpture(APART, task="other")]).consensus()
    with pytest.raises(DataError, match="seed 0 is there more than once"):
        Sculptures([sculpture(APART), sculpture(APART)]).consensus()
    with pytest.raises(DataError, match="open files with"):
        Sculptures(["a.safetensors"]).consensus()  # type: ignore[list-item]
    with pytest.raises(SpecError, match="within is 1 or more"):
        Sculptures([sculpture(APART)]).consensus(within=0.5)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30))
def test_agreement_is_that_of_scikit_learn(units: list[tuple[int, int]]) -> None:
    labels = [np.unique([unit[side] for unit in units], return_inverse=True)[1] for side in (0, 1)]
    found = agreement(labels)
    assert found is not None
    assert found.value == pytest.approx(adjusted_mutual_info_score(*labels), abs=1e-8)


def test_agreement_of_unrelated_modules_is_chance() -> None:
    rng = np.random.default_rng(0)
    found = [agreement([rng.integers(0, 3, 24) for _ in range(6)], seed=n) for n in range(40)]
    values = [one.value for one in found if one is not None]
    assert abs(np.mean(values)) < 0.02
    small = [one.p_value <= 0.05 for one in found if one is not None]
    assert sum(small) <= 6  # 2 expected
