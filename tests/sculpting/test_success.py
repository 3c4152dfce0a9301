from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.data.boolean import BooleanTask, Planted, PlantedModule, boolean_task
from dovetail.errors import ShapeError, SpecError
from dovetail.sculpting.measures.success import Match, compare, planted_digits
from dovetail.sculpting.modules.hierarchy import Hierarchy, Unit

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples" / "sculpted_networks.jsonl.gz"

Layered = dict[int, Iterable[int]]


def hierarchy(sizes: list[int], modules: list[Layered], feeds: Iterable[tuple[int, int]] = ()) -> Hierarchy:
    """Return a hierarchy with the given units of each layer in modules, densely joined inside and along feeds."""
    units = [
        frozenset((layer, unit) for layer, places in module.items() for unit in places) for module in modules
    ]
    connections = [np.zeros((size, before), bool) for before, size in pairwise(sizes)]
    for feeder, fed in [*feeds, *((place, place) for place in range(len(units)))]:
        for layer, source in units[feeder]:
            for later, to in units[fed]:
                if later == layer + 1:
                    connections[layer][to, source] = True
    everything = {(layer, unit) for layer, size in enumerate(sizes) for unit in range(size)}
    clusters = tuple(
        tuple(
            frozenset(unit for at, unit in module if at == layer)
            for module in units
            if any(at == layer for at, _ in module)
        )
        for layer in range(len(sizes))
    )
    return Hierarchy(tuple(connections), clusters, tuple(units), frozenset(everything.difference(*units)))


def verdicts(match: Match) -> set[str]:
    return {word.split()[0] for word in str(match).split(", ") if word.endswith("yes")}


ALL = {"whole", "feeds", "inputs", "outputs", "hidden", "intermediate", "middle"}

SEPARATE = boolean_task([4, 2, 4])
REUSED = boolean_task([4, 1, 2, 4])
OVERLAP = boolean_task([7, 3, 2, 4])
LEVELS = boolean_task([8, 2, 1, 2, 4])

FIRST: Layered = {0: [0, 1], 1: [0], 2: [0, 1]}
SECOND: Layered = {0: [2, 3], 1: [1], 2: [2, 3]}


def test_two_separate_modules() -> None:
    assert verdicts(compare(hierarchy([4, 3, 4], [FIRST, SECOND]), SEPARATE)) == ALL
    assert verdicts(compare(hierarchy([4, 3, 4], [SECOND, FIRST]), SEPARATE)) == ALL


def test_inputs_that_are_mixed_up() -> None:
    mixed = [FIRST | {0: [0, 2]}, SECOND | {0: [1, 3]}]
    assert verdicts(compare(hierarchy([4, 3, 4], mixed), SEPARATE)) == {
        "outputs",
        "hidden",
        "intermediate",
        "middle",
    }


def test_outputs_that_are_mixed_up() -> None:
    mixed = [FIRST | {2: [0, 2]}, SECOND | {2: [1, 3]}]
    assert verdicts(compare(hierarchy([4, 3, 4], mixed), SEPARATE)) == {
        "inputs",
        "hidden",
        "intermediate",
        "middle",
    }


def test_right_inputs_with_the_other_outputs() -> None:
    crossed = [FIRST | {2: [2, 3]}, SECOND | {2: [0, 1]}]
    assert verdicts(compare(hierarchy([4, 3, 4], crossed), SEPARATE)) == ALL - {"whole", "feeds"}


def test_a_module_too_many() -> None:
    split: list[Layered] = [FIRST | {1: [0]}, SECOND, {1: [2]}]
    found = compare(hierarchy([4, 3, 4], split, [(0, 2), (2, 1)]), SEPARATE)
    assert verdicts(found) == {"inputs", "outputs"}


def test_a_stray_edge_spoils_the_feeds_alone() -> None:
    found = compare(hierarchy([4, 3, 4], [FIRST, SECOND], [(0, 1)]), SEPARATE)
    assert verdicts(found) == ALL - {"feeds"}


def test_edges_of_unused_units_feed_nothing() -> None:
    found = hierarchy([4, 3, 4], [FIRST, SECOND])
    assert (1, 2) in found.unused
    found.connections[0][2] = True
    assert verdicts(compare(found, SEPARATE)) == ALL


def test_a_needed_input_that_is_unused() -> None:
    found = compare(hierarchy([4, 3, 4], [FIRST | {0: [0]}, SECOND]), SEPARATE)
    assert verdicts(found) == {"outputs", "hidden", "intermediate", "middle"}


def test_inputs_outside_the_planted_modules_must_be_unused() -> None:
    found = hierarchy([6, 3, 4], [FIRST, SECOND])
    assert SEPARATE.planted is not None
    assert compare(found, SEPARATE.planted).whole
    assert not compare(hierarchy([6, 3, 4], [FIRST | {0: [0, 1, 5]}, SECOND]), SEPARATE.planted).whole


