"""The modules found in a network, how they feed one another, and how they were found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ...errors import SpecError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Unit = tuple[int, int]
"""A unit of a network: (layer, place in it), both from 0; layer 0 is the inputs."""

NO_MODULE = -1


@dataclass(frozen=True)
class LayerClustering:
    """How the units of one layer were put into clusters.

    Attributes
    ----------
    metric : dict of int to float
        The score of every number of clusters that was tried.
    chosen : int
        The number of clusters in the end.
    best : int or None
        The number with the best score, before the separability tests; None when none was tried.
    tests : tuple of SeparabilityTest
        The tests that were run, and what they said; empty when none was.
    tied : bool
        Whether distances were equal where it mattered, so that the numbering of units may have decided. In layers
        with very many equal distances this was tried with a few other orders, not with all.
    score : str
        What `metric` holds: the modularity metric, where less is better, or another of `detect_modules`.
    """

    metric: dict[int, float]
    chosen: int
    best: int | None = None
    tests: tuple[SeparabilityTest, ...] = ()
    tied: bool = False
    score: str = "modularity"


@dataclass(frozen=True)
class SeparabilityTest:
    """One of the two tests for the ends of the scale: every unit apart, or all together.

    Attributes
    ----------
    kind : {"separate", "single"}
        What it tests for.
    positive : bool
        Whether it found that.
    shared, expected : float
        Later units that the two (groups of) units both reach, and how many chance would give.
    score : float
        By how much, in standard deviations of chance (not divided where that is 0).
    """

    kind: str
    positive: bool
    shared: float
    expected: float
    score: float


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """Clusters of units layer by layer, and the modules they make across layers.

    Modules are numbered from 0, as in `modules`. Hierarchies with the same content are equal.

    Attributes
    ----------
    connections : tuple of array
        Which edges there are between one layer and the next, ``[units, units before]``, bool.
    layers : tuple of tuple of frozenset of int
        For each layer from the inputs to the outputs its clusters, as sets of unit numbers.
    modules : tuple of frozenset of (int, int)
        The modules, as sets of (layer, unit), ordered by their first unit.
    unused : frozenset of (int, int)
        Units without a path from an input or to an output; they are in no cluster and no module.
    clusterings : tuple of LayerClustering
        How each layer was clustered.

    Examples
    --------
    >>> from dovetail.sculpting.modules.detect import detect_modules
    >>> halves = np.kron(np.eye(2), np.ones((2, 2)))  # two hidden units for x1 and x2, two for x3 and x4
    >>> found = detect_modules([halves, [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]])
    >>> found
    Hierarchy(4-4-3, 3 modules)
    >>> found.layers[1] == (frozenset({0, 1}), frozenset({2, 3})), found.modules[2] == {(2, 2)}
    (True, True)
    >>> found.inputs_of(0), found.outputs_of(0), found.feeds
    (frozenset({0, 1}), frozenset({0}), {(0, 2): 2, (1, 2): 2})
    """

    connections: tuple[NDArray[np.bool_], ...]
    layers: tuple[tuple[frozenset[int], ...], ...]
    modules: tuple[frozenset[Unit], ...]
    unused: frozenset[Unit] = frozenset()
    clusterings: tuple[LayerClustering, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Units of each layer, inputs first, unused ones included."""
        return (self.connections[0].shape[1], *(len(edges) for edges in self.connections))

    def inputs_of(self, module: int) -> frozenset[int]:
        """Return the inputs that belong to a module, counted from 0."""
        return self._units_in(module, 0)

    def outputs_of(self, module: int) -> frozenset[int]:
        """Return the outputs that belong to a module, counted from 0."""
        return self._units_in(module, len(self.connections))

    @property
    def feeds(self) -> dict[tuple[int, int], int]:
        """How many edges there are from one module to another, by (from, to); pairs without are left out."""
        return {pair: edges for pair, edges in self.edges_between.items() if pair[0] != pair[1]}

    @cached_property
    def edges_between(self) -> dict[tuple[int, int], int]:
        """How many edges there are between modules, by (from, to), those within a module included."""
        counts: Counter[tuple[int, int]] = Counter()
        for edges, before, after in zip(self.connections, self._rows, self._rows[1:], strict=False):
            ends, starts = edges.nonzero()
            pairs, times = np.unique(np.stack([before[starts], after[ends]]), axis=1, return_counts=True)
            for pair, number in zip(pairs.T.tolist(), times.tolist(), strict=True):
                counts[pair[0], pair[1]] += number
        return {pair: counts[pair] for pair in sorted(counts) if NO_MODULE not in pair}

    def to_networkx(self) -> nx.DiGraph[int]:
        """Return the modules as a graph: which feeds which.

        Nodes are module numbers with `units`, `inputs`, `outputs` and `layers` (those it has units in), as sorted
        lists. Edges have their number of network edges as `edges`.

        Examples
        --------
        >>> from dovetail.sculpting.modules.detect import detect_modules
        >>> graph = detect_modules([np.eye(2), [[1, 0], [0, 1], [1, 1]]]).to_networkx()
        >>> graph.nodes[1]
        {'units': [(0, 1), (1, 1), (2, 1)], 'inputs': [1], 'outputs': [1], 'layers': [0, 1, 2]}
        >>> list(graph.edges.data("edges"))
        [(0, 2, 1), (1, 2, 1)]
        """
        graph: nx.DiGraph[int] = nx.DiGraph()
        for number, module in enumerate(self.modules):
            graph.add_node(
                number,
                units=sorted(module),
                inputs=sorted(self.inputs_of(number)),
                outputs=sorted(self.outputs_of(number)),
                layers=sorted({layer for layer, _ in module}),
            )
        graph.add_edges_from((*pair, {"edges": edges}) for pair, edges in self.feeds.items())
        return graph

    def unit_graph(self) -> nx.DiGraph[Unit]:
        """Return the units as a graph: nodes (layer, unit) with their `module`, None for unused ones."""
        graph: nx.DiGraph[Unit] = nx.DiGraph()
        for layer, row in enumerate(self._rows):
            for unit, module in enumerate(row.tolist()):
                graph.add_node((layer, unit), module=None if module == NO_MODULE else module)
        for layer, edges in enumerate(self.connections):
            graph.add_edges_from(
                ((layer, before), (layer + 1, after)) for after, before in np.argwhere(edges).tolist()
            )
        return graph

    def to_json(self) -> str:
        """Return the hierarchy as JSON text, from which `from_json` makes an equal one."""
        from .hierarchy_json import write_hierarchy

        return write_hierarchy(self)

    @classmethod
    def from_json(cls, text: str) -> Hierarchy:
        """Return the hierarchy that `to_json` wrote.

        Raises
        ------
        FileFormatError
            When the text is something else, of another version, incomplete, or contradicts itself.

        Examples
        --------
        >>> from dovetail.sculpting.modules.detect import detect_modules
        >>> found = detect_modules([np.eye(2), [[1, 0], [0, 1], [1, 1]]])
        >>> Hierarchy.from_json(found.to_json()) == found
        True
        """
        from .hierarchy_json import read_hierarchy

        return read_hierarchy(text)

    def describe(self) -> str:
        """Return a few lines that say what the modules are, M1, M2, ..., and what else there is to know."""
        from .hierarchy_text import describe

        return describe(self)

    def plot(self, **options: Any) -> Axes:
        """Draw the network, its units coloured by module.

        Options are those of `dovetail.sculpting.draw_hierarchy`: ``ax``, ``direction``, ``input_names``,
        ``output_names``, ``module_names``, ``image_shape``, ``unused``, ``legend``, ``title``.
        """
        from ..drawing.draw import draw_hierarchy

        return draw_hierarchy(self, **options)

    def plot_metric(self, layer: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the score against the number of clusters, for one layer or all (see `plot_metric`)."""
        from .metric_plot import plot_metric

        return plot_metric(self, layer, ax)

    def __repr__(self) -> str:
        modules = f"{len(self.modules)} module" + "s" * (len(self.modules) != 1)
        return f"Hierarchy({'-'.join(map(str, self.sizes))}, {modules})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return (
            self.sizes == other.sizes
            and self._parts() == other._parts()
            and all(map(np.array_equal, self.connections, other.connections))
        )

    def __hash__(self) -> int:
        return hash((self.sizes, self.modules))

    def _parts(self) -> tuple[object, ...]:
        return self.layers, self.modules, self.unused, self.clusterings

    @cached_property
    def _rows(self) -> list[NDArray[np.int64]]:
        """The module of each unit, layer by layer."""
        rows = [np.full(size, NO_MODULE, np.int64) for size in self.sizes]
        for number, module in enumerate(self.modules):
            for layer, unit in module:
                rows[layer][unit] = number
        return rows

    def _units_in(self, module: int, layer: int) -> frozenset[int]:
        if not 0 <= module < len(self.modules):
            numbered = f", numbered 0 to {len(self.modules) - 1}" if self.modules else ""
            raise SpecError(f"there is no module {module}; this hierarchy has {len(self.modules)}{numbered}")
        return frozenset(unit for at, unit in self.modules[module] if at == layer)
