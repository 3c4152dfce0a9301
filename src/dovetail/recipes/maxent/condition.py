"""Conditions of the MaxEnt paper: which specialists are trained how on what.

The unit of a condition is the same in all recipes that need it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from ..data import DATA_SIZES
from ..line import Line
from ..published_values import PublishedFile, published_columns
from ..recipe import Scale
from ..tables import Quantity
from ..unit import Unit

T = TypeVar("T")

Options = dict[str, Any]

# How the authors' program scales inputs; Fashion-MNIST has the mean and deviation of MNIST there.
_MNIST, _FASHION = "shift=0.5,scale=0.5", "shift=0.1307,scale=0.3081"

_COMMON: Options = {
    "temperature": 5.0, "rounds": 2, "epochs": 20, "lr": 1e-3, "batch_size": 64, "patience": 3, "monitor": "loss",
    "scope": "tensor", "output_share": 0.5,
}  # fmt: skip
_MLP: Options = {**_COMMON, "sparsity": 0.99}
_CNN: Options = {**_COMMON, "sparsity": 0.6, "epochs": 15}
_HAR: Options = {**_MLP, "epochs": 25, "lr": 1e-4}
_YEAST: Options = {**_MLP, "epochs": 25}
_SMOKE: Options = {**_MLP, "sparsity": 0.9, "epochs": 12, "lr": 1e-2, "batch_size": 128}


def _images(inputs: str) -> dict[str, Options]:
    return {
        "shallow": {**_MLP, "net": f"mlp:512,{inputs}"},
        "deep": {**_MLP, "net": f"mlp:512-256,{inputs}"},
        "cnn": {**_CNN, "net": f"lenet,{inputs}"},
    }


TRAINING: dict[str, dict[str, Options]] = {
    "mnist": _images(_MNIST),
    "fashion-mnist": _images(_FASHION),
    "har": {
        "shallow": {**_HAR, "net": "mlp:512,dropout=0"},
        "deep": {**_HAR, "net": "mlp:512-256,dropout=0"},
    },
    "yeast": {
        "shallow": {**_YEAST, "net": "mlp:256,dropout=0.2"},
        "deep": {**_YEAST, "net": "mlp:128-64,dropout=0.2"},
    },
    "digits": {
        "cnn": {**_SMOKE, "net": "lenet:8-16-8", "sparsity": 0.6},
        "shallow": {**_SMOKE, "net": "mlp:64,dropout=0"},
        "deep": {**_SMOKE, "net": "mlp:64-32,dropout=0"},
    },
}
"""By data and model. Dropout is that of the architecture where none is named: .5 for ``mlp``, 0 for ``lenet``."""

SEEDS: dict[Scale, tuple[int, ...]] = {"paper": (0, 1, 2, 3, 4), "smoke": (0, 1)}

CASES: dict[Scale, tuple[tuple[str, str], ...]] = {
    "paper": tuple(
        (data, model)
        for model in ("shallow", "deep", "cnn")
        for data in ("mnist", "fashion-mnist", "har", "yeast")
        if model in TRAINING[data]
    ),
    "smoke": (("digits", "shallow"), ("digits", "deep")),
}
"""Data and model of each case, cheapest models first."""

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
        At which scale.
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
        Take only this many of the pairs, from all over them.
    net : str, optional
        Another network than the model's.
    slots : bool
        Whether specialists keep to slots.
    doubled : bool
        Whether pairs are also summed with the second output layer twice, as the authors' program does unless it prunes.
    halves : bool
        Whether of two sets that hold all classes only one pair is taken: the first half of the classes and the second,
        as in the authors' program.
    dropout : float, optional
        Another rate than the model's.

    Examples
    --------
    >>> condition = Condition("paper", "mnist", "shallow", size=2)
    >>> condition.labels
    {'data': 'mnist', 'net': 'shallow', '|R|': 2, 'pruned': '99 %', 'loss': 'ME'}
    >>> len(condition.unit.settings["pairs"]), condition.unit.settings["train"]["net"]
    (10, 'mlp:512,shift=0.5,scale=0.5')
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
    doubled: bool = False
    halves: bool = False
    dropout: float | None = None

    @property
    def classes(self) -> int:
        """How many classes the data has."""
        return DATA_SIZES[self.data].outputs

    @cached_property
    def train(self) -> Options:
        """All options of the training."""
        chosen = {"net": self.net, "sparsity": self.sparsity, "temperature": self.temperature}
        train = TRAINING[self.data][self.model] | {
            n: value for n, value in chosen.items() if value is not None
        }
        if self.slots:
            train["sparsity"] = 0.0
        if self.dropout is not None:
            train["net"] = f"{re.sub(',dropout=[^,]*', '', train['net'])},dropout={self.dropout:g}"
        rounds = train["rounds"] if train["sparsity"] else 0
        round_epochs = train["epochs"] // rounds if rounds else None
        # As in the authors' program: networks that are pruned are those of the last epoch, with one Adam throughout.
        ends = {"keep": "last", "adam": "carried"} if rounds else {}
        return {
            **train,
            **ends,
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
    def as_published(self) -> bool:
        """Whether all settings are those of the paper's tables, pruned or not."""
        own = TRAINING[self.data][self.model]
        names = ("net", "temperature", "sparsity") if self.pruned else ("net", "temperature")
        return not self.slots and all(self.train[name] == own[name] for name in names)

    @cached_property
    def unit(self) -> Unit:
        """The work: training, and all that any recipe measures on these specialists."""
        from ...specialists.class_sets import disjoint_pairs

        drawn = evenly(disjoint_pairs(self.classes, self.size, PAIRS[self.scale]), self.pairs)
        if self.halves and 2 * self.size == self.classes:
            drawn = [(tuple(range(self.size)), tuple(range(self.size, self.classes)))]
        pairs = [] if self.net else [[list(first), list(second)] for first, second in drawn]
        sets = sorted({ids for pair in drawn for ids in pair})
        if self.size == 1:
            sets = [(number,) for number in range(self.classes)]
        settings = {
            "data": data_settings(self.data),
            "train": self.train,
            "seeds": list(SEEDS[self.scale]),
            "rewarded": [list(ids) for ids in sets],
            "pairs": pairs,
            **self._measures(pairs),
        }
        # Networks whose inputs are scaled in some other way were never trained with inputs from 0 to 1 in their place.
        usual = inputs_of(self.train["net"]) in ("", inputs_of(TRAINING[self.data][self.model]["net"]))
        older = {**settings, "train": before(self.train)} if usual else None
        return Unit("maxent/specialists", settings, older)

    def _measures(self, pairs: list[Any]) -> dict[str, Any]:
        """Return what is measured beside single specialists and pairs."""
        whole = self.loss == "me" and self.size == 1
        methods: list[str] = []
        if whole and self.net:
            methods = ["logits"]
        elif whole and self.pruned and self.as_published:
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
            **({"doubled": True} if self.doubled else {}),
        }

    @property
    def labels(self) -> dict[str, object]:
        """What stands in front of a row of a table."""
        sparsity = f"{100 * self.train['sparsity']:g} %" if self.pruned else "no"
        return {
            "data": self.data, "net": self.model, "|R|": self.size, "pruned": sparsity, "loss": self.loss.upper(),
        }  # fmt: skip

    def line(self, *labels: str, file: PublishedFile | None = None, **more: object) -> Line:
        """Return the line of a table about these specialists.

        Parameters
        ----------
        *labels : str
            What stands in front: names in `labels`.
        file : str, optional
            The published table that has them.
        **more
            Further labels, with their values.
        """
        shown = {name: self.labels[name] for name in labels} | more
        return Line(shown, [self.unit], self._published(file) if file else {}, self)

    def _published(self, file: PublishedFile) -> dict[str, Quantity | None]:
        """Return what the paper has for these specialists; nothing for those that it does not have."""
        if self.scale != "paper" or not self.as_published:
            return {}
        labels: dict[str, object] = {
            "dataset": self.data,
            "model": self.model,
            "imp": "yes" if self.pruned else "no",
        }
        if file == "maxent_table4":
            labels |= {"rewarded": self.size, "loss": self.loss}
        found = published_columns(file, **labels)
        return {"accuracy": found.get("rewarded_accuracy"), "entropy": found.get("entropy")}


