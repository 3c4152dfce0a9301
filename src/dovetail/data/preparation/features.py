"""Features: what a trunk makes of samples, with the name and the hash of the trunk."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Protocol, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator
from torch import Tensor, nn

from ...errors import DataError, SpecError
from .base import Floats, Preparation, Scales, Shape
from .numbers import Numbers, as_array
from .pictures import Pictures
from .table import Table
from .texts import Texts
from .words import Words

Name = Annotated[str, Field(max_length=500)]
Before = Annotated[Numbers | Table | Words | Pictures | Texts, Field(discriminator="kind")]


class TrunkFacts(BaseModel):
    """What decides the features that a trunk gives.

    Attributes
    ----------
    name : str
        What it is called.
    hash : str
        Hash of its weights.
    network : str
        The class of the network; not its module, as the same class may be imported from several places.
    cut, pool : str
        Where it ends, and how what it gives there becomes one vector.
    takes : str
        How samples are brought to what its network takes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    hash: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    network: Name
    cut: Name
    pool: Name
    takes: Name

    def __str__(self) -> str:
        return f"{self.name} ({self.hash[:8]}, {self.cut}, pool {self.pool}, {self.takes})"


class FrozenTrunk(Protocol):
    """What features need of a trunk; `dovetail.trunks.Trunk` has it."""

    @property
    def facts(self) -> TrunkFacts:
        """What decides its features."""

    def compute(self, x: Tensor, *, device: Any = None) -> Tensor:
        """Return the features of samples as a data set holds them."""

    def features(self, data: Any, *, like: Any = None) -> Any:
        """Return what it makes of a data set, scaled as the features are that something stands on."""

    def layer(self) -> nn.Module:
        """Return it as a module from samples to features."""


