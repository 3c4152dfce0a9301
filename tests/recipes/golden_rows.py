"""Golden rows: what a small unit of each kind of work gives, stored under golden/.

``python -m tests.recipes.golden_rows [WORK ...]`` stores rows anew, after the version of the work was raised.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from dovetail.engine.perform import perform
from dovetail.recipes import Unit, find_recipe
from dovetail.recipes.maxent.condition import Condition
from dovetail.recipes.works import version_of

FOLDER = Path(__file__).parent / "golden"


def golden_units() -> dict[str, Unit]:
    """Return a unit of each kind of work: one of a recipe at smoke scale, cut down to a second or two."""
    specialists = Condition("smoke", "digits", "shallow").unit
    pair = [[[0], [1]]]
    networks, foreign = _first("mlp"), _first("imagenet")
    scratch = find_recipe("cifar").units("smoke")[-1]
    forgetting = next(
        unit for unit in find_recipe("forget").units("smoke") if unit.settings["kind"] == "sums"
    )
    heads = next(unit for unit in find_recipe("trunks").units("smoke") if unit.settings["head"] == "slots")
    growing, owning = (find_recipe(name).units("smoke")[0] for name in ("growth", "owners"))
    units = [
        _changed(
            specialists, seeds=[0], rewarded=[[0], [1], [2]], pairs=pair, orders=1, method_inputs=32,
            train={**specialists.settings["train"], "epochs": 2, "round_epochs": 1},
            paths={**specialists.settings["paths"], "pairs": pair, "points": 3, "train_samples": 100},
        ),
        _changed(_first("width"), seeds=[0], epochs=2),
        _changed(_first("reuse"), seeds=[0], unit_steps=[0.5], edge_steps=[0.02]),
        _changed(
            networks, seeds=[0], samples=300, epochs=2, pruning_epochs=2,
            measures=[{**networks.settings["measures"][0], "shuffles": 3, "starts": 10}],
        ),
        _changed(foreign, measures=[{**foreign.settings["measures"][0], "shuffles": 1, "starts": 5}]),
        _changed(
            _first("modules-meet-clusters"), seeds=[0], samples=300, epochs=2, shuffles=3, copies=1, permutations=9
        ),
        _changed(
            heads, seeds=[0], unknown=[0], training={**heads.settings["training"], "epochs": 3},
        ),
        _changed(forgetting, trunk="", features=0, relearning={"samples": [20], "steps": [0, 60]}),
        _changed(scratch, training={**scratch.settings["training"], "epochs": 2}),
        _changed(growing, first=5, step=5, measured=[2], training={**growing.settings["training"], "epochs": 3}),
        _changed(owning, kind="federated", rounds=[[1, 2], [3, 1]]),
        find_recipe("ground-truth").units("smoke")[1],
        _changed(_first("zoo"), lesions=None, shuffles=5),
        _changed(_first("function"), permutations=9),
    ]  # fmt: skip
    return {unit.work: unit for unit in units}


def stored(work: str) -> dict[str, Any]:
    """Return the stored row of a work, with its version."""
    found: dict[str, Any] = json.loads(_file(work).read_text("utf-8"))
    return found


def row_now(unit: Unit) -> Any:
    """Return what a unit gives now, as JSON has it, without the seconds that it took."""
    outcome = perform(unit, "cpu")
    assert outcome.row is not None, outcome.error + outcome.trace
    return json.loads(json.dumps({name: value for name, value in outcome.row.items() if name != "seconds"}))


def _file(work: str) -> Path:
    return FOLDER / f"{work.replace('/', '-')}.json"


def _first(recipe: str) -> Unit:
    return find_recipe(recipe).units("smoke")[0]


def _changed(unit: Unit, **changes: object) -> Unit:
    return Unit(unit.work, {**unit.settings, **changes})


if __name__ == "__main__":
    for work, unit in golden_units().items():
        if work in sys.argv[1:] or not sys.argv[1:]:
            kept = {"version": version_of(work), "row": row_now(unit)}
            _file(work).write_text(json.dumps(kept) + "\n", "utf-8")
