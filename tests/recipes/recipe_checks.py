"""What every recipe must keep to, as functions for the tests of single recipes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from dovetail.recipes import Finished, Unit, find_recipe, published, read_published
from dovetail.recipes.recipe import Scale
from dovetail.recipes.unit import canonical


def check_units(name: str, *, paper: int, smoke: int) -> None:
    """Units are unique, their settings are as JSON has them, and there are as many as expected."""
    recipe = find_recipe(name)
    for units, count in ((recipe.units("paper"), paper), (recipe.units("smoke"), smoke)):
        assert len(set(units)) == len(units) == count
        for unit in units:
            assert json.loads(canonical(unit.settings)) == unit.settings


def check_published(name: str, tables: Collection[str], finished: Sequence[Finished]) -> None:
    """Every published value of some tables of the Clusterability paper stands in the recipe's tables, and no other."""
    cells = [cell for table in find_recipe(name).tables("paper", finished) for cell in table.cells]  # type: ignore[union-attr]
    shown = Counter(cell.published for cell in cells if cell.published is not None)
    printed = [row for row in read_published("clusterability_tables") if row["table"] in tables]
    assert shown == Counter(published("clusterability_tables", **row) for row in printed)


def check_any_part(name: str, made_up: Callable[[Unit], Finished], *, figures: Sequence[str]) -> None:
    """Tables and figures are made of all units, of one, and of none."""
    recipe = find_recipe(name)
    scales: tuple[Scale, ...] = ("paper", "smoke")
    for scale in scales:
        assert not recipe.tables(scale, [])
        assert not list(recipe.figures(scale, []))
        units = recipe.units(scale)
        for some in (units[:1], units):
            finished = [made_up(unit) for unit in some]
            assert all(len(table.wide()) for table in recipe.tables(scale, finished))
            assert [title for title, _ in recipe.figures(scale, finished)] == list(figures)
        assert all(table.frame["ours"].notna().all() for table in recipe.tables(scale, finished))
