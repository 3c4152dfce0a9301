"""Sculpting: prune a network to the fewest units and edges that do its task, and read the task's modules off it.

`sculpt` is the way in: the search (`grid`, `search`, `proposals`) trains stacks of networks with
`dovetail.population.drill` and makes a `Statue`. `detect_modules` finds the `Hierarchy` of modules in any perceptron.
`compare` says whether it is the planted one; `path_products` and its neighbours test structure without modules.
"""

from __future__ import annotations

from .detect import detect_modules
from .digit_structures import planted_digits
from .hierarchy import Hierarchy
from .sculpt import sculpt, sculpt_seeds
from .statue import Statue
from .success import Match, compare

__all__ = [
    "Hierarchy",
    "Match",
    "Statue",
    "compare",
    "detect_modules",
    "planted_digits",
    "sculpt",
    "sculpt_seeds",
]
