"""The structure planted in a task: its modules and how they feed one another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import SpecError

if TYPE_CHECKING:
    import networkx as nx  # slow to import, and most data needs none


@dataclass(frozen=True)
class PlantedModule:
    """A sub-function of a task that should show as one module of a network.

    Attributes
    ----------
    name : str
        What other modules call it.
    inputs, outputs : frozenset of int
        The input and output units that belong to it, counted from 0. A module may have neither.
    feeds : tuple of str
        Names of the modules that use its result.

    Examples
    --------
    >>> print(PlantedModule("a", inputs=frozenset({0, 1}), feeds=("y1", "y2")))
    a {x1, x2} -> y1, y2
    """

    name: str
    inputs: frozenset[int] = frozenset()
    outputs: frozenset[int] = frozenset()
    feeds: tuple[str, ...] = ()

    def __str__(self) -> str:
        units = [f"x{unit + 1}" for unit in sorted(self.inputs)] + [
            f"y{unit + 1}" for unit in sorted(self.outputs)
        ]
        feeds = f" -> {', '.join(self.feeds)}" if self.feeds else ""
        return f"{self.name} {{{', '.join(units)}}}{feeds}"


@dataclass(frozen=True)
class Planted:
    """The modules of a task, and what is left of them in networks with few hidden layers.

    Attributes
    ----------
    modules : tuple of PlantedModule
        No unit is in two of them.
    hidden_layers : int
        The fewest hidden layers in which this structure can show.
    shallower : Planted or None
        What shows with fewer; None where the structure is the same at every depth.

    Examples
    --------
    >>> from dovetail.data.boolean import boolean_task
    >>> planted = boolean_task([4, 1, 2, 2]).planted
    >>> [str(module) for module in planted]
    ['g {x1, x2, x3, x4} -> odd, even', 'odd {y1}', 'even {y2}']
    >>> [str(module) for module in planted.for_depth(1)]
    ['all {x1, x2, x3, x4, y1, y2}']
    """

    modules: tuple[PlantedModule, ...]
    hidden_layers: int = 0
    shallower: Planted | None = None

    def __post_init__(self) -> None:
        names = [module.name for module in self.modules]
        if len(set(names)) < len(names):
            raise SpecError(f"planted modules need different names, not {names}")
        for module in self.modules:
            for fed in module.feeds:
                if fed not in names:
                    raise SpecError(f"planted module {module.name!r} feeds {fed!r}, which is none of {names}")
        for units in ([m.inputs for m in self.modules], [m.outputs for m in self.modules]):
            if sum(map(len, units)) > len(frozenset().union(*units)):
                raise SpecError(f"planted modules {names} share a unit; each unit belongs to one module")

    def __len__(self) -> int:
        return len(self.modules)

    def __iter__(self) -> Iterator[PlantedModule]:
        return iter(self.modules)

    def for_depth(self, hidden_layers: int) -> Planted:
        """Return the structure that a network with this many hidden layers can show."""
        if hidden_layers < 0:
            raise SpecError(f"a network has 0 or more hidden layers, not {hidden_layers}")
        if self.shallower is None or hidden_layers >= self.hidden_layers:
            return self
        return self.shallower.for_depth(hidden_layers)

    def to_networkx(self) -> nx.DiGraph[str]:
        """Return the modules as nodes with ``inputs`` and ``outputs``, and an edge to each module fed."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        for module in self.modules:
            graph.add_node(module.name, inputs=sorted(module.inputs), outputs=sorted(module.outputs))
        graph.add_edges_from((module.name, fed) for module in self.modules for fed in module.feeds)
        return graph
