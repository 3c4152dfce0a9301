"""The papers' tables and figures as something one can run, and what they published.

A `Recipe` says what varies (`units`), how results are put beside the published ones (`tables`) and how they are drawn
(`figures`). A `Unit` names a kind of work, found in `works`, and its settings; doing units is the engine's business.
One folder for each paper, one file for each recipe.
"""

from __future__ import annotations

from .published_values import published, read_published
from .recipe import PAPERS, Recipe
from .registry import find_recipe, recipes
from .tables import Cell, Comparison, Quantity, Table
from .unit import Finished, Unit
from .works import Work, Workload, find_work

__all__ = [
    "PAPERS",
    "Cell",
    "Comparison",
    "Finished",
    "Quantity",
    "Recipe",
    "Table",
    "Unit",
    "Work",
    "Workload",
    "find_recipe",
    "find_work",
    "published",
    "read_published",
    "recipes",
]
