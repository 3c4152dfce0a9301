"""Units of a second or less, and a recipe of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from dovetail.engine import Outcome
from dovetail.recipes import Line, LineTable, Recipe, Unit
from dovetail.recipes.cluster.conditions import networks_unit


def small_units(count: int, epochs: int = 1) -> list[Unit]:
    return [
        networks_unit(
            "digits",
            "mlp:8-8",
            seeds=[seed],
            epochs=epochs,
            pruning_epochs=1,
            measures=[{"k": 3, "shuffles": 3}],
        )
        for seed in range(count)
    ]


def small_recipe(count: int = 4, epochs: int = 1) -> Recipe:
    lines = [Line({"seed": unit.settings["seeds"][0]}, [unit]) for unit in small_units(count, epochs)]
    table = LineTable("Small", lines, lambda line, rows: {"done": True}, all_lines=False, numbers=True)
    return Recipe("small", "beyond", "A test", "Nothing", lambda scale: [table])


class CountingEngine:
    """Does nothing, in order, and remembers what it was asked; stops the program after some units if told to."""

    def __init__(
        self, stop_after: int | None = None, fail: str = "", fails: int = 99, trace: str = ""
    ) -> None:
        self.places: Sequence[str] = ("cpu",)
        self.asked: list[Unit] = []
        self._trace = trace
        self._fails = fails
        self._stop_after = stop_after
        self._fail = fail

    def run(self, units: Sequence[Unit]) -> Iterator[Outcome]:
        for number, unit in enumerate(units):
            if number == self._stop_after:
                raise KeyboardInterrupt
            self.asked.append(unit)
            if self._fail and number < self._fails:
                yield Outcome(unit, error=self._fail, trace=self._trace)
            else:
                yield Outcome(unit, {"seed": unit.settings["seeds"][0]}, 0.5, "cpu")


def wait_for(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
