"""Separable inputs: whether outputs leave those alone that they do not need, tested on path products.

References
----------
.. [1] Patil, Michael, Dovrolis, "Neural Sculpting: Uncovering hierarchically modular task structure in neural
   networks through pruning and network analysis", NeurIPS 2023, section 2.1 and appendix G.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ...data.boolean import BooleanTask, Planted
from ...errors import DataError, ShapeError, SpecError
from ...graph.read import DenseNetwork
from ...result import Result
from ...statistics import welch
from .structure import path_products

if TYPE_CHECKING:
    import pandas as pd

Group: TypeAlias = tuple[Collection[int], Collection[int]]
"""Inputs, and the outputs that use them; both count from 0."""


@dataclass(frozen=True)
class GroupTest(Result):
    """Welch's test that other outputs are linked more weakly to a group of inputs than the group's own.

    Attributes
    ----------
    inputs, outputs : tuple of int
        The inputs of the group, and its own outputs: those that use them.
    own, other : float
        Mean path product from the inputs to their own outputs, and to all other outputs.
    t, p_value : float
        Welch's t of ``other - own``, and the chance of so low a value if both means were equal.
    rejected : bool
        Whether equal means are rejected: the other outputs use these inputs less.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    own: float
    other: float
    t: float
    p_value: float
    rejected: bool

    def __str__(self) -> str:
        means = f"own outputs {self.own:.3g}, others {self.other:.3g}"
        verdict = "rejected" if self.rejected else "not rejected"
        return (
            f"inputs {list(self.inputs)}: {means}, t = {self.t:.2f}, p = {self.p_value:.2g}; equal: {verdict}"
        )


class InputSeparability(Result, tuple[GroupTest, ...]):
    """The tests of all groups of inputs, in the order given."""

    @property
    def rejected(self) -> bool:
        """Whether equal means are rejected for every group: the network shows the groups."""
        return all(test.rejected for test in self)

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each group of inputs."""
        import pandas as pd

        return pd.DataFrame([test.to_dict() for test in self])

    def to_dict(self) -> dict[str, object]:
        """Return all tests as plain values, ready for JSON."""
        return {"rejected": self.rejected, "groups": [test.to_dict() for test in self]}


def input_separability(
    network: DenseNetwork, groups: Iterable[Group] | Planted | BooleanTask, *, alpha: float = 0.05
) -> InputSeparability:
    """Test whether groups of inputs are used by their own outputs more than by the others.

    For each group, the path products (see `path_products`) from its inputs to the other outputs are compared
    with those to its own outputs: a test of two means with unknown standard deviations [1]_. The null
    hypothesis is that the means are equal, the alternative that the other outputs' mean is lower.

    Samples without spread are common in pruned networks. If neither has any, t is -inf (p = 0) where the
    other outputs' mean is lower, inf (p = 1) where it is higher, and 0 (p = 0.5) where they are equal.

    Parameters
    ----------
    network : Module or sequence of array
        Dense layers, or weight matrices ``[units, units before]``.
    groups : iterable of (inputs, outputs), Planted or BooleanTask
        Inputs with the outputs that use them, as in ``[({0, 1}, {0, 1}), ({2, 3}, {2, 3})]``. From a planted
        structure, every module with inputs and the outputs that it leads to, directly or through others;
        modules that lead to all outputs have none to compare with and are left out.
    alpha : float
        The level at which to reject.

    Returns
    -------
    InputSeparability
        The tests, and in ``.rejected`` whether all of them reject, as in Table 1 of [1]_.

    Examples
    --------
    >>> hidden = [[1, 2, 0, 0], [2, 1, 0, 0], [0, 0, 1, 1]]
    >>> found = input_separability([hidden, [[1, 1, 0], [2, 1, 0], [0, 0, 1]]], [({0, 1}, {0, 1})])
    >>> print(found)
    inputs [0, 1]: own outputs 3.75, others 0, t = -7.83, p = 0.0022; equal: rejected
    >>> found.rejected
    True
    """
    if not 0 < alpha < 1:
        raise SpecError(f"alpha must be above 0 and below 1; got {alpha}")
    products = path_products(network)
    if isinstance(groups, BooleanTask | Planted):
        groups = _planted_groups(groups, outputs=len(products))
    tests = InputSeparability(_test(products, inputs, outputs, alpha) for inputs, outputs in groups)
    if not tests:
        raise SpecError("no groups of inputs to test; give some, as in [({0, 1}, {0, 1})]")
    return tests


def _planted_groups(task: BooleanTask | Planted, outputs: int) -> list[Group]:
    planted = task.planted if isinstance(task, BooleanTask) else task
    if planted is None:
        raise SpecError(
            f"task {getattr(task, 'name', task)!r} has no planted structure; give groups of inputs"
        )
    graph = planted.to_networkx()
    own = {
        module.name: frozenset(
            output
            for name in {module.name, *nx.descendants(graph, module.name)}
            for output in graph.nodes[name]["outputs"]
        )
        for module in planted
    }
    groups = [(module.inputs, own[module.name]) for module in planted if module.inputs]
    comparable: list[Group] = [(inputs, used_by) for inputs, used_by in groups if len(used_by) < outputs]
    if not comparable:
        names = ", ".join(str(module) for module in planted)
        raise SpecError(f"every planted module with inputs leads to all outputs, nothing to compare: {names}")
    return comparable


def _test(
    products: NDArray[np.float64], inputs: Collection[int], outputs: Collection[int], alpha: float
) -> GroupTest:
    columns, own = sorted(set(inputs)), sorted(set(outputs))
    for what, units, size in (("input", columns, products.shape[1]), ("output", own, products.shape[0])):
        if units and not 0 <= units[0] <= units[-1] < size:
            raise ShapeError(f"{what}s {units}: the network's {what}s are 0 to {size - 1}")
    other = [unit for unit in range(len(products)) if unit not in own]
    values = [products[np.ix_(rows, columns)].ravel() for rows in (other, own)]
    if min(map(len, values)) < 2:
        raise DataError(
            f"inputs {columns} with outputs {own} give {len(values[1])} path products, and {len(values[0])} with the "
            f"other outputs; a test of means needs two or more of each"
        )
    found = welch(values[0], values[1], "less")
    means = [float(sample.mean()) for sample in values]
    return GroupTest(
        tuple(columns), tuple(own), means[1], means[0], found.statistic, found.p_value, found.p_value < alpha
    )
