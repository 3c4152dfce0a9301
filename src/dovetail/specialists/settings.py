"""The settings of training specialists, declared once: signature, command line, files and checks follow."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from ..errors import SpecError
from ..settings import Number, Settings, Whole
from .own_functions import OWN_NAME

Loss = Literal["me", "qme", "xe"]
Monitor = Literal["loss", "rewarded_accuracy"]
Scope = Literal["tensor", "global"]
AdamThrough = Literal["fresh", "carried"]
OptimizerName = Literal["adam", "adamw", "sgd"]
ScheduleName = Literal["cosine", "linear", "one-cycle"]  # as in population.schedules
Autocast = Literal["bfloat16"]
Keep = Literal["best", "last"]  # as in population.history, which the command line need not wait for


def _flag(value: object) -> object:
    if not isinstance(value, bool):
        raise ValueError("True or False")
    return value


def _warmup(value: object) -> object:
    if not isinstance(value, bool):
        if isinstance(value, Integral) and int(value) >= 0:
            return int(value)
        if isinstance(value, Real) and 0 <= float(value) < 1:
            return float(value)
        if (
            isinstance(value, float) and value > 1 and value.is_integer()
        ):  # as command lines give whole numbers
            return int(value)
    raise ValueError("a share of all steps below 1, or a whole number of steps")


def _own(value: str) -> str:
    if not OWN_NAME.fullmatch(value):
        raise ValueError("a function")
    return value


Warmup = Annotated[float | int, BeforeValidator(_warmup)]
"""A share of all steps, or how many."""

OwnFunction = Annotated[str, AfterValidator(_own)]
"""What files call a function of a user's (`function_name`)."""


def _typed(default: str) -> dict[str, JsonValue]:
    """Return what a command line says the default is."""
    return {"default_text": default}


