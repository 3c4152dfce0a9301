"""Agreement of networks about modules: adjusted mutual information of what they do with inputs and outputs.

Hidden units of two networks cannot be paired, inputs and outputs can. Two networks agree as far as knowing the module
of an input or output in one tells it in the other, beyond what chance gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...result import Result
from ..modules.hierarchy import Hierarchy

Labels = NDArray[np.int64]

PERMUTATIONS = 199
_MOST_PAIRS, _MOST_CELLS = 2_000, 2**24
"""Pairs beyond these are left out, evenly; more would not change a mean that anyone reads."""


@dataclass(frozen=True)
class Agreement(Result):
    """How alike the modules of networks are, over pairs of them.

    Attributes
    ----------
    value : float
        Mean adjusted mutual information: 1 for the same modules, about 0 for unrelated ones.
    pairs : int
        Over how many pairs.
    p_value : float
        How often inputs and outputs in random order give as much: of 199 permutations, so .005 at least; with few
        inputs and outputs many orders give the same modules.
    """

    value: float
    pairs: int
    p_value: float

    def __str__(self) -> str:
        pairs = f"{self.pairs} pair{'s' * (self.pairs != 1)}"
        return f"{self.value:.2f} (p = {self.p_value:.3f}, {pairs})"


def common_inputs(hierarchies: Sequence[Hierarchy]) -> list[int]:
    """Return the inputs that all networks use."""
    unused = {unit for hierarchy in hierarchies for layer, unit in hierarchy.unused if layer == 0}
    return [unit for unit in range(hierarchies[0].sizes[0]) if unit not in unused]


def labels_of(hierarchy: Hierarchy, inputs: Sequence[int]) -> Labels:
    """Return the module of each of these inputs and of every output; units in none are each alone."""
    labels = np.concatenate([hierarchy.membership[0][list(inputs)], hierarchy.membership[-1]])
    alone = labels < 0
    labels[alone] = len(hierarchy.modules) + np.arange(alone.sum())
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def agreement(
    labels: Sequence[Labels], pairs: Sequence[tuple[int, int]] | None = None, *, seed: int = 0
) -> Agreement | None:
    """Return how alike partitions of the same units are in the mean over pairs; nothing without a pair.

    Parameters
    ----------
    labels : sequence of array
        The partitions, by `labels_of`.
    pairs : sequence of (int, int), optional
        Which to compare; all by default.
    seed : int
        Of the permutations.

    Examples
    --------
    >>> halves, same, other = np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.array([0, 1, 0, 1])
    >>> agreement([halves, same]).value, round(agreement([halves, other]).value, 2)
    (1.0, -0.5)
    """
    chosen = list(combinations(range(len(labels)), 2)) if pairs is None else list(pairs)
    if not chosen:
        return None
    size = 1 + max(int(one.max()) for one in labels)
    most = max(1, min(_MOST_PAIRS, _MOST_CELLS // size**2))
    if len(chosen) > most:
        chosen = [chosen[place * (len(chosen) - 1) // max(1, most - 1)] for place in range(most)]
    first, second = (np.stack([labels[pair[side]] for pair in chosen]) for side in (0, 1))
    entropies = [_entropies(side, size) for side in (first, second)]
    expected = np.array([_expected(*pair) for pair in zip(_counts(first), _counts(second), strict=True)])

    def mean(shuffled: Labels) -> float:
        information = entropies[0] + entropies[1] - _entropies(first * size + shuffled, size**2)
        above, below = information - expected, (entropies[0] + entropies[1]) / 2 - expected
        # Two partitions into one module, or into single units, are the same.
        return float(np.where(np.abs(below) < 1e-12, 1.0, above / np.where(below == 0, 1, below)).mean())

    value = mean(second)
    rng = np.random.default_rng(seed)
    chance = [mean(second[:, rng.permutation(second.shape[1])]) for _ in range(PERMUTATIONS)]
    as_much = sum(one >= value - 1e-9 for one in chance)
    return Agreement(value, len(chosen), (1 + as_much) / (1 + PERMUTATIONS))


def _entropies(codes: Labels, size: int) -> NDArray[np.float64]:
    """Return the entropy of each row of codes below a size, in nats."""
    rows, units = codes.shape
    counts = np.bincount((codes + size * np.arange(rows)[:, None]).ravel(), minlength=rows * size)
    counts = counts.reshape(rows, size)
    found: NDArray[np.float64] = np.log(units) - (counts * np.log(np.maximum(counts, 1))).sum(1) / units
    return found


def _counts(labels: Labels) -> list[tuple[int, ...]]:
    return [tuple(sorted(np.bincount(row)[np.bincount(row) > 0].tolist())) for row in labels]


@lru_cache(maxsize=4096)
def _expected(first: tuple[int, ...], second: tuple[int, ...]) -> float:
    """Return the mutual information of partitions into parts of these sizes in random order, in nats."""
    from scipy.stats import hypergeom

    units, total = sum(first), 0.0
    for a in set(first):
        for b in set(second):
            shared = np.arange(max(1, a + b - units), min(a, b) + 1)
            weight = hypergeom.pmf(shared, units, a, b)
            times = first.count(a) * second.count(b)
            total += times * float((weight * shared / units * np.log(units * shared / (a * b))).sum())
    return total
