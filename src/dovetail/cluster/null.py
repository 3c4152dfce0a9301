"""Null of an n-cut: what chance makes of a network's weights, and how far from chance the network is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import unknown_name
from ..graph.graph import Block, Floats, Indices, NetworkGraph
from .settings import Shuffle

_ROUNDING = 1e-9
"""N-cuts that differ by less, relative to their size, are the same."""

_BOOTSTRAPS = 1000
"""How often copies are drawn again from themselves."""


@dataclass(frozen=True, eq=False)
class Null:
    """The n-cut of a network and those of shuffled copies; also while there are only some of the copies.

    Attributes
    ----------
    ncut : float
        Of the network itself.
    copies : float array
        Of the shuffled copies.

    Examples
    --------
    >>> null = Null(1.0, np.array([2.0, 4.0, 3.0]))
    >>> null.wins, null.p_value, null.mean
    (3, 0.25, 3.0)
    """

    ncut: float
    copies: Floats

    @property
    def mean(self) -> float:
        """Mean n-cut of the copies; not a number without any."""
        return float(self.copies.mean()) if len(self.copies) else float("nan")

    @property
    def std(self) -> float:
        """Standard deviation of the copies' n-cuts (of the population)."""
        return float(self.copies.std()) if len(self.copies) else float("nan")

    @property
    def wins(self) -> int:
        """How many copies are less clusterable than the network; a tie is no win."""
        return int((self.copies > self.ncut + _ROUNDING * max(1.0, self.ncut)).sum())

    @property
    def p_value(self) -> float:
        """Share of copies that are as clusterable as the network, itself counted among them; ties count against it."""
        if not len(self.copies):
            return float("nan")
        return float((len(self.copies) - self.wins + 1) / (len(self.copies) + 1))

    @property
    def z_score(self) -> float:
        """Standard deviations of the copies that the network's n-cut is above their mean; below: negative."""
        difference = self.ncut - self.mean
        if self.std < _ROUNDING * max(1.0, self.ncut):  # copies that differ by rounding only
            return 0.0 if abs(difference) < 1e-6 else float(np.copysign(np.inf, difference))
        return difference / self.std

    @property
    def lower_by(self) -> float:
        """By what share the network's n-cut is below the copies' mean: how much, where z and p say how surely."""
        return 1 - self.ncut / self.mean if self.mean > 0 else float("nan")

    def z_range(self, seed: int = 0) -> tuple[float, float]:
        """Return where 95 % of z-scores are when the copies are drawn again from themselves, a thousand times.

        Not a number with fewer than two copies, or where these are all alike.

        Examples
        --------
        >>> low, high = Null(1.0, np.linspace(2, 3, 50)).z_range()
        >>> low < Null(1.0, np.linspace(2, 3, 50)).z_score < high
        True
        """
        if len(self.copies) < 2 or not math.isfinite(self.z_score):
            return float("nan"), float("nan")
        rng = np.random.default_rng(seed)
        drawn = self.copies[rng.integers(len(self.copies), size=(_BOOTSTRAPS, len(self.copies)))]
        spread = drawn.std(1)
        scores = (self.ncut - drawn.mean(1)[spread > 0]) / spread[spread > 0]
        if not len(scores):
            return float("nan"), float("nan")
        low, high = np.quantile(scores, [0.025, 0.975])
        return float(low), float(high)

    @property
    def bins(self) -> int:
        """How many bars a histogram of the copies has room and reason for."""
        return min(30, max(5, math.ceil(2 * math.sqrt(len(self.copies)))))


class Shuffles:
    """Makes shuffled copies of a graph's weights, layer by layer.

    Units without any connection stay without: they were left out of the network, so chance gets no use of them either.
    Layers with the same weights, such as tied embeddings, stay the same.

    Parameters
    ----------
    graph : NetworkGraph
        Whose weights to shuffle.
    how : str
        ``"layer"``: every weight may go to every place of its layer. ``"layer-nonzero"``: weights other than 0 change
        places among themselves, so that the same units stay connected.

    Examples
    --------
    >>> import dovetail as dt
    >>> graph = dt.network_graph([[[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]])
    >>> (mixed,) = Shuffles(graph, "layer-nonzero").draw(np.random.default_rng(0))
    >>> sorted(mixed.ravel().tolist())
    [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]
    >>> bool(((mixed == 0) == (graph.blocks[0].weights == 0)).all())
    True
    """

    def __init__(self, graph: NetworkGraph, how: Shuffle) -> None:
        if how not in get_args(Shuffle):
            raise unknown_name("shuffle", how, get_args(Shuffle))
        live = np.zeros(len(graph), dtype=bool)
        for block in graph.blocks:
            live[block.outputs] |= (block.weights > 0).any(1)
            live[block.inputs] |= (block.weights > 0).any(0)
        self._shapes = [block.weights.shape for block in graph.blocks]
        self._values = [_nonzero(block.weights) for block in graph.blocks]
        if how == "layer":
            self._places = [_places(_allowed(block, live)) for block in graph.blocks]
        else:
            self._places = [_places(block.weights != 0) for block in graph.blocks]
        self._tied: list[tuple[int, bool] | None] = [None] * len(graph.blocks)
        by_name = {block.name: number for number, block in enumerate(graph.blocks) if block.tied_to is None}
        for number, block in enumerate(graph.blocks):
            if block.tied_to in by_name:
                self._tie(number, by_name[block.tied_to], graph.blocks, turned=block.turned)

    def _tie(self, number: int, first: int, blocks: Sequence[Block], *, turned: bool) -> None:
        """Let a block follow another with the same weights, if they may go to the same places in both."""
        own, other = blocks[number].weights, blocks[first].weights
        own = own.T if turned else own
        places, others = self._places[number], self._places[first]
        if turned and places is not None:
            places = np.sort(_turned(places, self._shapes[number]))
        same_places = places is others or (
            places is not None and others is not None and np.array_equal(places, others)
        )
        if own.shape == other.shape and same_places and np.array_equal(own != 0, other != 0):
            self._values[number] = own[own != 0]
            self._tied[number] = first, turned

    def draw(self, rng: np.random.Generator) -> list[Floats]:
        """Return the weights of all blocks in random order."""
        drawn: list[Floats] = []
        chosen: dict[int, Indices] = {}
        leading = {tied[0] for tied in self._tied if tied is not None}
        each = zip(self._shapes, self._places, self._values, self._tied, strict=True)
        for number, (shape, places, values, tied) in enumerate(each):
            # Values at places drawn at random: the same as permuting all with their zeros, and less work.
            if tied is None:
                many = math.prod(shape) if places is None else len(places)
                at = rng.choice(many, len(values), replace=False)
                at = at if places is None else places[at]
            else:
                first, turned = tied
                at = _turned(chosen[first], self._shapes[first]) if turned else chosen[first]
            mixed = np.zeros(shape)
            mixed.reshape(-1)[at] = values
            if number in leading:
                chosen[number] = at
            drawn.append(mixed)
        return drawn


