"""The choices in clustering a layer, checked: how to measure distances, join clusters and judge the result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from ...errors import SpecError, unknown_name

Linkage = Literal["average", "single", "complete", "ward"]
Distance = Literal["cosine", "jaccard", "euclidean"]
Score = Literal["modularity", "silhouette", "calinski-harabasz", "davies-bouldin"]


@dataclass(frozen=True)
class Method:
    """How the units of a layer are clustered; the defaults are the paper's.

    Attributes
    ----------
    linkage : {"average", "single", "complete", "ward"}
        What the distance between two clusters is.
    distance : {"cosine", "jaccard", "euclidean"}
        What the distance between two units is.
    score : {"modularity", "silhouette", "calinski-harabasz", "davies-bouldin"}
        What decides the number of clusters.
    modularity_threshold : float
        A modularity metric above this is too close to 0 to be believed without the separability tests.

    Examples
    --------
    >>> Method(linkage="ward")
    Traceback (most recent call last):
    dovetail.errors.SpecError: linkage 'ward' needs distance='euclidean', not 'cosine'
    """

    linkage: Linkage = "average"
    distance: Distance = "cosine"
    score: Score = "modularity"
    modularity_threshold: float = -0.2

    def __post_init__(self) -> None:
        for what, name, known in (
            ("linkage", self.linkage, Linkage),
            ("distance", self.distance, Distance),
            ("score", self.score, Score),
        ):
            if name not in get_args(known):
                raise unknown_name(what, name, get_args(known))
        if self.linkage == "ward" and self.distance != "euclidean":
            raise SpecError(f"linkage 'ward' needs distance='euclidean', not {self.distance!r}")
        check_number("modularity_threshold", self.modularity_threshold)


def check_number(name: str, value: float) -> None:
    """Refuse what is not a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise SpecError(f"{name} must be a number, not {value!r}")
