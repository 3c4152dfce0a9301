"""Run a recipe in small, in this process."""

from __future__ import annotations

from functools import cache

import torch

from dovetail.recipes import Finished, Unit, find_recipe, find_work


@cache
def _row(unit: Unit) -> Finished:
    """Do a unit, once for all recipes that share it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        row = find_work(unit.work).run(unit.settings, torch.device("cpu"))
    finally:
        torch.set_num_threads(threads)
    return Finished(unit, row, 0.0, "cpu")


def run_smoke(name: str) -> list[Finished]:
    """Return all units of a recipe at the small scale, finished."""
    return [_row(unit) for unit in find_recipe(name).units("smoke")]
