"""A unit gives the same wherever it is done."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest
import torch

from dovetail.engine.perform import perform
from dovetail.recipes.cluster.conditions import networks_unit

from .small import small_units


def test_a_unit_keeps_to_one_thread_and_leaves_the_number_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("dovetail.threads")
    usual: Callable[[], int] = module.workers
    threads: list[int] = []

    def cores() -> int:
        threads.append(usual())
        return threads[-1]

    monkeypatch.setattr(module, "workers", cores)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert perform(small_units(1)[0], "cpu").row is not None
        assert set(threads) == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_a_unit_does_not_depend_on_how_much_memory_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = networks_unit(
        "digits", "small-cnn", seeds=[0, 1, 2], samples=200, epochs=1, pruning_epochs=1,
        measures=[{"k": 3, "shuffles": 2}],
    )  # fmt: skip
    usual = perform(unit, "cpu").row
    monkeypatch.setattr("dovetail.population.memory.free_memory", lambda device: 2**20)
    assert perform(unit, "cpu").row == usual


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("tried in vain\nand more"),
        RuntimeError("can't allocate memory: 1 TB"),
    ],
)
def test_want_of_memory_is_no_internal_error(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr("dovetail.engine.perform.find_work", full)
    reason = str(error).partition("\n")[0] or "it is full"
    assert perform(small_units(1)[0], "cpu").error == f"cpu has too little memory: {reason}"
