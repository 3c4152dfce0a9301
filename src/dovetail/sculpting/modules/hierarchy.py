"""A hierarchy: the modules found in a network, how they feed one another, and how they were found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ...errors import SpecError
from ...markup import text_html
from ...result import Result
from ..drawing.draw import draw_hierarchy, drawing_html
from ..drawing.metric import plot_metric
from ..drawing.style import NO_MODULE, UNUSED, checked_names, counted, layer_name
from .agglomerate import LayerClustering
from .hierarchy_json import plain_fields, read_fields

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Unit = tuple[int, int]
"""A unit of a network: (layer, place in it), both from 0; layer 0 is the inputs."""

MOST_NAMES = 12
"""Inputs, or outputs, of a module up to which all are named."""
LONGEST_NAME = 40
"""Characters of a name that are shown in a line of text."""
MOST_MODULES = 40
"""Modules up to which each has its line."""


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy(Result):
    """Clusters of units layer by layer, and the modules they make across layers.

    Modules are numbered from 0, as in `modules`. Hierarchies with the same content are equal, whatever
    inputs and outputs are called.

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
    input_names, output_names : tuple of str or None
        What all inputs and outputs are called, unused ones too; None for x1, x2, ... and y1, y2, ...

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
    input_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Units of each layer, inputs first, unused ones included."""
        return (self.connections[0].shape[1], *(len(edges) for edges in self.connections))

    @cached_property
    def end_names(self) -> tuple[list[str], list[str]]:
        """The names of all inputs and of all outputs, in their order."""
        return (
            checked_names(self.input_names, "x", self.sizes[0], "inputs"),
            checked_names(self.output_names, "y", self.sizes[-1], "outputs"),
        )

    def inputs_of(self, module: int) -> frozenset[int]:
        """Return the inputs that belong to a module, counted from 0."""
        return self._units_in(module, 0)

    def outputs_of(self, module: int) -> frozenset[int]:
        """Return the outputs that belong to a module, counted from 0."""
        return self._units_in(module, len(self.connections))

    @cached_property
    def membership(self) -> tuple[NDArray[np.int64], ...]:
        """The number of every unit's module, layer by layer: -1 for units in none, -2 for unused ones."""
        found = tuple(np.full(size, NO_MODULE, np.int64) for size in self.sizes)
        for number, module in enumerate(self.modules):
            for layer, unit in module:
                found[layer][unit] = number
        for layer, unit in self.unused:
            found[layer][unit] = UNUSED
        return found

    @cached_property
    def used_edges(self) -> tuple[NDArray[np.bool_], ...]:
        """The `connections` between units that are used; all others are False."""
        used = [row != UNUSED for row in self.membership]
        return tuple(
            np.asarray(edges, bool) & after[:, None] & before[None, :]
            for edges, before, after in zip(self.connections, used[:-1], used[1:], strict=True)
        )

    @property
    def feeds(self) -> dict[tuple[int, int], int]:
        """How many edges there are from one module to another, by (from, to); pairs without are left out."""
        return {pair: edges for pair, edges in self.edges_between.items() if pair[0] != pair[1]}

    @cached_property
    def edges_between(self) -> dict[tuple[int, int], int]:
        """How many edges there are between modules, by (from, to), those within a module included."""
        counts: Counter[tuple[int, int]] = Counter()
        for edges, before, after in zip(self.connections, self.membership, self.membership[1:], strict=False):
            ends, starts = edges.nonzero()
            pairs, times = np.unique(np.stack([before[starts], after[ends]]), axis=1, return_counts=True)
            for pair, number in zip(pairs.T.tolist(), times.tolist(), strict=True):
                counts[pair[0], pair[1]] += number
        return {pair: counts[pair] for pair in sorted(counts) if min(pair) >= 0}

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

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each module: its inputs, its outputs, its units, and which modules it feeds.

        Inputs and outputs are numbers from 0, or names where they have names.
        """
        import pandas as pd

        graph = self.to_networkx()
        inputs, outputs = self.input_names or range(self.sizes[0]), self.output_names or range(self.sizes[-1])
        return pd.DataFrame(
            {
                "module": [f"M{number + 1}" for number in graph],
                "inputs": [[inputs[unit] for unit in graph.nodes[number]["inputs"]] for number in graph],
                "outputs": [[outputs[unit] for unit in graph.nodes[number]["outputs"]] for number in graph],
                "units": [len(module) for module in self.modules],
                "feeds": [[f"M{to + 1}" for to in graph.successors(number)] for number in graph],
            }
        )

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values; the JSON text of them is what `from_json` makes an equal hierarchy of."""
        return plain_fields(self)

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
        return cls(**read_fields(text))

    def describe(self) -> str:
        """Return a few lines that say what the modules are, and what else there is to know.

        Module 0 is M1, as input 0 is x1 where it has no name.

        Examples
        --------
        >>> from dovetail.sculpting import detect_modules
        >>> found = detect_modules([[[1, 0], [0, 1], [0, 0]], [[1, 0, 0], [0, 1, 0], [1, 1, 0]]])
        >>> print(found.describe())
        2-3-3: 3 modules, 7 units, 6 edges
          M1      {x1, y1}, 1-1-1 units -> M3 (1 edge)
          M2      {x2, y2}, 1-1-1 units -> M3 (1 edge)
          M3      {y3}, 0-0-1 units
          unused  1 unit
        """
        modules, layers = self.modules, len(self.sizes)
        lines = [
            f"{'-'.join(map(str, self.sizes))}: {counted(len(modules), 'module')}, "
            f"{counted(sum(map(len, modules)), 'unit')}, {counted(sum(self.edges_between.values()), 'edge')}"
        ]
        for number in range(len(modules))[:MOST_MODULES]:
            lines.append(f"  {f'M{number + 1}':<6}  {_line(self, number)}")
        if len(modules) > MOST_MODULES:
            lines.append(f"  and {len(modules) - MOST_MODULES:,} more modules")
        if self.unused:
            lines.append(f"  unused  {counted(len(self.unused), 'unit')}")
        tied = [layer_name(layer, layers) for layer, entry in enumerate(self.clusterings) if entry.tied]
        if tied:
            lines.append(
                f"  ties    {', '.join(tied)}: equal distances, so that other clusters would do as well"
            )
        return "\n".join(lines)

    def plot(self, **options: Any) -> Axes:
        """Draw the network, its units coloured by module.

        Options are those of `dovetail.sculpting.draw_hierarchy`: ``ax``, ``input_names``, ``output_names``,
        ``module_names``, ``image_shape``, ``legend``, ``title``.
        """
        return draw_hierarchy(self, **options)

    def plot_metric(self, layer: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the score against the number of clusters, for one layer or all (see `plot_metric`)."""
        return plot_metric(self, layer, ax)

    def _html_pieces(self) -> Iterable[str]:
        what, *modules = self.describe().splitlines()
        yield text_html(what)
        yield drawing_html(self) or text_html("\n".join(modules))

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

    def _units_in(self, module: int, layer: int) -> frozenset[int]:
        if not 0 <= module < len(self.modules):
            numbered = f", numbered 0 to {len(self.modules) - 1}" if self.modules else ""
            raise SpecError(f"there is no module {module}; this hierarchy has {len(self.modules)}{numbered}")
        return frozenset(unit for at, unit in self.modules[module] if at == layer)


def _line(hierarchy: Hierarchy, number: int) -> str:
    names = [
        *_names(hierarchy.end_names[0], "inputs", hierarchy.inputs_of(number)),
        *_names(hierarchy.end_names[1], "outputs", hierarchy.outputs_of(number)),
    ]
    per_layer = [0] * len(hierarchy.sizes)
    for layer, _ in hierarchy.modules[number]:
        per_layer[layer] += 1
    line = f"{{{', '.join(names)}}}, {'-'.join(map(str, per_layer))} units"
    fed = [
        f"M{to + 1} ({counted(edges, 'edge')})"
        for (start, to), edges in hierarchy.feeds.items()
        if start == number
    ]
    if len(fed) > MOST_NAMES:
        fed[MOST_NAMES - 1 :] = [f"{len(fed) - MOST_NAMES + 1} more"]
    return line + (f" -> {', '.join(fed)}" if fed else "")


def _names(all_names: Sequence[str], what: str, units: Iterable[int]) -> list[str]:
    names = [_short(all_names[unit]) for unit in sorted(units)]
    if len(names) <= MOST_NAMES:
        return names
    return [*names[:3], f"... {names[-1]} ({len(names):,} {what})"]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
