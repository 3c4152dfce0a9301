"""The papers' tables and figures as something one can run, and what they published.

A `Recipe` is declared: lines with what is published for them, columns, a note and a chart; units, tables and figures
follow. A `Unit` names a kind of work, found in `works`, and its settings; doing units is the engine's business.
One folder for each paper: a file for each kind of work, and recipes by theme, which `registry` lists.
"""

from __future__ import annotations

from .line import FilledTable, Line, LineTable
from .published_values import published, read_published
from .recipe import PAPERS, Recipe
from .registry import find_recipe, recipes
from .tables import Cell, Comparison, Quantity, Table
from .unit import Finished, Unit, finished_units
from .works import Work, Workload, find_work

__all__ = [
    "PAPERS",
    "Cell",
    "Comparison",
    "FilledTable",
    "Finished",
    "Line",
    "LineTable",
    "Quantity",
    "Recipe",
    "Table",
    "Unit",
    "Work",
    "Workload",
    "find_recipe",
    "find_work",
    "finished_units",
    "published",
    "read_published",
    "recipes",
]