REUSED_MODULES: list[Layered] = [{0: range(4), 1: [0, 1]}, {2: [0], 3: [0, 2]}, {2: [1], 3: [1, 3]}]


def test_a_reused_module() -> None:
    found = compare(hierarchy([4, 5, 5, 4], REUSED_MODULES, [(0, 1), (0, 2)]), REUSED)
    assert verdicts(found) == ALL - {"hidden"}  # the reused module has hidden units of its own


def test_feeds_have_directions_and_ends() -> None:
    assert not compare(hierarchy([4, 5, 5, 4], REUSED_MODULES, [(0, 1)]), REUSED).feeds
    extra = [(0, 1), (0, 2), (1, 2)]
    assert not compare(hierarchy([4, 5, 5, 4], REUSED_MODULES, extra), REUSED).feeds


def test_the_depth_decides_what_is_expected() -> None:
    shallow = hierarchy([4, 5, 4], [{0: range(4), 1: range(3), 2: range(4)}])
    assert verdicts(compare(shallow, REUSED)) == ALL
    assert [module.name for module in compare(shallow, REUSED).expected] == ["all"]
    assert verdicts(compare(shallow, REUSED, depth="any")) == {"inputs"}
    assert verdicts(compare(shallow, REUSED, depth=2)) == {"inputs"}
    deep = hierarchy([4, 5, 5, 4], REUSED_MODULES, [(0, 1), (0, 2)])
    assert compare(deep, REUSED, depth="any").whole
    assert not compare(deep, REUSED, depth=1).whole


def overlap(modules: list[Layered]) -> set[str]:
    return verdicts(compare(hierarchy([7, 6, 4], modules, [(0, 3), (1, 3), (1, 4), (2, 4)]), OVERLAP))


OWN_F: Layered = {0: range(3)}
SHARED: Layered = {0: [3]}
OWN_H: Layered = {0: range(4, 7)}
ODD: Layered = {1: [0, 1], 2: [0, 2]}
EVEN: Layered = {1: [2, 3], 2: [1, 3]}


def test_overlapping_inputs() -> None:
    assert overlap([OWN_F, SHARED, OWN_H, ODD, EVEN]) == ALL
    assert "hidden" in overlap([{0: range(2)}, {0: [2, 3]}, OWN_H, ODD, EVEN])
    assert "inputs" not in overlap([{0: range(2)}, {0: [2, 3]}, OWN_H, ODD, EVEN])


def test_feeds_to_the_wrong_outputs() -> None:
    modules = [OWN_F, SHARED, OWN_H, ODD, EVEN]
    crossed = [(0, 4), (1, 3), (1, 4), (2, 3)]
    assert verdicts(compare(hierarchy([7, 6, 4], modules, crossed), OVERLAP)) == ALL - {"feeds"}


def test_hidden_units_outside_the_output_modules() -> None:
    assert "hidden" not in overlap([OWN_F, SHARED, OWN_H, ODD | {1: [0]}, EVEN, {1: [1]}])
    assert overlap([OWN_F | {1: [4]}, SHARED, OWN_H, ODD, EVEN]) == ALL - {"hidden"}


def test_one_output_module_is_not_two() -> None:
    merged: list[Layered] = [OWN_F, SHARED, OWN_H, {1: range(4), 2: range(4)}]
    found = compare(hierarchy([7, 6, 4], merged, [(0, 3), (1, 3), (2, 3)]), OVERLAP)
    assert verdicts(found) == {"inputs"}


F: Layered = {0: range(4), 1: [0, 1]}
H: Layered = {0: range(4, 8), 1: [2]}
LEVEL_FEEDS = [(0, 2), (1, 2), (2, 3), (2, 4)]


def test_a_middle_of_hidden_units_alone() -> None:
    modules: list[Layered] = [F, H, {2: [0]}, {3: [0], 4: [0, 2]}, {3: [1], 4: [1, 3]}]
    assert verdicts(compare(hierarchy([8, 4, 4, 4, 4], modules, LEVEL_FEEDS), LEVELS)) == ALL - {"hidden"}