def inputs_of(net: str) -> str:
    """Return what a spec says about its inputs.

    Examples
    --------
    >>> inputs_of("mlp:512,dropout=0,shift=0.5,scale=0.5"), inputs_of("mlp:512")
    (',shift=0.5,scale=0.5', '')
    """
    return "".join(found[0] for found in re.finditer(r",(shift|scale)=[^,]*", net))


def before(train: Options) -> Options:
    """Return options of a training as they were when inputs went from 0 to 1, and each round had an Adam of its own.

    Examples
    --------
    >>> before({"net": "mlp:512,dropout=0.2,shift=0.5,scale=0.5", "lr": 0.001, "keep": "last", "adam": "carried"})
    {'net': 'mlp:512,dropout=0.2', 'lr': 0.001}
    """
    net = re.sub(r",(shift|scale)=[^,]*", "", train["net"])
    return {
        name: net if name == "net" else value for name, value in train.items() if name not in ("keep", "adam")
    }


def data_settings(name: str) -> dict[str, Any]:
    """Return what a unit's settings say about its data.

    Examples
    --------
    >>> data_settings("har")
    {'name': 'har', 'options': {'features': 'time'}}
    """
    return {"name": name, "options": {"features": "time"} if name == "har" else {}}


def evenly(items: list[T], count: int | None) -> list[T]:
    """Return a number of the items, from all over them; all by default.

    Examples
    --------
    >>> evenly([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 4)
    [0, 3, 6, 9]
    """
    if count is None or count >= len(items):
        return items
    return [items[place * (len(items) - 1) // max(1, count - 1)] for place in range(count)]


FEW_PAIRS = 4
"""Pairs of larger sets at other rates, of the ten in the tables: a hundred CNNs take minutes."""

CNN_DATA: dict[Scale, tuple[str, ...]] = {"paper": ("mnist", "fashion-mnist"), "smoke": ("digits",)}


def cnn_pruned_at(scale: Scale, data: str, size: int, sparsity: float) -> Condition:
    """Return CNN specialists pruned at some rate: those of the tables where it is their rate.

    Examples
    --------
    >>> cnn_pruned_at("paper", "mnist", 2, 0.6) == Condition("paper", "mnist", "cnn", 2)
    True
    """
    tables = Condition(scale, data, "cnn", size)
    if tables.train["sparsity"] == sparsity:
        return tables
    return Condition(scale, data, "cnn", size, sparsity=sparsity, pairs=FEW_PAIRS if size > 1 else None)


def drawn_cnns(scale: Scale) -> list[Condition]:
    """Return the pruned CNNs of the paper's figures: at 99 %, for single classes and larger sets."""
    sizes, data = ((1, 2, 5), "fashion-mnist") if scale == "paper" else ((2,), "digits")
    return [cnn_pruned_at(scale, data, size, 0.99) for size in sizes]


def as_drawn(condition: Condition) -> bool:
    """Whether the paper draws these specialists: networks as in its tables, but pruned CNNs at 99 %.

    Examples
    --------
    >>> as_drawn(Condition("paper", "mnist", "cnn")), as_drawn(Condition("paper", "mnist", "cnn", sparsity=0.99))
    (False, True)
    """
    return condition.as_published != (condition.model == "cnn" and condition.pruned)
