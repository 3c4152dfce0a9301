"""Sculpting: prune a network to the fewest units and edges that do its task, and read the task's modules off it.

`sculpt` is the way in: the search (`pruning`) trains stacks of networks again and again and ends in a `Sculpture`.
`detect_modules` finds the `Hierarchy` of modules in any perceptron (`modules`, drawn by `drawing`). `compare` says
whether it is the planted one; `path_products` and its neighbours look for structure without modules (`measures`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..data.boolean import Planted, PlantedModule
    from .drawing.draw import draw_hierarchy
    from .measures.separable_inputs import InputSeparability, input_separability
    from .measures.structure import path_products, units_needed
    from .measures.success import Match, compare, planted_digits
    from .modules.agglomerate import LayerClustering, SeparabilityTest
    from .modules.detect import detect_modules
    from .modules.hierarchy import Hierarchy
    from .sculpting import sculpt, sculpt_seeds
    from .sculpture import Sculpture, open_sculpture
    from .settings import DetectionSettings, SculptSettings

# Imported when first asked for: the command line reads `settings` at every start, and needs no torch for that.
_MODULES = {
    "DetectionSettings": "settings",
    "Hierarchy": "modules.hierarchy",
    "InputSeparability": "measures.separable_inputs",
    "LayerClustering": "modules.agglomerate",
    "Match": "measures.success",
    "Planted": "measures.success",
    "PlantedModule": "measures.success",
    "SculptSettings": "settings",
    "Sculpture": "sculpture",
    "SeparabilityTest": "modules.agglomerate",
    "compare": "measures.success",
    "detect_modules": "modules.detect",
    "draw_hierarchy": "drawing.draw",
    "input_separability": "measures.separable_inputs",
    "open_sculpture": "sculpture",
    "path_products": "measures.structure",
    "planted_digits": "measures.success",
    "sculpt": "sculpting",
    "sculpt_seeds": "sculpting",
    "units_needed": "measures.structure",
}

__all__ = [
    "DetectionSettings",
    "Hierarchy",
    "InputSeparability",
    "LayerClustering",
    "Match",
    "Planted",
    "PlantedModule",
    "SculptSettings",
    "Sculpture",
    "SeparabilityTest",
    "compare",
    "detect_modules",
    "draw_hierarchy",
    "input_separability",
    "open_sculpture",
    "path_products",
    "planted_digits",
    "sculpt",
    "sculpt_seeds",
    "units_needed",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'dovetail.sculpting' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
