"""The work of Neural Sculpting's recipes: what is written down about sculpted networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import dovetail as dt
from dovetail.recipes import find_work
from dovetail.recipes.sculpt.digits import crossing
from dovetail.recipes.sculpt.settings import boolean_trials, pair_trials
from dovetail.recipes.sculpt.tasks import load_task, task_size
from dovetail.recipes.sculpt.trials import WORK
from dovetail.recipes.unit import canonical
from dovetail.sculpting import compare, path_products, sculpt_seeds

TINY = {"seeds": [3], "unit_steps": [0.5], "edge_steps": [0.05]}
CPU = torch.device("cpu")


def _run(**changes: Any) -> dict[str, Any]:
    return WORK.run(boolean_trials("smoke", [4, 2, 4], 8, 1, **TINY | changes).settings, CPU)


@pytest.fixture(scope="module")
def row() -> dict[str, Any]:
    return _run()


def test_a_row_says_what_the_network_shows(row: dict[str, Any]) -> None:
    (sculpture,) = sculpt_seeds(
        [4, 2, 4], [8], [3], unit_steps=[0.5], edge_steps=[0.05], progress=False, device="cpu"
    )
    (trial,) = row["trials"]
    assert (trial["edges"], trial["units"], trial["tied"]) == (
        sculpture.edges,
        list(sculpture.units),
        sculpture.tied,
    )
    assert trial["cell"] == [0.5, 0.05]
    for entry, depth in (("at_depth", None), ("full", "any")):
        match = compare(sculpture.hierarchy, [4, 2, 4], depth=depth)  # type: ignore[arg-type]
        assert all(trial[entry][name] == getattr(match, name) for name in trial[entry])
    assert dt.Hierarchy.from_json(row["example"]["hierarchy"]) == sculpture.hierarchy
    assert np.allclose(row["example"]["products"], path_products(sculpture.network), rtol=1e-4)
    assert trial["choices"]["average cosine modularity"] == trial["at_depth"]["whole"]


def test_rows_are_json_and_the_same_again(row: dict[str, Any]) -> None:
    assert canonical(row) == canonical(_run())


def test_a_network_that_does_not_learn_shows_nothing() -> None:
    row = _run(epochs=1, lr=1e-6)
    (trial,) = row["trials"]
    assert (trial["outcome"], row["learned"]) == ("not learned", 0)
    assert not any([*trial["at_depth"].values(), *trial["full"].values(), *trial["choices"].values()])
    assert row["example"]["hierarchy"] is None
    canonical(row)


def test_networks_train_as_long_as_all_dense_ones_need() -> None:
    row = _run(epochs=[1, 60, 120], choices=None)
    assert row["epochs"] == 60
    assert row["trials"] == _run(epochs=60, choices=None)["trials"]


def test_nothing_is_sculpted_where_the_most_epochs_are_too_few() -> None:
    assert _run(epochs=[1, 2]) == {
        "epochs": None,
        "learned": 0,
        "trials": [],
        "consensus": None,
        "example": None,
    }


def test_dense_networks_are_tested_for_structure_too() -> None:
    (trial,) = _run(unit_steps=[], edge_steps=[], choices=None)["trials"]
    assert trial["outcome"] == "unpruned"
    assert trial["edges"] == 4 * 8 + 8 * 4
    assert len(trial["separability"]["p"]) == 2
    assert trial["needed"][0] > 4


def test_crossing_is_what_path_products_say() -> None:
    unit = pair_trials(
        "smoke", "two-digits", 8, 1, threshold=0.5, unit_steps=[], edge_steps=[], seeds=[0], epochs=1
    )
    row = find_work(unit.work).run(unit.settings, CPU)
    task, _ = load_task(unit.settings["task"])
    (sculpture,) = sculpt_seeds(
        task, [8], [0], threshold=0.5, epochs=1, unit_steps=[], edge_steps=[], progress=False, device="cpu"
    )
    products = path_products(sculpture.network)
    left = np.arange(128) % 16 < 8
    across = products[:10, ~left].sum() + products[10:, left].sum()
    assert crossing(row["trials"][0]) == pytest.approx(across / products.sum(), rel=1e-4)


def test_sizes_of_tasks_are_known_without_their_samples() -> None:
    for unit in (
        boolean_trials("paper", [8, 2, 1, 2, 12], 36, 3),
        pair_trials("smoke", "two-digits", 24, 1, threshold=0.9),
        pair_trials("smoke", "digit-xor", 24, 1, threshold=0.9),
    ):
        task, planted = load_task(unit.settings["task"])
        size = task_size(unit.settings["task"])
        x, y = (task.x, task.y) if isinstance(task, dt.BooleanTask) else (task.train.x, task.train.y)
        assert size == (x[0].numel(), y.shape[1], len(x))
        assert len(planted) > 1
