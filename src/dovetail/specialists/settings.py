"""Everything that decides how specialists are trained, checked at the border."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from numbers import Real
from typing import Literal

from ..errors import SpecError, unknown_name
from ..nets import NetSpec
from ..prune import rate_per_round
from .objectives import LOSSES


@dataclass(frozen=True)
class Settings:
    """How specialists are trained: the same for all of a call.

    Attributes
    ----------
    net : NetSpec
        The architecture.
    loss : {"me", "qme", "xe"}
        The objective.
    sparsity : float
        Share of weights to prune.
    rounds : int
        Pruning rounds before the last training; 0 when nothing is pruned.
    epochs, round_epochs : int
        Epochs of the last training, and of each pruning round.
    temperature : float
        What logits are divided by.
    slots : bool
        Whether each specialist keeps to its own share of every hidden layer.
    lr : float
        Step size of Adam.
    batch_size, patience : int
        Samples per step; epochs without a better validation score after which a network stops.
    monitor : {"loss", "rewarded_accuracy"}
        The validation score: the lowest loss, or the highest accuracy on rewarded classes.
    scope : {"tensor", "global"}
        Prune the share in every tensor, or rank all together.
    output_share : float
        With ``scope="tensor"``: the output layer's pruning rate as a share of the others'.
    """

    net: NetSpec
    loss: str
    sparsity: float
    rounds: int
    epochs: int
    round_epochs: int
    temperature: float
    slots: bool
    lr: float
    batch_size: int
    patience: int | None
    monitor: str
    scope: Literal["tensor", "global"]
    output_share: float

    def __post_init__(self) -> None:
        if not isinstance(self.slots, bool):
            raise SpecError(f"slots is True or False; got {self.slots!r:.40}")
        if self.loss not in LOSSES:
            raise unknown_name("loss", self.loss, LOSSES)
        if not 0 <= self.sparsity < 1:
            raise SpecError(
                f"sparsity is the share of weights to prune, from 0 to below 1; got {self.sparsity}"
            )
        for name in ("temperature", "lr"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise SpecError(f"{name} must be a positive number; got {value}")
        if self.monitor not in ("loss", "rewarded_accuracy"):
            raise unknown_name("score to monitor", self.monitor, ["loss", "rewarded_accuracy"])
        if self.scope not in ("tensor", "global"):
            raise unknown_name("scope", self.scope, ["tensor", "global"])
        if not 0 <= self.output_share <= 1:
            raise SpecError(
                f"output_share is a share of the pruning rate, from 0 to 1; got {self.output_share}"
            )

    @property
    def rate(self) -> float:
        """Share of what is left to prune in each round."""
        return rate_per_round(self.sparsity, self.rounds)

    def to_json(self) -> dict[str, object]:
        """Return the settings as plain values, by the names under which `train_specialists` takes them."""
        return asdict(self) | {"net": str(self.net)}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Settings:
        """Return the settings that `to_json` wrote, and nothing else."""
        names = {field.name for field in fields(cls)}
        if set(content) != names:
            odd = sorted(set(content) ^ names)
            raise SpecError(
                f"these are not the settings of a training: {', '.join(odd)[:80]} missing or unknown"
            )
        return settle(**content)  # type: ignore[arg-type]


def settle(
    net: str | NetSpec,
    *,
    loss: str,
    sparsity: float | None,
    rounds: int,
    epochs: int,
    round_epochs: int | None,
    temperature: float,
    slots: bool,
    lr: float,
    batch_size: int,
    patience: int | None,
    monitor: str,
    scope: Literal["tensor", "global"],
    output_share: float,
) -> Settings:
    """Return the settings with the paper's values for what was left open.

    Examples
    --------
    >>> options = dict(loss="me", rounds=2, epochs=20, round_epochs=None, temperature=5.0, slots=False, lr=1e-3,
    ...                batch_size=64, patience=3, monitor="loss", scope="tensor", output_share=0.5)
    >>> settled = settle("mlp:512", sparsity=None, **options)
    >>> settled.sparsity, settled.round_epochs, round(settled.rate, 6)
    (0.99, 10, 0.9)
    """
    spec = net if isinstance(net, NetSpec) else NetSpec.parse(net)
    rounds, epochs = _whole("rounds", rounds, least=0), _whole("epochs", epochs)
    if sparsity is None:
        sparsity = 0.0 if slots else 0.99 if spec.name == "mlp" else 0.6
    if not sparsity or not rounds:
        sparsity, rounds = 0.0, 0
    if round_epochs is None:
        round_epochs = max(1, epochs // max(1, rounds))
    if patience is not None:
        patience = _whole("patience", patience)
    return Settings(
        spec, loss, _number("sparsity", sparsity), rounds, epochs, _whole("round_epochs", round_epochs),
        _number("temperature", temperature), slots, _number("lr", lr), _whole("batch_size", batch_size),
        patience, monitor, scope, _number("output_share", output_share),
    )  # fmt: skip


def _whole(name: str, value: object, least: int = 1) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise SpecError(f"{name} must be a whole number; got {value!r:.40}") from None
    if number < least:
        raise SpecError(f"{name} must be a whole number of at least {least}; got {number}")
    return number


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SpecError(f"{name} must be a number; got {value!r:.40}")
    return float(value)
