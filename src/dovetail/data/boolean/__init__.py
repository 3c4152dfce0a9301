"""Boolean tasks: small functions with a known structure, and their truth tables as data.

A task is named by its family (``[4,2,4]``), written as formulas, or given as a truth table. Formulas become a
function graph, the graph gives the table, and the families also say which modules were planted in them, so
that a structure found in a trained network can be compared with the one that is there.
"""

from __future__ import annotations

from .graph import evaluate_graph
from .planted import Planted, PlantedModule
from .task import BooleanTask, boolean_task

__all__ = ["BooleanTask", "Planted", "PlantedModule", "boolean_task", "evaluate_graph"]
