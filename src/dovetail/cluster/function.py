"""Function: whether units of one cluster cost the same classes, more than which layer they are in explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import adjusted_rand_score

from ..errors import ShapeError, SpecError
from ..graph.graph import Floats, Indices
from ..io.fields import nan_to_null
from ..result import Result
from .audit import Clusterability
from .checks import whole_number
from .null import Null
from .partition.kmeans import kmeans
from .profiles import Profiles

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "dovetail.function/1"

_STARTS = 25
_LEVEL = 0.05


def function_of_clusters(
    profiles: Profiles,
    found: Clusterability | ArrayLike,
    *,
    permutations: int = 999,
    seed: int = 0,
) -> FunctionOfClusters:
    """Compare clusters by weights with what units do, beside clusters with as many units of every layer at random.

    Parameters
    ----------
    profiles : Profiles
        Which classes each unit costs, from `lesion_profiles`.
    found : Clusterability or int array
        What `clusterability` found in the same graph, or a cluster for each of its nodes (-1: in none).
    permutations : int
        How often clusters are dealt out anew among the units of each layer.
    seed : int
        Decides how, and the starts of k-means.

    Returns
    -------
    FunctionOfClusters
        What layers, clusters, and both together explain of the profiles, with p-values.

    Notes
    -----
    *Explained* is the share of the variance of profiles' directions that lies between groups of units. Layers explain
    some of it, and clusters are partly bands of layers. So the null keeps depth: each layer has as many units of each
    cluster as before, but others.

    Examples
    --------
    >>> import dovetail as dt
    >>> data, network = dt.load("digits"), dt.build_net("mlp:16-16", (1, 8, 8), 10, seed=0)
    >>> found = dt.clusterability(network, k=3, shuffles=0, progress=False)
    >>> profiles = dt.lesion_profiles(network, data.test, graph=found.graph, progress=False)
    >>> beside = dt.function_of_clusters(profiles, found, permutations=99)
    >>> bool(0 < beside.p_value <= 1)
    True
    """
    permutations = whole_number("permutations", permutations, least=1)
    rng = np.random.default_rng(whole_number("seed", seed, least=0))
    labels = _labels(profiles, found)
    directions = profiles.directions
    used = (labels >= 0) & np.isfinite(directions).all(1)
    labels, points, layers = labels[used], directions[used], profiles.groups[used]
    if len(np.unique(labels)) < 2:
        raise SpecError(
            f"there must be two clusters at least among units that do something; of {len(used)} there are "
            f"{int(used.sum())}, in {len(np.unique(labels))}"
        )
    k = len(np.unique(labels))
    by_function = kmeans(points, k, _STARTS, rng)

    def measured(labels: Indices) -> tuple[float, float]:
        both = explained(points, layers * (labels.max() + 1) + labels)
        return both, float(adjusted_rand_score(by_function, labels))

    of_layers, (both, agreement) = explained(points, layers), measured(labels)
    null = np.empty((permutations, 2))
    anywhere = np.empty(permutations)
    for number in range(permutations):
        null[number] = measured(_within(labels, layers, rng))
        anywhere[number] = explained(points, rng.permutation(labels))
    return FunctionOfClusters(
        k=k, units=int(used.sum()), left_out=int((~used).sum()), reliability=profiles.reliability,
        by_layers=of_layers, by_clusters=explained(points, labels), anywhere=anywhere,
        by_both=both, within_layers=null[:, 0], agreement=agreement, chance_agreement=null[:, 1],
    )  # fmt: skip


def explained(points: Floats, groups: Indices) -> float:
    """Return the share of the variance of points that lies between groups of them; 0 where all points are one.

    Examples
    --------
    >>> explained(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1]))
    1.0
    """
    away = points - points.mean(0)
    whole = float((away**2).sum())
    _, group = np.unique(groups, return_inverse=True)
    sums = np.zeros((group.max() + 1, points.shape[1]))
    np.add.at(sums, group, away)
    between = float((sums**2 / np.bincount(group)[:, None]).sum())
    return between / whole if whole > 0 else 0.0


def _within(labels: Indices, layers: Indices, rng: np.random.Generator) -> Indices:
    """Return labels that changed places within their layers."""
    order = np.argsort(layers, kind="stable")
    mixed = np.empty_like(labels)
    mixed[order] = labels[np.lexsort((rng.random(len(labels)), layers))]
    return mixed


def _labels(profiles: Profiles, found: Clusterability | ArrayLike) -> Indices:
    """Return the cluster of each thing that was removed: of a head the one that most of its units are in."""
    given = found.labels if isinstance(found, Clusterability) else np.asarray(found)
    if given.shape != (len(profiles.graph),):
        raise ShapeError(
            f"labels of shape {given.shape} for profiles of {profiles.graph!r}; one for each node is needed: measure "
            "profiles with graph=found.graph"
        )
    if given.dtype.kind not in "iu":
        raise SpecError(f"labels are whole numbers, -1 for nodes in no cluster; got {given.dtype}")
    return np.array([_most(given[nodes]) for nodes in profiles.nodes], dtype=np.int64)


def _most(labels: Indices) -> int:
    inside = labels[labels >= 0]
    return int(np.bincount(inside).argmax()) if len(inside) else -1


@dataclass(frozen=True, eq=False)
class FunctionOfClusters(Result):
    """How far clusters by weights tell which classes a unit's removal costs, beside its layer.

    Made by `function_of_clusters`.

    Attributes
    ----------
    k : int
        Clusters by weights among the units.
    units, left_out : int
        Units that were compared, and those without a cluster or a profile.
    reliability : float
        Of the profiles; see `Profiles.reliability`. What nothing can explain is noise.
    by_layers, by_clusters, by_both : float
        The share of the variance of profiles that lies between layers, between clusters, and between both together.
    anywhere : float array
        What clusters explain when they are dealt out anew among all units.
    within_layers : float array
        What layers and clusters explain together when clusters are dealt out anew within layers.
    agreement : float
        Adjusted Rand index of clusters by weights with as many clusters by function, those of k-means on profiles.
    chance_agreement : float array
        The same with clusters by weights dealt out anew within layers.
    """

    k: int
    units: int
    left_out: int
    reliability: float
    by_layers: float
    by_clusters: float
    anywhere: Floats
    by_both: float
    within_layers: Floats
    agreement: float
    chance_agreement: Floats

    @property
    def p_value(self) -> float:
        """How often clusters dealt out anew within layers explain as much as these: the test that keeps depth."""
        return Null(-self.by_both, -self.within_layers).p_value

    @property
    def p_anywhere(self) -> float:
        """How often clusters dealt out anew among all units explain as much: small for mere bands of depth, too."""
        return Null(-self.by_clusters, -self.anywhere).p_value

    @property
    def p_agreement(self) -> float:
        """How often clusters dealt out anew within layers agree as much with clusters by function."""
        return Null(-self.agreement, -self.chance_agreement).p_value

    @property
    def gain(self) -> float:
        """What clusters explain beyond layers, less what clusters dealt out anew within layers do."""
        return self.by_both - float(self.within_layers.mean())

    def verdict(self) -> str:
        """Return in words what the numbers say."""
        found = (
            f"which classes a unit's removal costs: layers explain {self.by_layers:.0%}, clusters "
            f"{self.by_clusters:.0%}, both {self.by_both:.0%}; clusters at random within layers, with them, "
            f"{self.within_layers.mean():.0%} ± {self.within_layers.std():.0%}."
        )
        says = (
            "predict function better than depth alone"
            if self.p_value <= _LEVEL
            else "say no more than depth does"
        )
        return (
            f"{found}\nClusters by weights {says} (p = {self.p_value:.3g}). They agree with clusters by function by "
            f"{self.agreement:.2f} (adjusted Rand index; at random within layers {self.chance_agreement.mean():.2f}, "
            f"p = {self.p_agreement:.3g}). Halves of the samples agree by {self.reliability:.2f} on what units do."
        )

    def __repr__(self) -> str:
        return (
            f"FunctionOfClusters({self.units} units, explained by layers {self.by_layers:.3f}, with {self.k} clusters "
            f"{self.by_both:.3f}, p = {self.p_value:.3g}, agreement {self.agreement:.3f})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table: what was measured, beside chance."""
        import pandas as pd

        rows = [
            ("explained by layers", self.by_layers, None, None, None),
            ("explained by clusters", self.by_clusters, self.anywhere.mean(), self.anywhere.std(), self.p_anywhere),
            ("explained by both", self.by_both, self.within_layers.mean(), self.within_layers.std(), self.p_value),
            (
                "agreement with clusters by function", self.agreement, self.chance_agreement.mean(),
                self.chance_agreement.std(), self.p_agreement,
            ),
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=["what", "found", "at random", "sd", "p"]).set_index("what")

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values."""
        arrays = ("anywhere", "within_layers", "chance_agreement")
        numbers = (
            "k",
            "units",
            "left_out",
            "reliability",
            "by_layers",
            "by_clusters",
            "by_both",
            "agreement",
        )
        tests = ("p_value", "p_anywhere", "p_agreement", "gain")
        return {
            "schema": SCHEMA,
            **{name: nan_to_null(getattr(self, name)) for name in (*numbers, *tests)},
            **{name: getattr(self, name).tolist() for name in arrays},
        }
