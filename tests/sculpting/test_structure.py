from __future__ import annotations

import math
import warnings
from itertools import combinations, product

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import nn

from dovetail.data.boolean import BooleanTask, Planted, PlantedModule, boolean_task
from dovetail.errors import DataError, DovetailError, ShapeError, SpecError
from dovetail.nets import build_net
from dovetail.sculpting.measures.separable_inputs import input_separability
from dovetail.sculpting.measures.structure import path_products, units_needed

Matrix = NDArray[np.float64]

HALVES = [({0, 1}, {0, 1}), ({2, 3}, {2, 3})]


def random_weights(sizes: list[int], seed: int, density: float = 1.0) -> list[Matrix]:
    rng = np.random.default_rng(seed)
    shapes = list(zip(sizes[1:], sizes[:-1], strict=True))
    return [rng.normal(size=shape) * (rng.random(shape) < density) for shape in shapes]


def strength_by_enumeration(weights: list[Matrix], start: int, end: int) -> float:
    """Sum over every path from unit `start` of the first layer to unit `end` of the last."""
    inner = [range(len(weight)) for weight in weights[:-1]]
    total = 0.0
    for middle in product(*inner):
        path = [start, *middle, end]
        total += math.prod(abs(w[path[i + 1], path[i]]) for i, w in enumerate(weights))
    return total


@pytest.mark.parametrize("density", [1.0, 0.4])
@pytest.mark.parametrize("sizes", [[3, 2], [4, 3, 2], [3, 4, 2, 3], [2, 3, 3, 2, 2]])
def test_path_products_are_sums_over_all_paths(sizes: list[int], density: float) -> None:
    weights = random_weights(sizes, seed=sum(sizes), density=density)
    found = path_products(weights)
    assert found.shape == (sizes[-1], sizes[0])
    assert found.dtype == np.float64
    for i, j in product(range(sizes[0]), range(sizes[-1])):
        assert found[j, i] == pytest.approx(strength_by_enumeration(weights, i, j))


def test_networks_tensors_and_arrays_give_the_same() -> None:
    net = build_net("mlp:5-3,dropout=0", (4,), 2)
    tensors = [parameter for parameter in net.parameters() if parameter.dim() == 2]
    arrays = [tensor.detach().double().numpy() for tensor in tensors]
    assert path_products(net).tolist() == path_products(arrays).tolist() == path_products(tensors).tolist()
    assert units_needed(net).tolist() == units_needed(arrays).tolist()
    assert path_products([torch.ones(2, 2, dtype=torch.bool)]).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("network", "problem"),
    [
        ([], "there is no weight matrix"),
        ([np.ones((3, 2)), np.ones((3, 2))], "reads 2 units, but"),
        ([np.ones(3)], "has shape 3;"),
        (nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2)), "'0' is a convolution"),
    ],
)
def test_what_is_no_chain_of_dense_layers(network: nn.Module | list[Matrix], problem: str) -> None:
    with pytest.raises(DovetailError, match=problem):
        path_products(network)