class Features(Preparation):
    """What a trunk makes of samples, shifted and scaled: ``(trunk(samples) - shift) / scale``.

    A trunk is far larger than the parts that stand on it, so they only name it. Features that were just computed know
    theirs; a part that was opened from a file takes raw samples once it is given its trunk (``with_trunk``).

    Attributes
    ----------
    trunk : TrunkFacts
        The trunk.
    before : Preparation or None
        What turns raw samples into what the trunk takes, for data of one's own.
    sample_shape : tuple of int
        Shape of a sample as the trunk takes it.
    shape : tuple of int
        Shape of its features.
    shift, scale : tuple of float
        One number for all, or one for each entry of the first axis.
    """

    kind: Literal["features"] = "features"
    trunk: TrunkFacts
    before: Before | None = None
    sample_shape: Shape
    shape: Shape
    shift: Floats = (0.0,)
    scale: Scales = (1.0,)
    _attached: FrozenTrunk | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not {len(self.shift), len(self.scale)} <= {1, self.shape[0]}:
            raise ValueError(
                f"{len(self.shift)} shifts and {len(self.scale)} scales for {self.shape[0]} features"
            )
        if self.before is not None and self.before.input_shape != self.sample_shape:
            raise ValueError(f"samples are prepared to {self.before.input_shape}, not to {self.sample_shape}")
        return self

    def __eq__(self, other: object) -> bool:
        # Whether a trunk is at hand makes no difference to what it is.
        return isinstance(other, Features) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __getstate__(self) -> dict[Any, Any]:
        # A trunk does not travel with every part that names it.
        return {**super().__getstate__(), "__pydantic_private__": {"_attached": None}}

    @property
    def attached(self) -> FrozenTrunk | None:
        """The trunk, if it is at hand."""
        return self._attached

    def with_trunk(self, trunk: FrozenTrunk) -> Features:
        """Return the same with its trunk at hand.

        Raises
        ------
        SpecError
            When it is no trunk, or another one, naming both.
        """
        if not isinstance(getattr(trunk, "facts", None), TrunkFacts):
            kind = f"the text {trunk!r:.80}" if isinstance(trunk, str) else f"a {type(trunk).__name__}"
            raise SpecError(
                f"it takes the trunk {self.trunk}; {kind} is none, dovetail.trunk(...) makes one of it"
            )
        mine, theirs = (facts.model_dump(exclude={"name"}) for facts in (self.trunk, trunk.facts))
        if mine != theirs:
            differ = ", ".join(name for name in mine if mine[name] != theirs[name])
            raise SpecError(
                f"it stands on the trunk {self.trunk}, not on {trunk.facts}; they differ in {differ}"
            )
        twin = self.model_copy()
        twin._attached = trunk
        return twin

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of its features."""
        return self.shape

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Nothing: what a trunk gives has no names."""
        return ()

    @property
    def reads(self) -> Preparation | None:
        """What raw samples are like."""
        return self.before

    def __call__(self, raw: object) -> Tensor:
        """Return the scaled features of raw samples."""
        trunk = self.trunk_at_hand()
        if self.before is None:
            samples = self._samples(raw)
        else:
            samples = self.before.whole(raw) if isinstance(self.before, Texts) else self.before(raw)
        return self.scaled(trunk.compute(samples))

    def trunk_at_hand(self) -> FrozenTrunk:
        """Return the trunk, or say how to get it here."""
        if self._attached is None:
            raise DataError(
                f"its inputs are features of the trunk {self.trunk}, which is not at hand; give it one: "
                "part.with_trunk(trunk), or --trunk on the command line"
            )
        return self._attached

    def scaled(self, features: Tensor) -> Tensor:
        """Return features shifted and scaled."""
        shift, scale = (self._along(values).to(features.device) for values in (self.shift, self.scale))
        return (features.float() - shift) / scale

    def layer(self) -> nn.Module | None:
        """Return a module from raw numbers to scaled features, if the trunk is at hand.

        Where raw samples are pictures of any size, rows of a table or texts, it begins with what the trunk takes:
        pictures of one size from 0 to 1, numbers, a list of texts.
        """
        first = None if self.before is None else self.before.layer()
        layers = [first, self.trunk_at_hand().layer(), _Scaled(self)]
        return nn.Sequential(*[one for one in layers if one is not None]).eval()

    @property
    def layer_shape(self) -> tuple[int, ...]:
        """Shape of a sample as `layer` takes it."""
        return (None if self.before is None else self.before.layer_shape) or self.sample_shape

    def describe(self) -> str:
        """Return what is done."""
        first = "" if self.before is None else f"{self.before.describe()}; then "
        plain = self.shift == (0.0,) and self.scale == (1.0,)
        shape = " × ".join(map(str, self.shape))
        scaled = "" if plain else ", each to mean 0 and variance 1 of the training samples"
        return f"{first}{shape} features of the trunk {self.trunk}{scaled}"

    def _samples(self, raw: object) -> Tensor:
        x = raw if isinstance(raw, Tensor) else torch.from_numpy(as_array(raw).astype("float32", copy=False))
        if x.dim() == 2 and x.shape[1] == math.prod(self.sample_shape):  # pictures as rows of a table
            x = x.unflatten(1, self.sample_shape)
        if tuple(x.shape[1:]) != self.sample_shape:
            raise DataError(f"the trunk takes samples of shape {self.sample_shape}, not {tuple(x.shape[1:])}")
        return x

    def _along(self, values: tuple[float, ...]) -> Tensor:
        return torch.tensor(values, dtype=torch.float32).reshape(-1, *[1] * (len(self.shape) - 1))


class _Scaled(nn.Module):
    """The scaling of features, as a layer."""

    shift: Tensor
    scale: Tensor

    def __init__(self, features: Features) -> None:
        super().__init__()
        self.register_buffer("shift", features._along(features.shift))
        self.register_buffer("scale", features._along(features.scale))

    def forward(self, x: Tensor) -> Tensor:
        """Return features shifted and scaled."""
        return (x - self.shift) / self.scale
