"""The work of training and measuring networks."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch

import dovetail as dt
from dovetail.cluster import train_networks
from dovetail.errors import DataError, SpecError
from dovetail.recipes import find_work
from dovetail.recipes.cluster.conditions import measure_settings, networks_unit, per_seed
from dovetail.recipes.cluster.measuring import largest_part, measure
from dovetail.recipes.data import data_size, first_samples

CPU = torch.device("cpu")
WORK = find_work("cluster/networks")
QUICK: dict[str, Any] = {
    "seeds": [3, 4], "samples": 100, "epochs": 1, "pruning_epochs": 2, "batch_size": 32,
    "measures": [{"k": 4, "shuffles": 5}],
}  # fmt: skip


@pytest.mark.parametrize(
    "changes", [{"dropout": 0.2, "l1": 1e-4, "init_beta": 0.7}, {"penalty": 0.1, "l2": 1e-4}]
)
def test_a_row_is_what_training_and_measuring_give(changes: dict[str, Any]) -> None:
    row = WORK.run(networks_unit("digits", "mlp:24-24", **changes, **QUICK).settings, CPU)
    named = {"clusterability" if name == "penalty" else name: value for name, value in changes.items()}
    trained = train_networks(
        first_samples(dt.load("digits"), 100), "mlp:24-24", seeds=[3, 4], epochs=1, pruning_epochs=2,
        batch_size=32, device="cpu", progress=False, **named,
    )  # fmt: skip
    assert trained.pruned is not None
    for name, stage, networks in (
        ("unpruned", trained.unpruned, trained.networks(pruned=False)),
        ("pruned", trained.pruned, trained.networks()),
    ):
        found = [
            dt.clusterability(network, k=4, shuffles=5, stability=0, progress=False) for network in networks
        ]
        measured = row[name]["measures"][0]
        assert measured["ncut"] == pytest.approx([one.ncut for one in found], abs=1e-6)
        assert measured["dist_ncut"] == pytest.approx([one.null_mean for one in found], abs=1e-6)
        assert measured["dist_sd"] == pytest.approx([one.null_std for one in found], abs=1e-6)
        assert measured["p_value"] == pytest.approx([one.p_value for one in found], abs=1e-6)
        assert measured["z_score"] == pytest.approx([one.z_score for one in found], abs=1e-5)
        assert measured["components"] == [one.components for one in found]
        assert row[name]["test"]["accuracy"] == pytest.approx(stage.test["accuracy"].tolist(), abs=1e-6)
        assert row[name]["train"]["loss"] == pytest.approx(stage.train["loss"].tolist(), abs=1e-6)
        assert row[name]["sparsity"] == pytest.approx(stage.sparsity.tolist(), abs=1e-6)
    json.dumps(row, allow_nan=False)


def test_the_same_settings_give_the_same_row() -> None:
    settings = networks_unit("digits", "mlp:16", augment=True, **QUICK).settings
    assert WORK.run(settings, CPU) == WORK.run(settings, CPU)


def test_networks_can_be_measured_before_training() -> None:
    unit = networks_unit("digits", "mlp:24-24", stages=["initial"], init_beta=0.5, **QUICK)
    row = WORK.run(unit.settings, CPU)
    assert list(row) == ["initial"]
    assert len(row["initial"]["measures"][0]["ncut"]) == 2
    # Training takes off from the very networks that were measured: steps of no size leave them as they are.
    still = train_networks(
        first_samples(dt.load("digits"), 100), "mlp:24-24", seeds=[3, 4], epochs=1, pruning_epochs=0,
        lr=1e-12, init_beta=0.5, device="cpu", progress=False,
    )  # fmt: skip
    ncuts = [
        dt.clusterability(network, k=4, shuffles=0, progress=False).ncut
        for network in still.networks(pruned=False)
    ]
    assert row["initial"]["measures"][0]["ncut"] == pytest.approx(ncuts, abs=1e-4)


def test_stages_that_are_not_measured_are_still_scored() -> None:
    row = WORK.run(networks_unit("digits", "mlp:16", stages=["pruned"], **QUICK).settings, CPU)
    assert "measures" not in row["unpruned"]
    assert len(row["unpruned"]["test"]["accuracy"]) == 2
    assert "measures" in row["pruned"]


def test_clusters_of_the_first_network_are_kept_where_asked_for() -> None:
    row = WORK.run(networks_unit("digits", "mlp:16", stages=["pruned"], labels=True, **QUICK).settings, CPU)
    measured = row["pruned"]["measures"][0]
    assert [size for _, size in measured["layers"]] == [64, 16, 10]
    assert len(measured["labels"]) == 90
    assert set(measured["labels"]) <= {-1, 0, 1, 2, 3}


def test_regression_is_scored_by_its_loss() -> None:
    unit = networks_unit(
        "polynomials:samples=100", "mlp:16", **{**QUICK, "measures": [{"k": 2, "shuffles": 0}]}
    )
    row = WORK.run(unit.settings, CPU)
    assert "accuracy" not in row["pruned"]["test"]
    assert len(row["pruned"]["test"]["loss"]) == 2


def test_the_largest_part_is_measured_alone() -> None:
    big, island = np.random.default_rng(0).random((6, 6)) + 0.1, np.ones((2, 2))
    matrix = np.block([[big, np.zeros((6, 2))], [np.zeros((2, 6)), island]])
    graph = largest_part(dt.network_graph([matrix]))
    assert len(graph) == 16
    assert graph.blocks[0].weights[:6, :6] == pytest.approx(big)
    assert graph.blocks[0].weights.sum() == pytest.approx(big.sum())
    found = dt.clusterability(graph, k=2, shuffles=0, progress=False)
    assert found.components == 1
    assert found.ncut == pytest.approx(dt.clusterability([big], k=2, shuffles=0, progress=False).ncut)


def test_connections_below_a_number_are_left_out() -> None:
    rng = np.random.default_rng(0)
    hidden, output = rng.standard_normal((12, 9)), rng.standard_normal((4, 12))
    # What decay leaves: two inputs and a unit that hang on the others by next to nothing.
    hidden[:, :2] *= 1e-20
    hidden[5], output[:, 5] = hidden[5] * 1e-15, output[:, 5] * 1e-25
    network = torch.nn.Sequential(torch.nn.Linear(9, 12), torch.nn.ReLU(), torch.nn.Linear(12, 4)).double()
    with torch.no_grad():
        network[0].weight.copy_(torch.from_numpy(hidden))  # type: ignore[operator]
        network[2].weight.copy_(torch.from_numpy(output))  # type: ignore[operator]
    named = {**measure_settings(k=3, shuffles=4), "drop_below": 1e-12}
    (ncut,), (copies,) = (
        measure([network], torch.zeros(1, 9).double(), **named)[name] for name in ("ncut", "dist_ncut")
    )
    cleared = [np.where(np.abs(matrix) < 1e-12, 0, matrix) for matrix in (hidden, output)]
    found = dt.clusterability(cleared, k=3, shuffles=4, all_units=True, stability=0, progress=False)
    assert ncut == pytest.approx(found.ncut, abs=1e-6)
    assert copies == pytest.approx(found.null_mean, abs=1e-6)
    # Without what is left out, a unit with no other connections is in no cluster, and has no part in the copies.
    small = [np.delete(np.delete(cleared[0], [0, 1], 1), 5, 0), np.delete(cleared[1], 5, 1)]
    alone = dt.clusterability(small, k=3, shuffles=0, stability=0, progress=False)
    assert ncut == pytest.approx(alone.ncut, abs=1e-6)
    whole = measure([network], torch.zeros(1, 9).double(), **{**named, "drop_below": 0.0})
    assert whole["ncut"] != [pytest.approx(ncut, abs=1e-3)]


def test_slips_are_those_of_the_training() -> None:
    changes: dict[str, Any] = {"l2": 1e-2, "penalty": 0.1, "slips": ["l1-first-layer", "cutoff-for-mask"]}
    row = WORK.run(networks_unit("digits", "mlp:16-16", **changes, **QUICK).settings, CPU)
    trained = train_networks(
        first_samples(dt.load("digits"), 100), "mlp:16-16", seeds=[3, 4], epochs=1, pruning_epochs=2, batch_size=32,
        device="cpu", progress=False, l2=1e-2, clusterability=0.1, slips=["l1-first-layer", "cutoff-for-mask"],
    )  # fmt: skip
    assert trained.pruned is not None
    for name, stage in trained.stages():
        assert row[name]["train"]["loss"] == pytest.approx(stage.train["loss"].tolist(), abs=1e-6)
    right = WORK.run(networks_unit("digits", "mlp:16-16", **{**changes, "slips": []}, **QUICK).settings, CPU)
    assert all(right[name]["train"]["loss"] != row[name]["train"]["loss"] for name in row)


def test_options_are_named_only_where_they_are_not_the_usual() -> None:
    plain = networks_unit("mnist", "mlp:32", l2=5e-5, measures=[{"k": 4}])
    assert plain == networks_unit(
        "mnist", "mlp:32", l2=5e-5, slips=[], measures=[{"k": 4, "drop_below": 0}], before={"l2": 0}
    )
    assert "slips" not in plain.settings
    assert "drop_below" not in plain.settings["measures"][0]
    changed = networks_unit("mnist", "mlp:32", l2=5e-5, slips=["l1-first-layer"], measures=[{"k": 4}])
    assert changed.settings == {**plain.settings, "slips": ["l1-first-layer"]}
    assert "slip l1-first-layer" in changed.label


def test_units_know_what_was_otherwise_before() -> None:
    old = networks_unit("mnist", "mlp:32", seeds=[0, 1])
    new = networks_unit("lines", "mlp:32", seeds=[0, 1], l1=1e-4, before={"data": "mnist", "l1": 0})
    assert new.older_keys == [old.key]
    for one, other in zip(per_seed(new), per_seed(old), strict=True):
        assert one.older_keys == [other.key]


def test_an_unknown_part_is_refused() -> None:
    unit = networks_unit(
        "digits", "mlp:16", **{**QUICK, "measures": [{"part": "smallest", "k": 2, "shuffles": 0}]}
    )
    with pytest.raises(SpecError, match="smallest"):
        WORK.run({**unit.settings, "stages": ["initial"]}, CPU)


def test_settings_that_mean_the_same_are_the_same_unit() -> None:
    one = networks_unit("mnist", "mlp:32", seeds=range(2), l1=0, measures=[{}])
    two = networks_unit("mnist", "mlp:32", seeds=[0, 1], l1=0.0, measures=[{"k": 12}])
    assert one == two
    assert networks_unit("mnist", "mlp:32", l1=1e-5) != two


def test_misspelt_settings_are_refused() -> None:
    with pytest.raises(SpecError, match="epochs"):
        networks_unit("mnist", "mlp:32", epoch=3)
    with pytest.raises(SpecError, match="shuffles"):
        networks_unit("mnist", "mlp:32", measures=[{"shufles": 3}])


def test_a_load_counts_steps_and_clusterings() -> None:
    unit = networks_unit("mnist", "mlp:256-256-256-256")
    load = WORK.workload(unit.settings)
    assert (load.net, load.input_shape, load.outputs) == ("mlp:256-256-256-256", (1, 28, 28), 10)
    assert (load.members, load.steps, load.batch_size) == (5, 40 * 469, 128)
    assert load.core_seconds == pytest.approx(5 * 2 * 51 * 0.05)
    assert sum(WORK.workload(one.settings).core_seconds for one in per_seed(unit)) == pytest.approx(
        load.core_seconds
    )
    penalised = WORK.workload({**unit.settings, "penalty": 0.1})
    assert not penalised.net
    assert penalised.core_seconds > load.core_seconds
    assert not WORK.workload({**unit.settings, "stages": ["initial"]}).net


@pytest.mark.parametrize(
    "text",
    ["digits", "stack:base=digits,variant=same", "halves:base=digits", "polynomials:samples=100", "random:samples=50",
     "lines:train_samples=100,test_samples=20", "mnist", "mnist-7x7", "cifar10", "mixture", "halves",
     "mixture:size=both"],
)  # fmt: skip
def test_sizes_are_those_of_the_data(text: str) -> None:
    try:
        data = dt.load(text)
    except DataError:
        pytest.skip(f"the files of {text} are not here")
    size = data_size(text)
    assert (size.input_shape, size.outputs) == (data.input_shape, data.outputs)
    assert size.samples == len(data.train) + len(data.val)