def test_no_middle_and_two_middles() -> None:
    none: list[Layered] = [F, H, {2: [0], 3: [0], 4: [0, 2]}, {2: [1], 3: [1], 4: [1, 3]}]
    every_way = [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert verdicts(compare(hierarchy([8, 4, 4, 4, 4], none, every_way), LEVELS)) == {"inputs", "outputs"}
    two: list[Layered] = [F, H, {2: [0]}, {2: [1]}, {3: [0], 4: [0, 2]}, {3: [1], 4: [1, 3]}]
    both = [*every_way, (2, 4), (3, 5)]
    assert verdicts(compare(hierarchy([8, 4, 4, 4, 4], two, both), LEVELS)) == {"inputs", "outputs"}


def test_a_middle_that_is_one_with_the_outputs() -> None:
    merged = hierarchy([8, 4, 4, 4], [F, H, {2: [0, 1], 3: range(4)}], [(0, 2), (1, 2)])
    assert verdicts(compare(merged, LEVELS)) == ALL - {"hidden"}
    assert verdicts(compare(merged, LEVELS, depth="any")) == {"inputs", "intermediate"}


def test_modules_without_ends_are_told_apart_by_what_they_feed() -> None:
    """Two planted modules of hidden units alone: only one of the two pairings has the planted feeds."""
    planted = Planted(
        (
            PlantedModule("in", frozenset({0}), feeds=("one", "two")),
            PlantedModule("one", feeds=("left", "right")),
            PlantedModule("two", feeds=("right",)),
            PlantedModule("left", outputs=frozenset({0})),
            PlantedModule("right", outputs=frozenset({1})),
        )
    )
    modules: list[Layered] = [{0: [0]}, {1: [0]}, {1: [1]}, {2: [0]}, {2: [1]}]
    feeds = [(0, 1), (0, 2), (1, 4), (2, 4)]
    assert compare(hierarchy([1, 2, 2], modules, [*feeds, (2, 3)]), planted).feeds
    assert compare(hierarchy([1, 2, 2], modules, [*feeds, (1, 3)]), planted).feeds
    assert not compare(hierarchy([1, 2, 2], modules, feeds), planted).feeds


LEFT = [row * 4 + column for row in range(2) for column in (0, 1)]
RIGHT = [row * 4 + column for row in range(2) for column in (2, 3)]


def test_two_images_of_which_some_pixels_are_unused() -> None:
    planted = planted_digits("two-digits", height=2, width=2, classes=2)
    first: Layered = {0: LEFT[:2], 1: [0], 2: [0, 1]}
    second: Layered = {0: RIGHT, 1: [1], 2: [2, 3]}
    assert verdicts(compare(hierarchy([8, 3, 4], [first, second]), planted)) == ALL
    both_sides = [first | {0: [*LEFT, RIGHT[0]]}, second | {0: RIGHT[1:]}]
    assert not compare(hierarchy([8, 3, 4], both_sides), planted).inputs
    three: list[Layered] = [first, second | {0: RIGHT[1:]}, {0: RIGHT[:1]}]
    assert not compare(hierarchy([8, 3, 4], three, [(2, 1)]), planted).inputs
    blind = compare(hierarchy([8, 3, 4], [first, {1: [1], 2: [2, 3]}]), planted)
    assert verdicts(blind) == {"outputs", "hidden", "intermediate"}


def test_bits_of_two_images() -> None:
    planted = planted_digits("digit-xor", height=2, width=2)
    bits: list[Layered] = [{3: [0]}, {3: [1]}, {2: [2], 3: [2]}]
    sides: list[Layered] = [{0: LEFT, 1: [0], 2: [0]}, {0: RIGHT[1:], 1: [1], 2: [1]}]
    feeds = [(side, bit) for side in (0, 1) for bit in (2, 3, 4)]
    assert verdicts(compare(hierarchy([8, 3, 3, 3], [*sides, *bits], feeds), planted)) == ALL - {"hidden"}

    one_early: list[Layered] = [{0: range(8), 1: [0, 1], 2: [0, 1]}, *bits]
    found = compare(hierarchy([8, 3, 3, 3], one_early, [(0, 1), (0, 2), (0, 3)]), planted)
    assert (found.inputs, found.outputs, found.middle) == (False, True, False)

    between: list[Layered] = [{0: LEFT, 1: [0]}, {0: RIGHT, 1: [1]}, {2: [0, 1]}, *bits]
    found = compare(hierarchy([8, 3, 3, 3], between, [(0, 2), (1, 2), (2, 3), (2, 4), (2, 5)]), planted)
    assert (found.inputs, found.outputs, found.middle) == (True, True, False)

    merged: list[Layered] = [*sides, {2: [2], 3: [0, 1]}, {3: [2]}]
    assert not compare(hierarchy([8, 3, 3, 3], merged, feeds[:2]), planted).outputs


def test_the_two_sides_are_those_of_the_paper() -> None:
    digits, xor = planted_digits("two-digits"), planted_digits("digit-xor")
    for planted in (digits, xor):
        left, right = (module.inputs for module in planted.modules[:2])
        assert left == {row * 56 + column for row in range(28) for column in range(28)}
        assert right == set(range(1568)) - left
    assert [module.outputs for module in digits] == [set(range(10)), set(range(10, 20))]
    assert [module.outputs for module in xor] == [set(), set(), {0}, {1}, {2}]
    with pytest.raises(SpecError, match=r"unknown task on two images 'digits-xor'; did you mean 'digit-xor'"):
        planted_digits("digits-xor")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="got 28, 0 and 10"):
        planted_digits("two-digits", width=0)


