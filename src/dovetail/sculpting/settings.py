"""The settings of sculpting and of detecting modules, and what they are where nobody says: by task and depth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from ..errors import SpecError
from ..settings import Number, Settings, Whole

if TYPE_CHECKING:
    from .pruning.problem import Problem

Linkage = Literal["average", "single", "complete", "ward"]
Distance = Literal["cosine", "jaccard", "euclidean"]
Score = Literal["modularity", "silhouette", "calinski-harabasz", "davies-bouldin"]

UNIT_STEPS = tuple(percent / 100 for percent in range(5, 75, 5))
"""The paper's steps for units: 5 to 70 % of the hidden units, in fives."""

EDGE_STEPS = (0.005, 0.01, 0.015, 0.02, 0.025)
"""The paper's steps for edges: 0.5 to 2.5 % of the edges."""

WEIGHT_DECAY = 1e-4

BOOLEAN_THRESHOLDS, DATA_THRESHOLDS = (-0.2, 0.9), (-0.3, 0.6)
"""For the modularity metric and for merging clusters: the paper's for Boolean functions, and for digits."""


def _widths(hidden: object) -> object:
    """Return the units of hidden layers as a tuple: of ``24``, ``"24-24"`` or ``[24, 24]``."""
    if isinstance(hidden, str):
        found = [part.strip() for part in re.split("[-,]", hidden)] if hidden.strip() else []
        hidden = [int(part) if re.fullmatch("[0-9]{1,18}", part) else part for part in found]
    elif isinstance(hidden, int):
        hidden = [hidden]
    widths = tuple(hidden) if isinstance(hidden, Iterable) else hidden
    if widths == ():
        raise SpecError("sculpting needs hidden layers, such as [24] or 24-24 units; got none")
    return widths


def _several(steps: object) -> object:
    """Return steps as a tuple, also where there is only one."""
    return tuple(steps) if isinstance(steps, Iterable) and not isinstance(steps, str) else (steps,)


Share = Annotated[Number, Field(gt=0, le=1)]
Shares = Annotated[tuple[Share, ...], BeforeValidator(_several)]
Widths = Annotated[tuple[Annotated[Whole, Field(ge=1)], ...], BeforeValidator(_widths)]
Count = Annotated[Whole, Field(ge=1)]
NotNegative = Annotated[Number, Field(ge=0)]
MergeThreshold = Annotated[Number, Field(ge=0, lt=1)]


def _typed(default: str, text: str | None = None) -> dict[str, JsonValue]:
    """Return what a command line says of an option: its default, and what to type if that is not the value itself."""
    return {"default_text": default} if text is None else {"default_text": default, "help": text}


class DetectionSettings(Settings):
    """How modules are detected; the defaults are the paper's for Boolean tasks.

    Examples
    --------
    >>> DetectionSettings(linkage="ward")
    Traceback (most recent call last):
    dovetail.errors.SpecError: linkage 'ward' needs the distance 'euclidean', not 'cosine'
    """

    modularity_threshold: Number = Field(
        default=-0.2,
        description="Metric above which tests decide on the clusters of a layer; -0.3 for data.",
        json_schema_extra=_typed("-0.2; a sculpture's own"),
    )
    merge_threshold: MergeThreshold = Field(
        default=0.9,
        description="Share of edges above which clusters of two layers are merged; 0.6 for data.",
        json_schema_extra=_typed("0.9; a sculpture's own"),
    )
    linkage: Linkage = Field(default="average", description="Distance between clusters.")
    distance: Distance = Field(default="cosine", description="Distance between units.")
    score: Score = Field(default="modularity", description="What decides the number of clusters.")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.linkage == "ward" and self.distance != "euclidean":
            raise SpecError(f"linkage 'ward' needs the distance 'euclidean', not {self.distance!r}")
        return self


