"""Numbers in remarks: those that the tables have."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dovetail.recipes import Cell, find_recipe
from dovetail.recipes.tables import Quantity

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "results").glob("*/remarks.in.md"))


def _module(name: str) -> ModuleType:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "docs"))


numbers = _module("remark_numbers")

CELLS = [
    Cell({"use": 1, "layers": 2}, "success", Quantity(5, of=12), Quantity(7, of=12)),
    Cell({"use": 8, "layers": 2}, "success", Quantity(1, of=12), Quantity(12, of=12)),
    Cell({"use": 8, "layers": 2}, "accuracy", Quantity(0.9014, 0.01), Quantity(0.95, 0.03)),
    Cell({"use": 1, "layers": 2}, "accuracy", Quantity(0.5, 0.01), Quantity(0.95, 0.03)),
    Cell({"use": 1, "layers": 3}, "accuracy", Quantity(0.5), Quantity(0.95, 0.03, doubt=True)),
    Cell({"use": 2, "layers": 3}, "accuracy", Quantity(0.5), Quantity(0.95)),
    Cell({"use": 2, "layers": 4}, "few", Quantity(0, of=4), Quantity(1, of=1)),  # so few that nothing differs
    Cell({"use": 3, "layers": 4}, "few", Quantity(4, of=4), Quantity(1, of=1)),
]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{success: use=1}}", "5 of 12"),
        ("{{published success: use=8}}", "12 of 12"),
        ("{{each success: layers=2}} ({{each published success: layers=2}})", "5 and 1 (7 and 12)"),
        ("{{total success: layers=2}}", "6 of 24"),
        ("{{accuracy: use=8}}", ".901"),
        ("{{total accuracy: layers=2}}", ".701"),
        ("{{agreeing}}, {{agreeing accuracy}}", "2 of 4, 1 of 2"),
        ("{{each few}}", "0 and 4"),
    ],
)
def test_numbers_are_read_from_cells(source: str, text: str) -> None:
    assert numbers.filled_in(f"It is {source}.", CELLS) == f"It is {text}."


@pytest.mark.parametrize("source", ["{{success}}", "{{success: use=3}}", "{{sucess: use=1}}"])
def test_numbers_that_are_not_there_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"is in . cells"):
        numbers.filled_in(source, CELLS)


@pytest.mark.parametrize("source", SOURCES, ids=[path.parent.name for path in SOURCES])
def test_remarks_say_what_the_tables_say(source: Path) -> None:
    page = _module("results_page")
    written = (source.parent / "remarks.md").read_text(encoding="utf-8")
    assert written == page.remarks_of(find_recipe(source.parent.name)), "run: make results"
