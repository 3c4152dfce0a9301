"""A condition: which specialists are trained on what. Its unit is the same in all recipes that need it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from ..published_values import PublishedFile, published
from ..recipe import Scale
from ..tables import Quantity
from ..unit import Unit
from .data_sets import DATA_SETS, data_settings
from .training import SEEDS, TRAINING, Options

T = TypeVar("T")

PAIRS: dict[Scale, int] = {"paper": 10, "smoke": 4}
ORDERS: dict[Scale, int] = {"paper": 10, "smoke": 3}
PATHS: dict[Scale, Options] = {
    "paper": {"points": 11, "train_samples": 10_000},
    "smoke": {"points": 6, "train_samples": 500},
}
PATH_PAIRS: dict[Scale, int] = {"paper": 3, "smoke": 2}
METHOD_INPUTS = {"shallow": 512, "deep": 512, "cnn": 128}
"""Unlabelled samples for methods that need some; few for the CNN, as the fit runs on one core."""


@dataclass(frozen=True)
class Condition:
    """Specialists of one kind: a set of rewarded classes each, all seeds.

    Attributes
    ----------
    scale : {"smoke", "paper"}
        Whether this is in small.
    data, model : str
        A case of `CASES`; the model is ``"shallow"``, ``"deep"`` or ``"cnn"``.
    size : int
        How many classes a specialist is rewarded for, |R|.
    loss : {"me", "qme", "xe"}
        The objective.
    sparsity : float, optional
        Share of weights that is pruned, 0 for none; the paper's by default.
    temperature : float, optional
        What logits are divided by; the paper's by default.
    pairs : int, optional
        Take only so many of the pairs, from all over them.
    net : str, optional
        Another network than the model's.
    slots : bool
        Whether specialists keep to slots.

    Examples
    --------
    >>> condition = Condition("paper", "mnist", "shallow", size=2)
    >>> condition.labels
    {'data': 'mnist', 'net': 'shallow', '|R|': 2, 'pruned': '99 %', 'loss': 'ME'}
    >>> len(condition.unit.settings["pairs"]), condition.unit.settings["train"]["net"]
    (10, 'mlp:512')
    """

    scale: Scale
    data: str
    model: str
    size: int = 1
    loss: str = "me"
    sparsity: float | None = None
    temperature: float | None = None
    pairs: int | None = None
    net: str | None = None
    slots: bool = False

    @property
    def classes(self) -> int:
        """How many classes the data has."""
        return DATA_SETS[self.data].classes

    @cached_property
    def train(self) -> Options:
        """All options of the training."""
        chosen = {"net": self.net, "sparsity": self.sparsity, "temperature": self.temperature}
        train = TRAINING[self.data][self.model] | {
            n: value for n, value in chosen.items() if value is not None
        }
        if self.slots:
            train["sparsity"] = 0.0
        rounds = train["rounds"] if train["sparsity"] else 0
        round_epochs = train["epochs"] // rounds if rounds else None
        return {
            **train,
            "loss": self.loss,
            "slots": self.slots,
            "rounds": rounds,
            "round_epochs": round_epochs,
        }

    @property
    def pruned(self) -> bool:
        """Whether anything is pruned."""
        return bool(self.train["sparsity"])

    @property
    def as_printed(self) -> bool:
        """Whether all settings are those of the paper's tables, pruned or not."""
        own = TRAINING[self.data][self.model]
        names = ("net", "temperature", "sparsity") if self.pruned else ("net", "temperature")
        return not self.slots and all(self.train[name] == own[name] for name in names)

    @cached_property
    def unit(self) -> Unit:
        """The work: training, and all that any recipe measures on these specialists."""
        from ...specialists.class_sets import disjoint_pairs

        drawn = evenly(disjoint_pairs(self.classes, self.size, PAIRS[self.scale]), self.pairs)
        pairs = [] if self.net else [[list(first), list(second)] for first, second in drawn]
        sets = sorted({ids for pair in drawn for ids in pair})
        if self.size == 1:
            sets = [(number,) for number in range(self.classes)]
        return Unit(
            "maxent/specialists",
            {
                "data": data_settings(self.data),
                "train": self.train,
                "seeds": list(SEEDS[self.scale]),
                "rewarded": [list(ids) for ids in sets],
                "pairs": pairs,
                **self._measures(pairs),
            },
        )

    def _measures(self, pairs: list[Any]) -> dict[str, Any]:
        """Return what is measured beside single specialists and pairs."""
        whole = self.loss == "me" and self.size == 1
        methods: list[str] = []
        if whole and self.net:
            methods = ["logits"]
        elif whole and self.pruned and self.as_printed:
            methods = ["logits", "ties", "calibrated"]
        paths: dict[str, Any] | None = None
        if self.loss == "me" and self.pruned and not self.net:
            some = evenly(pairs, PATH_PAIRS[self.scale])
            paths = {"pairs": some, "steps": whole, **PATHS[self.scale]}
        return {
            "orders": ORDERS[self.scale] if whole else 0,
            "methods": methods,
            "method_inputs": METHOD_INPUTS[self.model] if "calibrated" in methods else 0,
            "confusions": self.loss == "me" and not self.net,
            "paths": paths,
        }

    @property
    def labels(self) -> dict[str, object]:
        """What stands in front of a row of a table."""
        sparsity = f"{100 * self.train['sparsity']:g} %" if self.pruned else "no"
        return {
            "data": self.data, "net": self.model, "|R|": self.size, "pruned": sparsity, "loss": self.loss.upper(),
        }  # fmt: skip

    def published(self, name: PublishedFile, metric: str) -> Quantity | None:
        """Return what the paper printed for these specialists; nothing for those that it does not have."""
        if self.scale != "paper" or not self.as_printed:
            return None
        labels: dict[str, object] = {
            "dataset": self.data,
            "model": self.model,
            "imp": "yes" if self.pruned else "no",
        }
        if name == "maxent_table4":
            labels |= {"rewarded": self.size, "loss": self.loss}
        return published(name, **labels, metric=metric)


def evenly(items: list[T], count: int | None) -> list[T]:
    """Return so many of the items, from all over them; all by default.

    Examples
    --------
    >>> evenly([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 4)
    [0, 3, 6, 9]
    """
    if count is None or count >= len(items):
        return items
    return [items[place * (len(items) - 1) // max(1, count - 1)] for place in range(count)]