class TrainingSettings(Settings):
    """How specialists are trained, the same for all of a call; None means what `train_specialists` fills in.

    Examples
    --------
    >>> TrainingSettings(sparsity=0.9).rounds
    2
    >>> TrainingSettings(sparsity=1.5)
    Traceback (most recent call last):
    dovetail.errors.SpecError: sparsity must be from 0 to below 1, not 1.5: share of weights and biases to prune
    """

    net: Annotated[str, BeforeValidator(str)] = Field(
        default="mlp:512", description="Architecture, such as mlp:512-256 or lenet."
    )
    loss: Loss | OwnFunction = Field(
        default="me",
        description="The objective: undecided, all but undecided, or blind to other classes.",
        json_schema_extra={
            "help": "What samples of other classes are to give, a name or a loss of yours as package.module:function; "
            "equal shares of all classes, equal shares of those that are not rewarded, or nothing, as none is seen."
        },
    )
    sparsity: Annotated[Number, Field(ge=0, lt=1)] | None = Field(
        default=None,
        description="Share of weights and biases to prune.",
        json_schema_extra=_typed(".99 for mlp, .6 for others, 0 with slots"),
    )
    rounds: Annotated[Whole, Field(ge=0)] = Field(default=2, description="In how many rounds to prune.")
    epochs: Annotated[Whole, Field(ge=1)] = Field(default=20, description="Epochs of the last training.")
    round_epochs: Annotated[Whole, Field(ge=1)] | None = Field(
        default=None,
        description="Epochs of each pruning round.",
        json_schema_extra=_typed("epochs / rounds"),
    )
    temperature: Annotated[Number, Field(gt=0)] = Field(
        default=5.0, description="What logits are divided by."
    )
    slots: Annotated[bool, BeforeValidator(_flag)] = Field(
        default=False, description="Give each class its own share of every hidden layer."
    )
    optimizer: OptimizerName = Field(default="adam", description="What takes the steps, in torch's words.")
    lr: Annotated[Number, Field(gt=0)] | None = Field(
        default=None,
        description="Step size of the optimizer.",
        json_schema_extra=_typed("1e-3; 0.1 for sgd"),
    )
    momentum: Annotated[Number, Field(ge=0, lt=1)] | None = Field(
        default=None,
        description="Share of the step before that sgd takes along.",
        json_schema_extra=_typed("0.9 for sgd"),
    )
    nesterov: Annotated[bool, BeforeValidator(_flag)] = Field(
        default=False, description="Let sgd look ahead along its momentum."
    )
    weight_decay: Annotated[Number, Field(ge=0)] | None = Field(
        default=None,
        description="Weight of Σ w² / 2 in the loss; with adamw what a step of size 1 shrinks weights by.",
        json_schema_extra=_typed("0; 0.01 for adamw"),
    )
    schedule: ScheduleName | None = Field(
        default=None,
        description="How step sizes fall over the epochs of each training.",
        json_schema_extra=_typed("they stay as they are"),
    )
    warmup: Warmup | None = Field(
        default=None,
        description="For which share of all steps, or for how many of them, step sizes rise first.",
        json_schema_extra=_typed("0; 0.3 for one-cycle"),
    )
    label_smoothing: Annotated[Number, Field(ge=0, le=1)] = Field(
        default=0.0,
        description="Share of the label of rewarded classes that is spread over all classes in training.",
    )
    clip_gradient: Annotated[Number, Field(gt=0)] | None = Field(
        default=None,
        description="Greatest length of a network's gradient.",
        json_schema_extra=_typed("not clipped"),
    )
    autocast: Autocast | None = Field(
        default=None,
        description="Compute the layers of training steps in this type.",
        json_schema_extra=_typed("float32"),
    )
    batch_size: Annotated[Whole, Field(ge=1)] = Field(default=64, description="Samples per step.")
    patience: Annotated[Whole, Field(ge=1)] | None = Field(
        default=3,
        description="Epochs without a better validation score after which a network stops.",
        json_schema_extra={
            "help": "Stop after this many epochs without a better validation score; 0: never."
        },
    )
    monitor: Monitor = Field(default="loss", description="The validation score that decides.")
    keep: Keep = Field(
        default="best",
        description="Prune and keep each network's best epoch on the validation split, or the last it trained.",
    )
    adam: AdamThrough = Field(
        default="fresh",
        description="A fresh Adam (or AdamW) in every round, or one carried through all of them.",
    )
    scope: Scope = Field(
        default="tensor", description="Prune the share in each tensor, or rank all weights together."
    )
    output_share: Annotated[Number, Field(ge=0, le=1)] = Field(
        default=0.5, description="The output layer's pruning rate as a share of the others'."
    )

    balanced: Annotated[bool, BeforeValidator(_flag)] = Field(
        default=False, description="Let all classes count the same, however many samples they have."
    )
    card_directions: Annotated[Whole, Field(ge=0)] | None = Field(
        default=None,
        description="Directions in which the card of a class keeps how its samples vary together.",
        json_schema_extra=_typed("16, fewer of more than 512 numbers"),
    )
    augment: OwnFunction | None = Field(
        default=None,
        description="What changes training inputs.",
        json_schema_extra={"help": "What changes training inputs: package.module:function."},
    )
    sample_weights: Annotated[str, Field(max_length=16)] | None = Field(
        default=None,
        description="Hash of how much training samples count.",
        json_schema_extra={"command_line": False},
    )

    @property
    def only_named(self) -> tuple[str, ...]:
        """What files name and do not hold, so that nobody can train so from a file: functions, weights of samples."""
        loss = self.loss if OWN_NAME.fullmatch(self.loss) else None
        given = {"loss": loss, "augment": self.augment, "sample_weights": self.sample_weights}
        return tuple(name for name, value in given.items() if value is not None)

    @classmethod
    def from_provenance(cls, content: Mapping[str, Any]) -> Self:
        """Return the settings that a specialist's provenance holds; those younger than it had their defaults."""
        odd = sorted(set(content) - set(cls.model_fields))
        if odd:
            raise SpecError(f"these are not the settings of a training: {', '.join(odd)[:80]} unknown")
        return cls(**content)
