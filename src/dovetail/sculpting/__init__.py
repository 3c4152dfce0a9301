"""Sculpting: prune a network to the fewest units and edges that do its task, and read the task's modules off it.

`sculpt` is the way in: the search (`pruning`) trains stacks of networks again and again and ends in a `Sculpture`; many
searches end in many networks, and `Consensus` is what they agree on.
`sculpture.explain` says what its units and modules compute (`explaining`).
`detect_modules` finds the `Hierarchy` of modules in any perceptron (`modules`, drawn by `drawing`). `compare` says
whether it is the planted one; `path_products` and its neighbours look for structure without modules (`measures`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from ..data.boolean import Planted, PlantedModule
    from .channels.sculpt import sculpt_channels
    from .channels.sculpture import ChannelSculpture
    from .channels.search import PruningStep
    from .consensus import Consensus
    from .drawing.draw import draw_hierarchy
    from .explaining.explain import explain
    from .explaining.explanation import Explanation, Function
    from .measures.agreement import Agreement
    from .measures.separable_inputs import InputSeparability, input_separability
    from .measures.structure import path_products, units_needed
    from .measures.success import Match, compare, planted_digits
    from .modules.agglomerate import LayerClustering, SeparabilityTest
    from .modules.detect import detect_modules
    from .modules.hierarchy import Hierarchy
    from .sculpting import sculpt, sculpt_seeds
    from .sculpture import Sculpture, open_sculpture
    from .sculptures import Sculptures
    from .search_end import SearchEnd
    from .settings import ChannelSettings, DetectionSettings, SculptSettings

__all__ = [
    "Agreement",
    "ChannelSculpture",
    "ChannelSettings",
    "Consensus",
    "DetectionSettings",
    "Explanation",
    "Function",
    "Hierarchy",
    "InputSeparability",
    "LayerClustering",
    "Match",
    "Planted",
    "PlantedModule",
    "PruningStep",
    "SculptSettings",
    "Sculpture",
    "Sculptures",
    "SearchEnd",
    "SeparabilityTest",
    "compare",
    "detect_modules",
    "draw_hierarchy",
    "explain",
    "input_separability",
    "open_sculpture",
    "path_products",
    "planted_digits",
    "sculpt",
    "sculpt_channels",
    "sculpt_seeds",
    "units_needed",
]

# The command line reads `settings` at every start, and needs no torch for that.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "channels.sculpt": ["sculpt_channels"],
        "channels.sculpture": ["ChannelSculpture"],
        "channels.search": ["PruningStep"],
        "consensus": ["Consensus"],
        "drawing.draw": ["draw_hierarchy"],
        "explaining.explain": ["explain"],
        "explaining.explanation": ["Explanation", "Function"],
        "measures.agreement": ["Agreement"],
        "measures.separable_inputs": ["InputSeparability", "input_separability"],
        "measures.structure": ["path_products", "units_needed"],
        "measures.success": ["Match", "Planted", "PlantedModule", "compare", "planted_digits"],
        "modules.agglomerate": ["LayerClustering", "SeparabilityTest"],
        "modules.detect": ["detect_modules"],
        "modules.hierarchy": ["Hierarchy"],
        "sculpting": ["sculpt", "sculpt_seeds"],
        "sculpture": ["Sculpture", "open_sculpture"],
        "sculptures": ["Sculptures"],
        "search_end": ["SearchEnd"],
        "settings": ["ChannelSettings", "DetectionSettings", "SculptSettings"],
    },
)
