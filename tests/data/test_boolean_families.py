"""The families of tasks, against functions written out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import pytest

from dovetail.data.boolean import Planted, PlantedModule, boolean_task
from dovetail.errors import SpecError

Row = Sequence[int]


def f_terms(row: Row) -> tuple[bool, bool, bool]:
    return tuple(row) == (1, 1, 0, 0), tuple(row) == (1, 0, 1, 0), tuple(row) == (0, 0, 1, 1)


def f(row: Row) -> bool:
    return any(f_terms(row))


def h(row: Row) -> bool:
    return tuple(row) in {(1, 1, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1)}


def reused(row: Row) -> list[bool]:
    g1, g2, g3 = f_terms(row)
    return [g1 or g2, g2 or g3]


def pairs(row: Row) -> list[bool]:
    a, b, c = (row[start] + row[start + 1] == 2 for start in (0, 2, 4))
    return [a or b, a or c, b or c]


def two_ends(row: Row) -> list[bool]:
    return [f(row[:4]), h(row[-4:])]


def five_levels(row: Row) -> list[bool]:
    return [f(row[:4]) and not h(row[4:]), h(row[4:]) and not f(row[:4])]


def two_xors(row: Row) -> list[bool]:
    return [row[0] != row[1], row[0] == row[1], row[2] != row[3], row[2] == row[3]]


FIXED: list[tuple[list[int], Callable[[Row], list[bool]]]] = [
    ([4, 2, 4], two_xors),
    ([4, 1, 4], lambda row: [f(row)] * 4),
    ([6, 3, 3, 3], pairs),
]
REPEATED: list[tuple[list[int], Callable[[Row], list[bool]]]] = [
    ([4, 1, 2], reused),
    ([8, 2], two_ends),
    ([7, 3, 2], two_ends),
    ([6, 3, 2], two_ends),
    ([5, 3, 2], two_ends),
    ([4, 1, 2, 2], two_ends),
    ([8, 2, 1, 2], five_levels),
]
ALL = [bracket for bracket, _ in FIXED] + [[*start, m] for start, _ in REPEATED for m in (2, 6, 16)]


@pytest.mark.parametrize(("bracket", "by_hand"), FIXED)
def test_table_of_fixed_family(bracket: list[int], by_hand: Callable[[Row], list[bool]]) -> None:
    task = boolean_task(bracket)
    assert task.y.tolist() == [by_hand(row) for row in product((0, 1), repeat=bracket[0])]


@pytest.mark.parametrize("m", [2, 4, 16])
@pytest.mark.parametrize(("start", "by_hand"), REPEATED)
def test_table_of_repeated_family(start: list[int], by_hand: Callable[[Row], list[bool]], m: int) -> None:
    task = boolean_task([*start, m])
    assert task.y.tolist() == [by_hand(row) * (m // 2) for row in product((0, 1), repeat=start[0])]


@pytest.mark.parametrize("bracket", ALL, ids=str)
def test_sizes_names_and_partition(bracket: list[int]) -> None:
    task = boolean_task(bracket)
    assert (task.inputs, task.outputs) == (bracket[0], bracket[-1])
    assert task.name == str(bracket).replace(" ", "") == boolean_task(str(bracket)).name
    assert task.planted is not None
    for depth in range(5):
        planted = task.planted.for_depth(depth)
        assert sorted(unit for module in planted for unit in module.inputs) == list(range(task.inputs))
        assert sorted(unit for module in planted for unit in module.outputs) == list(range(task.outputs))
        graph = planted.to_networkx()
        assert set(graph) == {module.name for module in planted}
        assert set(graph.edges) == {(module.name, fed) for module in planted for fed in module.feeds}


def shown(bracket: list[int], depth: int) -> list[str]:
    planted = boolean_task(bracket).planted
    assert planted is not None
    return [str(module) for module in planted.for_depth(depth)]


@pytest.mark.parametrize(
    ("bracket", "modules"),
    [
        ([4, 2, 4], ["a {x1, x2, y1, y2}", "b {x3, x4, y3, y4}"]),
        ([4, 1, 4], ["F {x1, x2, x3, x4, y1, y2, y3, y4}"]),
        (
            [6, 3, 3, 3],
            [
                "a {x1, x2} -> y1, y2",
                "b {x3, x4} -> y1, y3",
                "c {x5, x6} -> y2, y3",
                "y1 {y1}",
                "y2 {y2}",
                "y3 {y3}",
            ],
        ),
        ([8, 2, 4], ["F {x1, x2, x3, x4, y1, y3}", "H {x5, x6, x7, x8, y2, y4}"]),
        (
            [5, 3, 2, 2],
            [
                "own F {x1} -> odd",
                "shared {x2, x3, x4} -> odd, even",
                "own H {x5} -> even",
                "odd {y1}",
                "even {y2}",
            ],
        ),
        ([4, 1, 2, 2, 2], ["shared {x1, x2, x3, x4} -> odd, even", "odd {y1}", "even {y2}"]),
    ],
)
def test_modules_that_show_at_every_depth(bracket: list[int], modules: list[str]) -> None:
    assert shown(bracket, 1) == shown(bracket, 3) == modules


def test_modules_that_need_depth() -> None:
    assert shown([4, 1, 2, 2], 1) == ["all {x1, x2, x3, x4, y1, y2}"]
    assert shown([4, 1, 2, 2], 2) == ["g {x1, x2, x3, x4} -> odd, even", "odd {y1}", "even {y2}"]
    inputs = ["F {x1, x2, x3, x4} -> middle", "H {x5, x6, x7, x8} -> middle"]
    assert shown([8, 2, 1, 2, 2], 2) == shown([8, 2, 1, 2, 2], 1) == [*inputs, "middle {y1, y2}"]
    assert shown([8, 2, 1, 2, 2], 3) == [*inputs, "middle {} -> odd, even", "odd {y1}", "even {y2}"]


@pytest.mark.parametrize(
    "bracket", [[], [4], [4, 2, 6], [6, 3, 3, 4], [9, 2, 4], "[4,2,4", "[a]", "[]", "[4;2]"]
)
def test_unknown_family_lists_the_families(bracket: list[int] | str) -> None:
    with pytest.raises(SpecError, match=r"unknown Boolean task .*\[4,1,2,m\].*\[8,2,m\]"):
        boolean_task(bracket)


@pytest.mark.parametrize("m", [0, 3, 258, 10**8])
def test_number_of_outputs_is_even_and_bounded(m: int) -> None:
    with pytest.raises(SpecError, match=r"in \[8,2,m\], is even, from 2 to 256"):
        boolean_task([8, 2, m])


@pytest.mark.parametrize("part", [2.0, True, -1, 10**5000, "2", None], ids=lambda value: type(value).__name__)
def test_families_are_named_by_whole_numbers(part: object) -> None:
    with pytest.raises(SpecError, match=r"entry 2, of type"):
        boolean_task([4, part, 4])  # type: ignore[list-item]


def test_largest_family() -> None:
    assert boolean_task([8, 2, 1, 2, 256]).y.shape == (256, 256)


def test_planted_structures_are_checked() -> None:
    with pytest.raises(SpecError, match="different names"):
        Planted((PlantedModule("a"), PlantedModule("a")))
    with pytest.raises(SpecError, match="feeds 'b'"):
        Planted((PlantedModule("a", feeds=("b",)),))
    with pytest.raises(SpecError, match="share a unit"):
        Planted((PlantedModule("a", inputs=frozenset({0})), PlantedModule("b", inputs=frozenset({0, 1}))))
    with pytest.raises(SpecError, match="not -1"):
        Planted((PlantedModule("a"),)).for_depth(-1)
