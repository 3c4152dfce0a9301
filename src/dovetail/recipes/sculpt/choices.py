"""The ways to cluster units that the paper compares (its Table 4): linkage, distance, and what decides on k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from ..recipe import Scale

SCORES = ("modularity", "silhouette", "calinski-harabasz", "davies-bouldin")

CHOICES: dict[Scale, dict[str, Any]] = {
    "paper": {
        "pairs": [
            *([linkage, distance] for distance, linkage in product(
                ("jaccard", "cosine", "euclidean"), ("complete", "single", "average"))),
            ["ward", "euclidean"],
        ],
        "scores": list(SCORES),
    },
    "smoke": {"pairs": [["average", "cosine"], ["ward", "euclidean"]], "scores": list(SCORES)},
}  # fmt: skip
"""What a unit's settings say: every pair of linkage and distance with every score."""


class Choice(NamedTuple):
    """One way to cluster units."""

    linkage: str
    distance: str
    score: str

    def __str__(self) -> str:
        return " ".join(self)


def choices_of(settings: Mapping[str, Any] | None) -> Iterator[Choice]:
    """Yield the choices that a unit's settings ask for.

    Examples
    --------
    >>> len(list(choices_of(CHOICES["paper"]))), str(next(choices_of(CHOICES["smoke"])))
    (40, 'average cosine modularity')
    """
    if settings is not None:
        for (linkage, distance), score in product(settings["pairs"], settings["scores"]):
            yield Choice(linkage, distance, score)
