"""How networks are trained while they are sculpted, where the user does not say: by task and depth."""

from __future__ import annotations

from typing import NamedTuple

UNIT_STEPS = tuple(percent / 100 for percent in range(5, 75, 5))
"""The paper's steps for units: 5 to 70 % of the hidden units, in fives."""

EDGE_STEPS = (0.005, 0.01, 0.015, 0.02, 0.025)
"""The paper's steps for edges: 0.5 to 2.5 % of the edges."""

WEIGHT_DECAY = 1e-4

BOOLEAN_THRESHOLDS, DATA_THRESHOLDS = (-0.2, 0.9), (-0.3, 0.6)
"""For the modularity metric and for merging clusters: the paper's for Boolean functions, and for digits."""


class Preset(NamedTuple):
    """Settings of a training."""

    lr: float
    batch_size: int
    epochs: int


def _depths(lr: float, batch_size: int, *epochs: int) -> tuple[Preset, ...]:
    return tuple(Preset(lr, batch_size, count) for count in epochs)


# Step sizes and batches are in the paper's range. Epochs are about as many as twelve dense networks needed to learn the
# task (the paper has 15, 10, 20 for [4,2,4]); for [4,1,2,m], [6,3,3,3] and [8,2,1,2,m], tasks that the paper tuned by
# success, all three are what did best of a few dozen settings (docs/further-results.md).
_BY_FAMILY: dict[str, tuple[Preset, ...]] = {
    "[4,2,4]": _depths(0.05, 8, 20, 15, 30),
    "[4,1,4]": _depths(0.05, 8, 40, 20, 30),
    "[6,3,3,3]": _depths(0.05, 32, 20, 10, 12),
    "[4,1,2,m]": (Preset(0.1, 8, 30), Preset(0.1, 4, 20), Preset(0.1, 16, 40)),
    "[8,2,m]": _depths(0.05, 32, 30, 30, 40),
    "[7,3,2,m]": _depths(0.1, 64, 60, 80, 100),
    "[6,3,2,m]": _depths(0.1, 32, 60, 80, 100),
    "[5,3,2,m]": _depths(0.1, 16, 60, 80, 100),
    "[4,1,2,2,m]": _depths(0.1, 16, 60, 80, 100),
    "[8,2,1,2,m]": _depths(0.1, 128, 60, 80, 120, 120),
}
"""For one, two, three hidden layers; deeper networks train like the deepest."""

_BOOLEAN = Preset(0.05, 32, 60)
_DATA_STEPS = 2_000
"""Steps that a training on data takes at least; it goes over the data ten times or more often."""


def preset(task: str, hidden_layers: int, samples: int, *, boolean: bool) -> Preset:
    """Return how to train networks of a depth for a task with so many samples.

    Examples
    --------
    >>> preset("[4,2,4]", 2, 16, boolean=True)
    Preset(lr=0.05, batch_size=8, epochs=15)
    >>> preset("digits", 1, 1_149, boolean=False)
    Preset(lr=0.001, batch_size=32, epochs=56)
    """
    family = _family(task)
    if family in _BY_FAMILY:
        by_depth = _BY_FAMILY[family]
        return by_depth[min(max(hidden_layers, 1), len(by_depth)) - 1]
    if boolean:
        return _BOOLEAN
    batch_size = 32 if samples < 10_000 else 256
    return Preset(1e-3, batch_size, max(10, -(-_DATA_STEPS // -(-samples // batch_size))))


def _family(task: str) -> str:
    """Return the name of a task with m for its number of outputs, where presets do not depend on it."""
    if task in _BY_FAMILY or not task.startswith("["):
        return task
    return f"{task.rpartition(',')[0]},m]"