class SculptSettings(Settings):
    """How networks are sculpted; None means what `for_problem` fills in.

    Examples
    --------
    >>> SculptSettings(hidden="24-12", unit_steps=0.5).hidden
    (24, 12)
    >>> SculptSettings(threshold=5)
    Traceback (most recent call last):
    dovetail.errors.SpecError: threshold must be above 0 and at most 1, not 5: accuracy in validation from which on ...
    """

    hidden: Widths = Field(
        default=(24,),
        description="Units of the hidden layers, such as 24 or 36-36.",
        json_schema_extra=_typed("24"),
    )
    unit_steps: Shares = Field(
        default=UNIT_STEPS,
        description="First steps for units, as shares of all hidden ones; none: leave the phase out.",
        json_schema_extra=_typed(
            "5,10,...,70",
            "Shares of the units to begin pruning with, in percent, such as 25,50; each is a search, in which it is "
            "halved where the task fails; 0: prune none.",
        ),
    )
    edge_steps: Shares = Field(
        default=EDGE_STEPS,
        description="First steps for edges, as shares of all; none: leave the phase out.",
        json_schema_extra=_typed(
            "0.5,1,1.5,2,2.5", "Shares of the edges to begin pruning with, in percent; 0: prune none."
        ),
    )
    threshold: Share | None = Field(
        default=None,
        description="Accuracy in validation from which on the task is done.",
        json_schema_extra=_typed("1 for Boolean tasks, else the dense network's"),
    )
    epochs: Count | None = Field(
        default=None, description="Epochs of every training.", json_schema_extra=_typed("by task")
    )
    lr: Annotated[Number, Field(gt=0)] | None = Field(
        default=None, description="Step size of Adam.", json_schema_extra=_typed("by task")
    )
    batch_size: Count | None = Field(
        default=None, description="Samples per step.", json_schema_extra=_typed("by task")
    )
    noise: NotNegative | None = Field(
        default=None,
        description="Noise on training inputs (standard deviation).",
        json_schema_extra=_typed(".1 for Boolean tasks, else 0"),
    )
    weight_decay: NotNegative = Field(default=WEIGHT_DECAY, description="L2 term on weights and biases.")
    modularity_threshold: Number | None = Field(
        default=None,
        description="Metric above which tests decide on the clusters of a layer.",
        json_schema_extra=_typed("-0.2 for Boolean tasks, else -0.3"),
    )
    merge_threshold: MergeThreshold | None = Field(
        default=None,
        description="Share of edges above which clusters of two layers are merged.",
        json_schema_extra=_typed("0.9 for Boolean tasks, else 0.6"),
    )

    def detection(self) -> dict[str, Any]:
        """Return what `detect_modules` takes of these settings."""
        names = ("modularity_threshold", "merge_threshold")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def for_problem(self, problem: Problem, hidden: Sequence[int]) -> SculptSettings:
        """Return the settings with everything filled in but a threshold that only the dense network can give."""
        usual = preset(problem.name, len(hidden), len(problem.train), boolean=problem.boolean)
        modularity, merge = BOOLEAN_THRESHOLDS if problem.boolean else DATA_THRESHOLDS
        known: dict[str, object] = {
            **usual._asdict(), "threshold": problem.threshold, "noise": problem.noise,
            "modularity_threshold": modularity, "merge_threshold": merge,
        }  # fmt: skip
        missing = {name: value for name, value in known.items() if getattr(self, name) is None}
        return self.model_copy(update={**missing, "hidden": tuple(hidden)})


class ChannelSettings(Settings):
    """How networks with convolutions are sculpted, and how their modules are detected.

    Examples
    --------
    >>> ChannelSettings(unit_steps=0.5).unit_steps
    (0.5,)
    >>> ChannelSettings(epochs=0)
    Traceback (most recent call last):
    dovetail.errors.SpecError: epochs must be at least 1, not 0: epochs of every training
    """

    unit_steps: Shares = Field(
        default=(0.1, 0.3, 0.5),
        description="First steps for channels and units, as shares of all hidden ones; none: leave the phase out.",
    )
    edge_steps: Shares = Field(
        default=(0.01, 0.03),
        description="First steps for edges, as shares of all; none: leave the phase out.",
    )
    threshold: Share | None = Field(
        default=None, description="Accuracy in validation, R² of values, from which on the task is done."
    )
    epochs: Count = Field(default=10, description="Epochs of every training.")
    lr: Annotated[Number, Field(gt=0)] = Field(default=1e-3, description="Step size of Adam.")
    batch_size: Count = Field(default=64, description="Samples per step.")
    weight_decay: NotNegative = Field(default=WEIGHT_DECAY, description="L2 term on weights and biases.")
    modularity_threshold: Number = Field(
        default=DATA_THRESHOLDS[0],
        description="Metric above which tests decide on the clusters of a layer.",
    )
    merge_threshold: MergeThreshold = Field(
        default=DATA_THRESHOLDS[1],
        description="Share of edges above which clusters of two layers are merged.",
    )


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
    """Return how to train networks of a depth for a task with a number of samples.

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
