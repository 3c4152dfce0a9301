"""Sweeps: audits of one network with several numbers of clusters, and p-values corrected for trying them all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import SpecError
from ..graph.graph import Floats, NetworkGraph
from ..graph.network_graph import network_graph
from ..io.fields import nan_to_null
from ..result import Result
from .audit import Clusterability, Network, clusterability
from .checks import whole_number
from .null import ENOUGH, has_failed

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "dovetail.sweep/1"

_MOST = 100
"""Numbers of clusters in one sweep."""
_LEVEL = 0.05
_ROUNDING = 1e-9
_FOR_GRAPHS = ("example_input", "norm", "convention", "residual", "layers", "units")


def sweep_clusters(
    network: Network, ks: Sequence[int] = (2, 4, 7, 10, 12), shuffles: int = 50, **options: Any
) -> Sweep:
    """Audit a network with several numbers of clusters, on the same shuffled copies, and correct for having tried them.

    Parameters
    ----------
    network : nn.Module, mapping, sequence or NetworkGraph
        As for `clusterability`; it is read once.
    ks : sequence of int
        Numbers of clusters.
    shuffles : int
        Number of shuffled copies, the same ones for each number of clusters.
    **options
        All other options of `clusterability`.

    Returns
    -------
    Sweep
        The audits, and p-values that hold for all of them together.

    Notes
    -----
    For each number of clusters, n-cuts of the network and its copies are scaled to mean 0 and deviation 1; each of them
    has a lowest score over all numbers. The corrected p-value is the share of them whose lowest is as low as the
    network's: the extreme of several tests, compared with its own distribution. As clusterings with 10 and with 12
    clusters mostly agree, that costs less than to multiply p by how many numbers were tried.

    References
    ----------
    Westfall and Young, *Resampling-Based Multiple Testing*, 1993.

    Examples
    --------
    >>> import dovetail as dt
    >>> blocks = np.kron(np.eye(3), np.ones((4, 4))) + 0.01
    >>> found = dt.sweep_clusters([blocks, blocks], ks=[2, 3], shuffles=20, progress=False)
    >>> found.best.k, round(found.p_value, 3)
    (3, 0.048)
    """
    numbers = _numbers(ks)
    if isinstance(network, NetworkGraph):
        graph = network  # a part of which each audit takes, if one is named
    else:
        reading = {name: options.pop(name) for name in _FOR_GRAPHS if name in options}
        graph = network_graph(network, **reading)
    return Sweep(tuple(clusterability(graph, k, shuffles, **options) for k in numbers))


def _numbers(ks: Sequence[int]) -> list[int]:
    if isinstance(ks, str | int) or not isinstance(ks, Iterable):
        raise SpecError(f"ks is a list of numbers of clusters, such as [2, 4, 8]; got {ks!r:.80}")
    numbers = [whole_number("k", k, least=2) for k in ks]
    if not 0 < len(numbers) <= _MOST:
        raise SpecError(f"ks names 1 to {_MOST} numbers of clusters, not {len(numbers)}")
    if len(set(numbers)) < len(numbers):
        raise SpecError(f"ks names a number of clusters twice: {numbers}")
    return sorted(numbers)


def corrected(ncuts: ArrayLike, copies: ArrayLike) -> Floats:
    """Return p-values of several tests on one network and the same copies, each corrected for there being several.

    Parameters
    ----------
    ncuts : float array
        Of the network, ``[tests]``.
    copies : float array
        Of its shuffled copies, ``[tests, copies]``.

    Examples
    --------
    >>> copies = np.array([[2.0, 3.0, 4.0], [7.0, 6.0, 5.0]])
    >>> corrected([1.0, 5.5], copies).tolist()  # the second is lower than two of three copies
    [0.25, 0.5]
    """
    together = np.concatenate([np.asarray(ncuts, dtype=np.float64)[:, None], np.asarray(copies)], axis=1)
    spread = together.std(1, keepdims=True)
    apart = spread > _ROUNDING * np.maximum(1.0, np.abs(together).max(1, keepdims=True))
    # Where the network and all copies are the same up to rounding, none stands out.
    scores = np.where(apart, (together - together.mean(1, keepdims=True)) / np.where(apart, spread, 1.0), 0.0)
    found: Floats = (scores.min(0) <= scores[:, :1] + _ROUNDING).mean(1)
    return found


@dataclass(frozen=True, eq=False)
class Sweep(Result):
    """Audits of one network with several numbers of clusters.

    Made by `sweep_clusters`.

    Attributes
    ----------
    audits : tuple of Clusterability
        One for each number of clusters, from the fewest on.
    """

    audits: tuple[Clusterability, ...]

    @property
    def ks(self) -> list[int]:
        """The numbers of clusters."""
        return [audit.k for audit in self.audits]

    @property
    def p_values(self) -> Floats:
        """For each number of clusters the p-value, corrected for all that were tried; not a number without copies.

        That any of them is at most 0.05 has a chance of 5 % if the network is like its copies.
        """
        copies = np.array([audit.null for audit in self.audits])
        if not copies.shape[1]:
            return np.full(len(self.audits), np.nan)
        return corrected([audit.ncut for audit in self.audits], copies)

    @property
    def p_value(self) -> float:
        """The lowest of them: whether the network is clusterable with any number of clusters that was tried."""
        return float(self.p_values.min())

    @property
    def best(self) -> Clusterability:
        """The audit with the lowest z-score among those of the lowest p: the number of clusters that stands out most.

        Clusterings that have plainly failed are passed over where there are others. Chosen after the fact: test it by
        `p_value`, not by its own.
        """
        sound = [
            number
            for number, audit in enumerate(self.audits)
            if not has_failed(audit.ncut, audit.eigenvalues)
        ]
        p_values = self.p_values
        return self.audits[
            min(
                sound or range(len(self.audits)),
                key=lambda number: (p_values[number], self.audits[number].z_score),
            )
        ]

    def verdict(self) -> str:
        """Return in words what the numbers say."""
        copies = len(self.audits[0].null)
        tried = f"with {_listed(self.ks)} clusters"
        if not copies:
            return f"{tried}: nothing to compare with, for no copies were shuffled."
        found = f"{tried}, {copies} shuffled copies: p = {self.p_value:.3g}, corrected for trying them all"
        if copies < ENOUGH:
            return f"{found}; too few copies to tell."
        if self.p_value > _LEVEL:
            return f"{found}. The network is no more clusterable than its copies with any of them."
        return (
            f"{found}. The network stands out most with {self.best.k} clusters (z = {self.best.z_score:.1f})."
        )

    def __repr__(self) -> str:
        return f"Sweep(k = {_listed(self.ks)}, p = {self.p_value:.2g}, most with k = {self.best.k})"

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each number of clusters."""
        import pandas as pd

        rows = [
            {
                "k": audit.k, "n-cut": audit.ncut, "copies": audit.null_mean, "sd": audit.null_std, "z": audit.z_score,
                "lower by": audit.lower_by, "p": audit.p_value, "corrected p": p_value,
                "depth": audit.depth.share, "stable": audit.stability.agreement,
            }
            for audit, p_value in zip(self.audits, self.p_values, strict=True)
        ]  # fmt: skip
        return pd.DataFrame(rows).set_index("k")

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values: the audits, and what they say together."""
        return {
            "schema": SCHEMA,
            "p_value": nan_to_null(self.p_value),
            "p_values": nan_to_null(self.p_values.tolist()),
            "best_k": self.best.k,
            "audits": [audit.to_dict() for audit in self.audits],
        }


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:-1])) + (
        f" and {numbers[-1]}" if len(numbers) > 1 else str(numbers[-1])
    )
