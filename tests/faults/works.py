"""What is killed: commands of Dovetail, a small run of a recipe, and saving without end."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

from matplotlib.figure import Figure

from dovetail import cli
from dovetail.data import load
from dovetail.engine.perform import Outcome, perform
from dovetail.recipes import FilledTable, Finished, Line, LineTable, Recipe, Unit
from dovetail.recipes.cluster.conditions import networks_unit
from dovetail.specialists import Composite, Specialist, train_specialists

from ..engine.small import wait_for
from ..specialists.helpers import make_specialist

UNITS = 3
_SHAPE = (500,)
"""Large enough for a save to take a while."""


def import_all() -> None:
    """Do a little of everything, because much is imported on first use only."""
    train_specialists(load("digits"), "mlp:8", [0], epochs=1, rounds=1, device="cpu", progress=False)
    done = perform(_units()[0], "cpu")
    assert done.row is not None, done.error
    finished = [Finished(done.unit, done.row, 0.0, "cpu")]
    small_recipe().tables("smoke", finished)[0].to_markdown()
    for _, figure in small_recipe().figures("smoke", finished):
        figure.savefig(io.BytesIO(), format="png")


def command(*arguments: str) -> None:
    """Run ``dovetail`` with arguments."""
    sys.argv = ["dovetail", *arguments]
    cli.main()


def reproduce_small(*arguments: str) -> None:
    """Run ``dovetail reproduce`` with a recipe of units that take a moment each."""
    with mock.patch("dovetail.engine.reproduction.find_recipe", return_value=small_recipe()):
        command("reproduce", "small", *arguments)


def reproduce_beside_another(told: str, *arguments: str) -> None:
    """Do the same, but no unit before another process has been refused; who is refused says so by a file."""

    def waiting(unit: Unit, device: str) -> Outcome:
        wait_for(Path(told).exists)
        return perform(unit, device)

    with mock.patch("dovetail.engine.local.perform", waiting):
        try:
            reproduce_small(*arguments)
        except SystemExit:
            Path(told).touch()
            raise


def save_without_end(folder: str) -> None:
    """Save by turns one or the other specialist in one file, and one or the other composite in another."""
    while True:
        for specialist, composite in saved_parts():
            specialist.save(Path(folder) / "specialist.safetensors")
            composite.save(Path(folder) / "composite.safetensors")


def saved_parts() -> list[tuple[Specialist, Composite]]:
    """Return what is saved by turns."""
    parts = [make_specialist((number,), "mlp:100", shape=_SHAPE) for number in range(3)]
    return [(parts[0], parts[0] + parts[1]), (parts[1], parts[1] + parts[2])]


def small_recipe() -> Recipe:
    """Return a recipe with a table and a figure that follow from what its units give."""
    lines = [Line({"seed": unit.settings["seeds"][0]}, [unit]) for unit in _units()]
    table = LineTable("Small", lines, lambda line, rows: {"row": str(rows[0])}, all_lines=False, numbers=True)
    return Recipe("small", "beyond", "A test", "Nothing", lambda scale: [table], _figures)


def _units() -> list[Unit]:
    return [
        networks_unit("digits", "mlp:8-8", seeds=[seed], epochs=1, pruning_epochs=1, measures=[{"k": 2, "shuffles": 2}])
        for seed in range(UNITS)
    ]  # fmt: skip


def _figures(filled: Sequence[FilledTable]) -> Iterator[tuple[str, Figure]]:
    figure = Figure(figsize=(1, 1))
    figure.subplots().plot([len(str(rows[0])) for _, rows in filled[0].lines])
    yield "rows", figure
