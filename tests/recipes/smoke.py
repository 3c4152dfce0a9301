"""Run a recipe at smoke scale, in this process, as the engine does."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

from dovetail.engine.perform import perform
from dovetail.engine.run_folder import write_tables
from dovetail.recipes import Finished, Unit, find_recipe
from dovetail.recipes.unit import canonical


@cache
def _finished(unit: Unit) -> Finished:
    """Do a unit, once for all recipes that share it; what comes out goes through JSON, as in a run folder."""
    outcome = perform(unit, "cpu")
    assert outcome.row is not None, outcome.error + outcome.trace
    return Finished(unit, json.loads(canonical(outcome.row)), outcome.seconds, outcome.device)


def run_smoke(name: str) -> list[Finished]:
    """Return all units of a recipe at the small scale, finished; its tables and figures can be written."""
    recipe = find_recipe(name)
    found = [_finished(unit) for unit in recipe.units("smoke")]
    with tempfile.TemporaryDirectory() as folder:
        write_tables(Path(folder), recipe, "smoke", found)
        assert "|---|" in (Path(folder) / "table.md").read_text()
    return found
