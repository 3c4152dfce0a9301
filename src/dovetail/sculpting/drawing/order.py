"""The order in which modules, and the units in them, stand side by side: one in which few edges cross."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .style import UNUSED

if TYPE_CHECKING:
    from ..modules.hierarchy import Hierarchy


_SWEEPS = 4
_WORTH = 0.65
"""Inputs and outputs leave the order of their numbers if less than this share of the crossings remains."""


def crossings(edges: NDArray[np.generic]) -> float:
    """Return how many pairs of edges cross when both layers stand in the order of the matrix.

    Parameters
    ----------
    edges : array
        Edges between two layers, ``[units, units before]``: whether there is one, or how many.

    Examples
    --------
    >>> import numpy as np
    >>> crossings(np.eye(3)), crossings(np.eye(3)[::-1])
    (0.0, 3.0)
    """
    counts = np.asarray(edges, np.float64)
    earlier = np.cumsum(counts, 0) - counts  # edges that end before a unit,
    later = (
        np.cumsum(earlier[:, ::-1], 1)[:, ::-1] - earlier
    )  # and of these the ones that start after another
    return float((counts * later).sum())


def order_modules(hierarchy: Hierarchy, places: NDArray[np.float64] | None = None) -> list[int]:
    """Return the modules in the order in which they are drawn, the same in every layer.

    One order for all layers keeps the area of one module clear of the areas of the others. It starts with the order of
    their inputs; then modules move to the mean place of those they are connected to, and to wherever fewer edges cross.

    Parameters
    ----------
    hierarchy : Hierarchy
        What to draw.
    places : array, optional
        Where each input stands in its layer, when that is not its number.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.sculpting import Hierarchy
    >>> edges = (np.array([[0, 1], [1, 0]], bool),)
    >>> order_modules(Hierarchy(edges, (), tuple(frozenset({unit}) for unit in [(0, 0), (0, 1), (1, 0), (1, 1)])))
    [0, 3, 1, 2]
    """
    counts, total = _edges_between_modules(hierarchy), len(hierarchy.modules)

    def cost(order: list[int]) -> float:
        return sum(crossings(layer[np.ix_(order, order)]) for layer in counts)

    best = _by_first_inputs(hierarchy, places)
    lowest, linked = cost(best), sum(layer + layer.T for layer in counts) + np.eye(total)
    order = best
    for _ in range(_SWEEPS):
        rank = np.empty(total)
        rank[order] = np.arange(total)
        means = linked @ rank / linked.sum(1)
        order = sorted(order, key=lambda module, means=means: means[module])  # type: ignore[misc]
        if cost(order) < lowest:
            best, lowest = order, cost(order)
    reach = max(1, 300 // max(total, 1))  # of many modules each moves only a little, to be done in time
    for _ in range(_SWEEPS):
        before = lowest
        for module in list(best):
            start = best.index(module)
            rest = best[:start] + best[start + 1 :]
            for place in range(max(0, start - reach), min(total, start + reach + 1)):
                moved = [*rest[:place], module, *rest[place:]]
                if (found := cost(moved)) < lowest:
                    best, lowest = moved, found
        if lowest == before:
            break
    return best


def order_units(
    hierarchy: Hierarchy, modules: list[int], places: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.int64], ...]:
    """Return the units of each layer in the order in which they are drawn: by module, and then so that few edges cross.

    Inputs and outputs stay in the order of their numbers unless another one is much better. Units in no module come
    after the others, unused ones last.

    Parameters
    ----------
    hierarchy : Hierarchy
        What to draw.
    modules : list of int
        The order of the modules.
    places : array, optional
        Where each input stands in its layer, when that is fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.sculpting import Hierarchy
    >>> edges = (np.array([[0, 0, 1, 1], [1, 1, 0, 0]], bool), np.array([[0, 1], [1, 0]], bool))
    >>> one = frozenset((layer, unit) for layer, size in enumerate([4, 2, 2]) for unit in range(size))
    >>> [row.tolist() for row in order_units(Hierarchy(edges, (), (one,)), [0])]
    [[0, 1, 2, 3], [1, 0], [0, 1]]
    """
    position = np.array([*np.argsort(modules), len(modules) + 1, len(modules)], np.int64)  # and at -2, -1
    groups = [position[row] for row in hierarchy.membership]
    start = [np.lexsort((np.arange(len(row)), row)) for row in groups]
    if places is not None:
        start[0] = np.argsort(places, kind="stable")
    edges, last = hierarchy.used_edges, len(start) - 1
    best, few = _sweep(start, groups, edges, range(1, last))
    for layers in (range(last), range(last + 1)):  # with the inputs, and with the outputs too
        order, fewer = _sweep(best, groups, edges, layers[places is not None :])
        if fewer < _WORTH * few:
            best, few = order, fewer
    return tuple(best)


def _sweep(
    order: list[NDArray[np.int64]],
    groups: list[NDArray[np.int64]],
    edges: tuple[NDArray[np.bool_], ...],
    layers: range,
) -> tuple[list[NDArray[np.int64]], float]:
    """Move the units of some layers to the mean places of those they are connected to, within their groups.

    Return the best order on the way, and how many edges cross in it.
    """

    def cost() -> float:
        return sum(crossings(links[np.ix_(order[k + 1], order[k])]) for k, links in enumerate(edges))

    order = list(order)
    best, lowest = list(order), cost()
    for sweep in range(2 * _SWEEPS):
        upwards = sweep % 2 == 0
        for layer in layers if upwards else reversed(layers):
            near = layer - 1 if upwards else layer + 1
            if not 0 <= near < len(order):
                continue
            links = edges[near] if upwards else edges[layer].T
            rank = np.empty(len(order[near]))
            rank[order[near]] = np.linspace(0, 1, len(rank))
            own = np.empty(len(order[layer]))
            own[order[layer]] = np.linspace(0, 1, len(own))
            degree = links.sum(1)
            mean = np.where(degree > 0, links @ rank / np.maximum(degree, 1), own)
            kept = order[layer]
            order[layer] = kept[np.lexsort((mean[kept], groups[layer][kept]))]
        if (found := cost()) < lowest:
            best, lowest = list(order), found
    return best, lowest


def _by_first_inputs(hierarchy: Hierarchy, places: NDArray[np.float64] | None) -> list[int]:
    """Return the modules by the mean place of the inputs that they depend on; those without any come last."""
    edges, members = hierarchy.used_edges, hierarchy.membership
    place = np.arange(len(members[0]), dtype=np.float64) if places is None else places
    sums, weights = np.zeros(len(hierarchy.modules)), np.zeros(len(hierarchy.modules))
    value, known = place, (members[0] != UNUSED).astype(np.float64)
    for layer, row in enumerate(members):
        if layer:
            links = edges[layer - 1].astype(np.float64)
            degree = links @ known
            value, known = links @ (value * known) / np.maximum(degree, 1), (degree > 0).astype(np.float64)
        for target, amount in ((sums, value * known), (weights, known)):
            np.add.at(target, row[row >= 0], amount[row >= 0])
    means = np.where(weights > 0, sums / np.maximum(weights, 1), np.inf)
    return sorted(range(len(means)), key=lambda module: (means[module], module))


def _edges_between_modules(hierarchy: Hierarchy) -> list[NDArray[np.float64]]:
    """Return for each pair of layers how many edges there are from each module (column) to each (row)."""
    total, found = len(hierarchy.modules), []
    members = hierarchy.membership
    for edges, before, after in zip(hierarchy.used_edges, members[:-1], members[1:], strict=True):
        to, start = np.nonzero(edges & (after >= 0)[:, None] & (before >= 0)[None, :])
        counts = np.zeros((total, total))
        np.add.at(counts, (after[to], before[start]), 1)
        found.append(counts)
    return found
