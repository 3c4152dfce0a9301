"""All recipes by name. A new one is one file with a `Recipe` called ``RECIPE``, and one name here."""

from __future__ import annotations

import importlib

from ..errors import SpecError, unknown_name
from .recipe import Recipe

_NAMES = {
    "maxent": (
        "table1", "table4", "complete-merge", "connectivity", "temperature", "pruning-ratio", "confusions", "width",
    ),
    "sculpt": (
        "structure", "validation", "reuse", "overlap", "depth", "two-digits", "hierarchy", "rates",
        "clustering-choices",
    ),
    "cluster": (
        "mlp", "halves", "cnn", "vgg", "imagenet", "stack", "init", "regulariser", "random", "topology", "polynomials",
        "mixtures", "k", "random-init",
    ),
    "beyond": ("modules-meet-clusters",),
}  # fmt: skip
"""The recipes of each paper, in the order in which they are listed. Names are unique over all papers."""


def recipes() -> list[Recipe]:
    """Return all recipes.

    Examples
    --------
    >>> recipes()[1].name
    'table4'
    """
    return [_recipe(paper, name) for paper, names in _NAMES.items() for name in names]


def find_recipe(name: str) -> Recipe:
    """Return the recipe of a name, with or without its paper in front.

    Examples
    --------
    >>> find_recipe("maxent/table4") is find_recipe("table4")
    True
    """
    short = name.rpartition("/")[2]
    homes = {known: home for home, names in _NAMES.items() for known in names}
    if short not in homes:
        raise unknown_name("recipe", short, homes)
    if name not in (short, f"{homes[short]}/{short}"):
        raise SpecError(f"unknown recipe {name!r}; did you mean '{homes[short]}/{short}'?")
    return _recipe(homes[short], short)


def _recipe(paper: str, name: str) -> Recipe:
    recipe: Recipe = importlib.import_module(f".{paper}.{name.replace('-', '_')}", __package__).RECIPE
    return recipe