def _nonzero(weights: Floats) -> Floats:
    """Return the weights that are not 0 in a row; no copy where all are not."""
    return weights.reshape(-1) if weights.all() else weights[weights != 0]


def _places(allowed: NDArray[np.bool_]) -> Indices | None:
    """Return the places in a row of all that are allowed; None for all of them."""
    return None if allowed.all() else np.flatnonzero(allowed)


def _turned(places: Indices, shape: tuple[int, ...]) -> Indices:
    """Return where entries of a matrix, given by their places in a row of all, are in the matrix turned over."""
    rows, columns = np.divmod(places, shape[1])
    return columns * shape[0] + rows


def _allowed(block: Block, live: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return where a layer may have weights: within its groups, between two units that have connections."""
    outputs, inputs = block.weights.shape
    of_output = np.arange(outputs) // (outputs // block.groups)
    of_input = np.arange(inputs) // (inputs // block.groups)
    within = of_output[:, None] == of_input
    allowed = within & live[block.outputs][:, None] & live[block.inputs]
    if len(np.intersect1d(block.outputs, block.inputs)):
        allowed &= block.outputs[:, None] != block.inputs
    return np.asarray(allowed)


ENOUGH = 19
"""Shuffled copies with which a network that beats them all has a p-value of 5 %."""


def has_failed(ncut: float, eigenvalues: ArrayLike) -> bool:
    """Whether a clustering is plainly not the one to look for: it leaves far more than the eigenvalues say it must.

    No k clusters of a graph have an n-cut below the sum of the k smallest eigenvalues of its normalised Laplacian. What
    k-means finds is above that, as a rule by much less than its double. Here it counts as failed if the n-cut is more
    than twice this bound, and by more than 1: a whole cluster that has nothing within.

    Examples
    --------
    >>> has_failed(6.1, [0, 0.1, 0.2]), has_failed(2.5, [0, 0.8, 0.9])
    (True, False)
    """
    bound = np.sum(eigenvalues)
    return bool(np.size(eigenvalues)) and bool(ncut > 2 * bound + 1)


def verdict(null: Null, k: int, eigenvalues: ArrayLike = ()) -> str:
    """Return in words what the n-cut of k clusters says beside its null; nothing where the clustering has failed.

    Examples
    --------
    >>> import numpy as np
    >>> print(verdict(Null(1.0, np.array([2.0, 2.1])), 4))
    n-cut 1.000 with 4 clusters: a connection picked at a cluster leaves it with a chance of 25% (lower is more ...
    2 shuffled copies: 2.050 ± 0.050. The network is more clusterable than 2 of them (p = 0.333, z = -21.0): too few ...
    """
    first = (
        f"n-cut {null.ncut:.3f} with {k} clusters: a connection picked at a cluster leaves it with a chance "
        f"of {null.ncut / k:.0%} (lower is more clusterable)."
    )
    if has_failed(null.ncut, eigenvalues):
        return (
            f"{first}\nNo verdict: the clustering has failed. The eigenvalues of the graph would allow an n-cut from "
            f"{np.sum(eigenvalues):.3f} on. Units that lead to few others only keep k-means from the clusters of the "
            "rest; look at the warnings, or ask for other numbers of clusters."
        )
    if not len(null.copies):
        return f"{first}\nNo shuffled copies: the number alone does not say whether that is more than chance."
    return (
        f"{first}\n{len(null.copies)} shuffled copies: {null.mean:.3f} ± {null.std:.3f}. The network is more "
        f"clusterable than {null.wins} of them (p = {null.p_value:.3g}, z = {null.z_score:.1f}): {_meaning(null)}"
    )


def _meaning(null: Null) -> str:
    if null.p_value <= 0.05:
        return "more than its weights would be by chance (p at most 0.05)."
    if null.wins == len(null.copies):
        return f"too few copies to tell, {ENOUGH} at least are needed."
    if null.z_score > 2:
        return "less than its weights would be by chance (z above 2)."
    return "no more than chance would give (p above 0.05)."
