"""Heads on a trunk: the work of training one kind of them on features, and of measuring what they say."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...data.dataset import Dataset
from ...data.split import Split
from ...errors import unknown_name
from ...nets import net_builder
from ...nets.spec import NetSpec
from ...population import Adam, Population
from ...specialists import train_specialists
from ...specialists.composite import compose_quietly
from ...specialists.evaluate import Score, run_network, score_logits
from ...specialists.layouts import slot_net
from ..data import DATA_SIZES
from ..unit import Row, Settings, plain_numbers
from ..works import Work, Workload
from .known_trunks import features_of

_FAR_BELOW = 50.0
"""By how much a class that was never seen is below the least of the others, in logits of scikit-learn's."""


@dataclass(frozen=True)
class Task:
    """Features to learn, and what is known of them.

    Attributes
    ----------
    data : Dataset
        Features; nothing of unknown classes is in its training and validation splits.
    known : list of int
        The classes that are learned.
    """

    data: Dataset
    known: list[int]

    @classmethod
    def of(cls, data: Dataset, unknown: Sequence[int]) -> Task:
        """Leave samples of unknown classes out of what is learned and of what is chosen on."""
        known = [number for number in range(data.outputs) if number not in unknown]
        train, val = (_of_classes(split, known) for split in (data.train, data.val))
        return cls(replace(data, train=train, val=val), known)


Head = Callable[[Split], Score]
"""Takes samples, and returns how well a head that was trained does on them."""


class Trained(NamedTuple):
    """A head that was trained, the seconds that this took, and one that also looks at cards, if it has some."""

    head: Head
    seconds: float
    by_cards: Head | None = None


def run(settings: Settings, device: torch.device) -> Row:
    """Train heads of one kind, one for each seed, on the features of a trunk.

    Returns
    -------
    dict
        For each seed ``accuracy`` on the test split, ``validation`` accuracy, ``auroc`` (how well the entropy of
        predictions tells samples of unknown classes from others; None without such classes), ``by_cards`` (the same of
        the confidence that thresholds have by default; None for heads without cards), and ``seconds`` of training: of
        processor time on a CPU, where others may run beside it.
    """
    task = Task.of(features_of(settings["trunk"], settings["data"]), settings["unknown"])
    if settings["head"] not in _HEADS:
        raise unknown_name("head", settings["head"], _HEADS)
    row: dict[str, list[float | None]] = {
        "accuracy": [], "validation": [], "auroc": [], "by_cards": [], "seconds": []
    }  # fmt: skip
    for seed in settings["seeds"]:
        trained = _HEADS[settings["head"]](task, settings, seed, device)
        score, test = trained.head(task.data.test), task.data.test
        row["accuracy"].append(score.rewarded_accuracy)
        row["validation"].append(trained.head(task.data.val).rewarded_accuracy)
        row["auroc"].append(score.unknown_auroc)
        row["by_cards"].append(None if trained.by_cards is None else trained.by_cards(test).unknown_auroc)
        row["seconds"].append(trained.seconds)
    return {name: plain_numbers(values) for name, values in row.items()}


def _slots(task: Task, settings: Settings, seed: int, device: torch.device) -> Trained:
    """Return the sum of specialists in slots, one for each known class."""
    begun = seconds_now(device)
    team = train_specialists(
        task.data, _net(settings, task.data.outputs), task.known, slots=True, seed=seed, device=device,
        progress=False, **settings["training"],
    )  # fmt: skip
    seconds = seconds_now(device) - begun
    whole = compose_quietly(list(team))
    ready = whole.with_threshold(task.data.val) if settings["unknown"] else whole
    return Trained(
        lambda split: whole.evaluate(split, device=device),
        seconds,
        lambda split: ready.evaluate(split, device=device),
    )


def _generalist(task: Task, settings: Settings, seed: int, device: torch.device) -> Trained:
    """Return one head for all known classes, trained in the ordinary way; its best epoch on validation."""
    data, options = task.data, dict(settings["training"])
    lr = options.pop("lr")
    begun = seconds_now(device)
    build = net_builder(_net(settings, data.outputs), data.input_shape, data.outputs)
    population = Population(build, [seed], device=device)
    population.fit(data, optimizer=Adam(lr=lr), monitor="accuracy", progress=False, **options)
    seconds = seconds_now(device) - begun
    network = population.member(0)

    def head(split: Split) -> Score:
        return _score(run_network(network.to(device), split.x.to(device)), split, task)

    return Trained(head, seconds)


def _logistic(task: Task, settings: Settings, seed: int, device: torch.device) -> Trained:
    """Return scikit-learn's logistic regression over all known classes together; it draws nothing from the seed."""
    from sklearn.linear_model import LogisticRegression

    data = task.data
    begun = time.process_time()
    model = LogisticRegression(**settings["training"]).fit(data.train.x.numpy(), data.train.y.numpy())
    seconds = time.process_time() - begun

    def head(split: Split) -> Score:
        found = np.asarray(model.decision_function(split.x.numpy()))
        logits = np.full((len(split), data.outputs), found.min() - _FAR_BELOW)
        logits[:, task.known] = found
        return _score(torch.from_numpy(logits), split, task)

    return Trained(head, seconds)


_HEADS: Mapping[str, Callable[[Task, Settings, int, torch.device], Trained]] = {
    "slots": _slots,
    "generalist": _generalist,
    "logistic": _logistic,
}


def workload(settings: Settings) -> Workload:
    """Return how much work training is, once features are there."""
    size = DATA_SIZES[settings["data"]["name"]]
    features, outputs = settings["features"], settings["outputs"]
    if settings["head"] == "logistic":
        passes = 2 * settings["training"]["max_iter"] * len(settings["seeds"])
        return Workload(core_seconds=passes * size.training * features * outputs * 4 / 0.07e12)
    spec, members = NetSpec.parse(_net(settings, outputs)), len(settings["seeds"])
    if settings["head"] == "slots":
        spec, members = slot_net(spec, 1, outputs) or spec, members * (outputs - len(settings["unknown"]))
    training = settings["training"]
    return Workload(
        net=str(spec),
        input_shape=(features,),
        outputs=outputs,
        members=members,
        steps=training["epochs"] * math.ceil(size.training / training["batch_size"]),
        batch_size=training["batch_size"],
        core_seconds=5.0,
    )


def label(settings: Settings) -> str:
    """Return which heads these are."""
    unknown = f", {len(settings['unknown'])} unknown" if settings["unknown"] else ""
    hidden = "" if settings["head"] == "logistic" else f" {settings['hidden']}"
    return f"{settings['data']['name']}, {settings['trunk']}, {settings['head']}{hidden}{unknown}"


WORK = Work(run, workload, label)


def _net(settings: Settings, outputs: int) -> str:
    """Return the spec of a head in which each class has its share of hidden units."""
    return f"mlp:{settings['hidden'] * outputs},dropout={settings['dropout']:g}"


def _of_classes(split: Split, known: Sequence[int]) -> Split:
    keep = torch.isin(split.y, torch.tensor(known))
    return split if bool(keep.all()) else split.where(keep)


def _score(logits: Tensor, split: Split, task: Task) -> Score:
    (score,) = score_logits(logits[None], split.y.to(logits.device), [task.known], task.data.classes)
    return score


def seconds_now(device: torch.device) -> float:
    """Return seconds: of this process's work on a CPU, of the clock on a GPU once it is done with what it has."""
    if device.type != "cuda":
        return time.process_time()
    torch.cuda.synchronize(device)
    return time.perf_counter()
