"""The registry of recipes: all by name, and where each is declared.

A new one is a `Recipe` among the ``RECIPES`` of a file, and a name here.
"""

from __future__ import annotations

import importlib

from ..errors import SpecError, unknown_name
from .recipe import Recipe

_HOMES = {
    "maxent": {
        "table1": "alone_and_pairs", "table4": "alone_and_pairs", "complete-merge": "merges",
        "connectivity": "connectivity", "temperature": "merges", "pruning-ratio": "merges", "confusions": "confusions",
        "width": "width", "input-shift": "input_shift", "as-programmed": "as_programmed",
    },
    "sculpt": {
        "structure": "structure", "validation": "boolean", "reuse": "boolean", "overlap": "boolean", "depth": "boolean",
        "two-digits": "digits", "hierarchy": "digits", "rates": "rates", "clustering-choices": "clustering_choices",
    },
    "cluster": {
        "mlp": "dense", "halves": "dense", "cnn": "convolutional", "vgg": "convolutional", "imagenet": "imagenet",
        "stack": "convolutional", "init": "promoted", "regulariser": "promoted", "random": "dense",
        "topology": "topology", "polynomials": "dense", "mixtures": "dense", "k": "dense",
        "random-init": "random_init",
    },
    "beyond": {
        "modules-meet-clusters": "modules_meet_clusters", "stability": "stability", "trunks": "trunks",
        "cifar": "cifar", "growth": "growth", "owners": "owners", "forget": "forget",
        "ground-truth": "ground_truth", "zoo": "zoo", "function": "function",
    },
}  # fmt: skip
"""The recipes of each paper as they are listed, and their files. Names are unique over all papers."""


def recipes() -> list[Recipe]:
    """Return all recipes.

    Examples
    --------
    >>> recipes()[1].name
    'table4'
    """
    return [_recipe(paper, name) for paper, names in _HOMES.items() for name in names]


def find_recipe(name: str) -> Recipe:
    """Return the recipe of a name, with or without its paper in front.

    Examples
    --------
    >>> find_recipe("maxent/table4") is find_recipe("table4")
    True
    """
    short = name.rpartition("/")[2]
    papers = {known: paper for paper, names in _HOMES.items() for known in names}
    if short not in papers:
        raise unknown_name("recipe", short, papers)
    if name not in (short, f"{papers[short]}/{short}"):
        raise SpecError(f"unknown recipe {name!r}; did you mean '{papers[short]}/{short}'?")
    return _recipe(papers[short], short)


def _recipe(paper: str, name: str) -> Recipe:
    home = importlib.import_module(f".{paper}.{_HOMES[paper][name]}", __package__)
    found: dict[str, Recipe] = {recipe.name: recipe for recipe in home.RECIPES}
    return found[name]
