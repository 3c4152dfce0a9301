"""Recipes by name, with or without their paper in front."""

from __future__ import annotations

import pytest

from dovetail.errors import SpecError
from dovetail.recipes import find_recipe, recipes


def test_names_are_unique_and_found_with_or_without_the_paper() -> None:
    names = [recipe.name for recipe in recipes()]
    assert len(set(names)) == len(names)
    for recipe in recipes():
        assert find_recipe(recipe.name) is find_recipe(f"{recipe.paper}/{recipe.name}") is recipe


@pytest.mark.parametrize("wrong", ["tabel4", "maxent/tabel4", "papers/tabel4"])
def test_a_wrong_name_is_answered_with_the_nearest(wrong: str) -> None:
    with pytest.raises(SpecError, match="unknown recipe 'tabel4'; did you mean 'table4'"):
        find_recipe(wrong)


def test_a_wrong_paper_is_told_from_a_wrong_name() -> None:
    with pytest.raises(SpecError, match="unknown recipe 'maxent/random'; did you mean 'cluster/random'"):
        find_recipe("maxent/random")