def test_what_cannot_be_compared() -> None:
    found = hierarchy([4, 3, 4], [FIRST, SECOND])
    with pytest.raises(SpecError, match=r"'table'.*no planted structure"):
        compare(found, BooleanTask.from_table([[0], [1]]))
    with pytest.raises(SpecError, match="depth='full'"):
        compare(found, SEPARATE, depth="full")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="4 inputs and 4 outputs is not for a task with 8 and 4"):
        compare(found, LEVELS)
    with pytest.raises(ShapeError, match="4 and 16"):
        compare(found, boolean_task([4, 1, 2, 16]))
    with pytest.raises(ShapeError, match="4 and 2"):
        compare(found, boolean_task([4, 1, 2, 2]))


def test_printing_shows_every_property() -> None:
    match = compare(hierarchy([4, 3, 4], [FIRST, SECOND], [(0, 1)]), SEPARATE)
    yes = "inputs yes, outputs yes, hidden yes, intermediate yes, middle yes"
    assert str(match) == f"whole yes, feeds no, {yes}"


def sample_hierarchy(sample: dict[str, Any]) -> Hierarchy:
    modules: dict[int, set[Unit]] = defaultdict(set)
    clusters = []
    for layer, (units, labels) in enumerate(zip(sample["kept_units"], sample["modules"], strict=True)):
        for unit, label in zip(units, labels, strict=True):
            modules[label].add((layer, unit))
        own = sample["layer_clusters"][layer]
        clusters.append(
            tuple(
                frozenset(unit for unit, label in zip(units, own, strict=True) if label == cluster)
                for cluster in sorted(set(own))
            )
        )
    everything = {(layer, unit) for layer, size in enumerate(sample["arch"]) for unit in range(size)}
    return Hierarchy(
        connections=tuple(np.array(mask, dtype=bool) for mask in sample["masks"]),
        layers=tuple(clusters),
        modules=tuple(sorted(map(frozenset, modules.values()), key=min)),
        unused=frozenset(everything.difference(*modules.values())),
    )


@pytest.mark.skipif(not SAMPLES.exists(), reason="the authors' networks are not here")
def test_the_authors_networks() -> None:
    """One network for each task and depth: successes by family and number of hidden layers."""
    with gzip.open(SAMPLES, "rt") as lines:
        samples = [json.loads(line) for line in lines]
    trials: Counter[tuple[str, int]] = Counter()
    counts: dict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
    for sample in samples:
        *family, _ = sample["task"]
        cell = (str(family), len(sample["arch"]) - 2)
        found, task = sample_hierarchy(sample), boolean_task(sample["task"])
        trials[cell] += 1
        for name in verdicts(compare(found, task)):
            counts[name][cell] += 1
        for name in verdicts(compare(found, task, depth="any")):
            counts[f"{name} at any depth"][cell] += 1

    def by_depth(name: str, family: list[int]) -> list[int]:
        depths = sorted(depth for of, depth in trials if of == str(family))
        return [counts[name][str(family), depth] for depth in depths]

    for sure in ([4, 2], [6, 3, 3], [4, 1]):
        assert by_depth("whole", sure) == by_depth("feeds", sure) == [1, 1, 1]
    for sure in ([8, 2], [7, 3, 2]):
        assert by_depth("whole", sure) == by_depth("feeds", sure) == by_depth("hidden", sure) == [5, 5, 5]
    assert by_depth("whole", [4, 1, 2]) == [5, 5, 4]
    assert by_depth("whole at any depth", [4, 1, 2]) == [0, 5, 4]  # no reuse shows in one hidden layer
    assert by_depth("whole", [8, 2, 1, 2]) == [5, 5, 3, 5]
    assert by_depth("inputs", [8, 2, 1, 2]) == [5, 5, 5, 5]
    assert by_depth("intermediate at any depth", [8, 2, 1, 2]) == [5, 5, 5, 5]
    assert by_depth("outputs at any depth", [8, 2, 1, 2]) == [0, 0, 3, 5]
    assert by_depth("inputs", [5, 3, 2]) == [2, 2, 5]
    assert by_depth("outputs", [5, 3, 2]) == [0, 4, 5]
    assert by_depth("hidden", [5, 3, 2]) == [0, 0, 0]
    assert by_depth("inputs", [4, 1, 2, 2]) == [5, 5, 5]
    assert by_depth("hidden", [4, 1, 2, 2]) == [1, 0, 0]
    # Success of the whole never comes without these, and the feeds never without the whole.
    for parts in ("inputs", "outputs", "middle"):
        assert not counts["whole"] - counts[parts]
    assert counts["feeds"] == counts["whole"]
