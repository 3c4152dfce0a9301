"""Settings of units of trials: everything that the paper fixed, spelled out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from ..published_values import read_published
from ..recipe import Scale
from ..unit import Unit
from .tasks import pair_settings, task_name, task_size

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


WIDTHS: dict[Scale, Sequence[int]] = {"paper": (24, 36, 48), "smoke": (12,)}
DEPTHS: dict[Scale, Sequence[int]] = {"paper": (1, 2, 3), "smoke": (1, 2)}
USES: dict[Scale, Sequence[int]] = {"paper": (1, 2, 4, 6, 8), "smoke": (1, 8)}
"""How often the last functions of a task are used: a task has two outputs for each use."""

VALIDATION: dict[str, Sequence[int]] = {
    "input separable": (4, 2, 4),
    "reused": (4, 1, 2, 16),
    "input separable and reused": (6, 3, 3, 3),
    "single": (4, 1, 4),
}
"""The paper's four function graphs for validation (its Figure 6)."""

SEEDS: dict[Scale, Sequence[int]] = {"paper": (0, 1, 2, 5), "smoke": (0, 1)}
"""Those of the authors at paper scale."""
_SEEDS_BEFORE = {"seeds": [0, 1, 2, 3]}
_SMOKE_GRID = {"unit_steps": [0.3, 0.5], "edge_steps": [0.01, 0.02]}


_AUTHORS_NAMES = {"two-digits": "[1568,2,20]", "digit-xor": "[1568,2,3,3]"}


def authors_training(task: str, hidden: Sequence[int]) -> dict[str, float | int] | None:
    """Return how the authors trained networks of an architecture for a task; nothing where they did not.

    Examples
    --------
    >>> authors_training("[4,2,4]", [24, 24])
    {'lr': 0.05, 'batch_size': 8, 'epochs': 10}
    """
    wanted = {"task": _AUTHORS_NAMES.get(task, task), "hidden": "-".join(map(str, hidden))}
    for row in read_published("sculpting_settings"):
        if all(row[key] == value for key, value in wanted.items()):
            return {"lr": float(row["lr"]), "batch_size": int(row["batch"]), "epochs": int(row["epochs"])}
    return None


def boolean_trials(scale: Scale, task: Sequence[int], width: int, depth: int, **changes: Any) -> Unit:
    """Return the unit of a Boolean task: all seeds of one architecture, over the whole grid of first steps.

    Networks for the tasks of `VALIDATION` have their modules detected in all the ways that the paper compares, so
    that recipes share these units.

    Parameters
    ----------
    scale : {"smoke", "paper"}
        At smoke scale: two seeds and four cells of the grid.
    task : sequence of int
        A family.
    width, depth : int
        Units of a hidden layer, and how many of these there are.
    **changes
        Settings that are not the usual ones.

    Examples
    --------
    >>> unit = boolean_trials("paper", [4, 2, 4], 24, 2)
    >>> unit.settings["hidden"], unit.settings["epochs"], len(unit.settings["unit_steps"])
    ([24, 24], 10, 14)
    """
    from ...sculpting.pruning.problem import BOOLEAN_NOISE
    from ...sculpting.settings import BOOLEAN_THRESHOLDS, EDGE_STEPS, UNIT_STEPS, WEIGHT_DECAY, preset

    name, hidden = task_name(task), [width] * depth
    usual = preset(name, depth, task_size(task).samples, boolean=True)._asdict()
    settings = {
        "task": list(task),
        "hidden": hidden,
        "seeds": list(SEEDS[scale]),
        **(authors_training(name, hidden) or usual),
        "noise": BOOLEAN_NOISE,
        "weight_decay": WEIGHT_DECAY,
        "threshold": 1.0,
        "unit_steps": list(UNIT_STEPS),
        "edge_steps": list(EDGE_STEPS),
        "modularity_threshold": BOOLEAN_THRESHOLDS[0],
        "merge_threshold": BOOLEAN_THRESHOLDS[1],
        "choices": CHOICES[scale] if tuple(task) in VALIDATION.values() else None,
    }
    if scale == "smoke":
        return Unit("sculpt/trials", settings | _SMOKE_GRID | changes)
    return Unit("sculpt/trials", settings | changes, settings | usual | _SEEDS_BEFORE | changes)


PAIRS: dict[Scale, dict[str, Any]] = {
    "paper": {"base": "mnist", "pairs": 1_000},
    "smoke": {"base": "digits", "pairs": 20},
}
_ONE_CELL = {"unit_steps": [0.5], "edge_steps": [0.025]}
"""Of the grid for pairs of images: 70 cells of such networks would take a day."""


def pair_trials(
    scale: Scale, name: str, width: int, depth: int, before: Mapping[str, Any] | None = None, **changes: Any
) -> Unit:
    """Return the unit of a task on pairs of images: all seeds of one architecture, one cell of the grid.

    Parameters
    ----------
    scale : {"smoke", "paper"}
        At smoke scale: pairs of the embedded digits.
    name : {"two-digits", "digit-xor"}
        The task.
    width, depth : int
        Units of a hidden layer, and how many of these there are.
    before : mapping, optional
        What else was different in the settings of before.
    **changes
        Settings that are not the usual ones; there is no usual ``threshold``.

    Examples
    --------
    >>> unit = pair_trials("paper", "two-digits", 784, 2, threshold=0.99)
    >>> unit.settings["lr"], unit.settings["batch_size"], unit.settings["epochs"]
    (0.001, 512, 40)
    """
    from ...sculpting.settings import DATA_THRESHOLDS, WEIGHT_DECAY, preset

    task = pair_settings(name, **PAIRS[scale])
    hidden = [width] * depth
    usual = preset(name, depth, task_size(task).samples, boolean=False)._asdict()
    settings = {
        "task": task,
        "hidden": hidden,
        "seeds": list(SEEDS[scale]),
        **(authors_training(name, hidden) or usual),
        "noise": 0.0,
        "weight_decay": WEIGHT_DECAY,
        **_ONE_CELL,
        "modularity_threshold": DATA_THRESHOLDS[0],
        "merge_threshold": DATA_THRESHOLDS[1],
        "choices": None,
    }
    if scale == "smoke":
        return Unit("sculpt/trials", settings | changes)
    older = settings | usual | _SEEDS_BEFORE | changes | dict(before or {})
    return Unit("sculpt/trials", settings | changes, older)