def test_weights_beyond_numbers() -> None:
    with pytest.raises(DataError, match="'layer2' has 1 weights that are not finite"):
        path_products([np.ones((2, 2)), np.array([[1.0, np.nan]])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match="exceed float64"):
            path_products([np.full((2, 2), 1e300), np.full((2, 2), 1e300)])


def fewest_by_search(carried: list[float], share: float) -> int:
    for count in range(len(carried) + 1):
        if any(sum(chosen) >= share * sum(carried) for chosen in combinations(carried, count)):
            return count
    raise AssertionError("all units together carry everything")


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("seed", range(4))
def test_units_needed_are_the_fewest(seed: int, share: float) -> None:
    weights = random_weights([3, 6, 5, 4], seed, density=0.6)
    expected = []
    for layer in (1, 2):
        later = weights[layer:]
        carried = [
            sum(strength_by_enumeration(later, unit, output) for output in range(4))
            for unit in range(later[0].shape[1])
        ]
        expected.append(fewest_by_search(carried, share))
    assert units_needed(weights, share).tolist() == expected


def test_units_needed_at_the_edges() -> None:
    into = np.ones((10, 1))
    assert units_needed([into, np.full((1, 10), 0.7)], 0.9).tolist() == [9]
    assert units_needed([into, np.full((1, 10), 0.7)], 0.8).tolist() == [8]  # rounding alone would make it 9
    assert units_needed([into, np.eye(1, 10)], 1).tolist() == [1]
    assert units_needed([into, np.zeros((1, 10))]).tolist() == [0]
    assert units_needed([into]).tolist() == []
    for share in (0, 1.1, 90):
        with pytest.raises(SpecError, match=f"got {share}"):
            units_needed([into, into.T], share)


@pytest.mark.parametrize("density", [1.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_the_test_is_welchs(seed: int, density: float) -> None:
    weights = random_weights([4, 7, 6, 4], seed, density)
    products = path_products(weights)
    for test, inputs in zip(input_separability(weights, HALVES), ([0, 1], [2, 3]), strict=True):
        own = products[np.ix_(inputs, inputs)].ravel()
        other = products[np.ix_([2, 3] if 0 in inputs else [0, 1], inputs)].ravel()
        expected = stats.ttest_ind(other, own, equal_var=False, alternative="less")
        assert test.t == pytest.approx(float(expected.statistic))
        assert test.p_value == pytest.approx(float(expected.pvalue))
        assert (test.own, test.other) == pytest.approx((own.mean(), other.mean()))
        assert test.rejected == (expected.pvalue < 0.05)


def test_rejected_means_every_group() -> None:
    rng = np.random.default_rng(0)
    own, other = 1 + rng.random((2, 2)), 0.1 * rng.random((2, 2))
    both = input_separability([np.block([[own, other], [other, own]])], HALVES)
    assert [test.rejected for test in both] == [True, True]
    assert both.rejected
    one = input_separability([np.block([[own, own[::-1]], [other, own]])], HALVES)
    assert [test.rejected for test in one] == [True, False]
    assert not one.rejected
    assert not input_separability([np.block([[own, other], [other, own]])], HALVES, alpha=1e-6).rejected


@pytest.mark.parametrize(
    ("own", "other", "t", "p_value"),
    [
        ([0.3, 0.3], [0.0, 0.0], -math.inf, 0.0),
        ([0.0, 0.0], [0.3, 0.3], math.inf, 1.0),
        ([0.0, 0.0], [0.0, 0.0], 0.0, 0.5),
        ([0.1 + 0.2, 0.3], [0.3, 0.3], 0.0, 0.5),  # equal up to rounding
        ([2e-200, 3e-200], [0.0, 0.0], -5.0, None),  # squares would be 0
        ([2.0, 3.0], [0.0, 0.0], -5.0, None),
        ([0.3, 0.3], [0.1, 0.2], -3.0, None),
    ],
)
def test_samples_without_spread(
    own: list[float], other: list[float], t: float, p_value: float | None
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (test,) = input_separability([[own, other]], [({0, 1}, {0})])
    # Where one sample has no spread, the other alone gives the one degree of freedom.
    expected = float(stats.t.cdf(t, 1)) if p_value is None else p_value
    assert (test.t, test.p_value) == pytest.approx((t, expected))


def test_groups_of_a_planted_structure() -> None:
    weights = random_weights([6, 5, 3], seed=0)
    found = input_separability(weights, boolean_task([6, 3, 3, 3]))
    assert [(test.inputs, test.outputs) for test in found] == [
        ((0, 1), (0, 1)),
        ((2, 3), (0, 2)),
        ((4, 5), (1, 2)),
    ]
    # The shared inputs of [7,3,2,m] are used by every output, so only the other six are tested.
    weights = random_weights([7, 5, 4], seed=0)
    found = input_separability(weights, boolean_task([7, 3, 2, 4]))
    assert [(test.inputs, test.outputs) for test in found] == [((0, 1, 2), (0, 2)), ((4, 5, 6), (1, 3))]


def test_outputs_are_reached_through_modules_between() -> None:
    chain = (
        PlantedModule("in", frozenset({0, 1}), feeds=("between",)),
        PlantedModule("between", feeds=("out",)),
        PlantedModule("out", outputs=frozenset({1})),
        PlantedModule("rest", frozenset({2, 3}), frozenset({0})),
    )
    found = input_separability(random_weights([4, 3, 2], seed=0), Planted(chain))
    assert [(test.inputs, test.outputs) for test in found] == [((0, 1), (1,)), ((2, 3), (0,))]


def test_groups_that_cannot_be_tested() -> None:
    weights = random_weights([4, 5, 4], seed=0)
    with pytest.raises(SpecError, match="leads to all outputs"):
        input_separability(weights, boolean_task([4, 1, 4]))
    with pytest.raises(SpecError, match="'table' has no planted structure"):
        input_separability(weights, BooleanTask.from_table([[0], [1]]))
    with pytest.raises(SpecError, match="no groups"):
        input_separability(weights, [])
    with pytest.raises(DataError, match="8 path products, and 0"):
        input_separability(weights, [({0, 1}, {0, 1, 2, 3})])
    with pytest.raises(DataError, match="1 path products, and 3"):
        input_separability(weights, [({0}, {0})])
    with pytest.raises(ShapeError, match=r"inputs \[0, 4\]: the network's inputs are 0 to 3"):
        input_separability(weights, [({0, 4}, {0})])
    with pytest.raises(ShapeError, match=r"outputs \[-1\]"):
        input_separability(weights, [({0, 1}, {-1})])
    with pytest.raises(SpecError, match="alpha"):
        input_separability(weights, HALVES, alpha=5)


def test_printing_says_what_was_tested() -> None:
    found = input_separability([[[2, 3], [0, 0]]], [({0, 1}, {0})])
    text = "inputs [0, 1]: own outputs 2.5, others 0, t = -5.00, p = 0.063; equal: not rejected"
    assert str(found) == text
