"""Growing: the work of classes that come a few at a time, without a sample of those that were there.

One run has one order of classes and one seed. Features are brought to mean 0 and variance 1 of the training samples of
the first step, which is all that there is then.
"""

from __future__ import annotations

import math
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...data.dataset import Dataset
from ...data.split import Split
from ...errors import TrainingWarning, unknown_name
from ...specialists import Specialist, Team, combine, sums, train_specialists
from ...specialists.closed_form.sums import Sums, add_sums
from ...specialists.composite import compose_quietly
from ..data import DATA_SIZES
from ..unit import Row, Settings, plain_numbers
from ..works import Work, Workload
from .features_by_class import in_order, of_classes, scaled_by
from .known_trunks import features_of
from .yardsticks import (
    NearestMean,
    Ridge,
    accuracy_of,
    joined,
    new_head,
    random_features,
    stored,
    train_head,
    with_constant,
)

Measured = dict[str, dict[str, list[float]]]
"""By method, ``accuracy`` on test and ``validation`` samples of the classes so far, after some of the steps."""


class _Steps:
    """Classes in the order in which they come.

    Attributes
    ----------
    data : Dataset
        All of them, scaled by the first step.
    ends : list of int
        How many classes there are after each step.
    """

    def __init__(self, settings: Settings) -> None:
        data = in_order(features_of(settings["trunk"], settings["data"]), settings["order"])
        first, step = settings["first"], settings["step"]
        self.data = scaled_by(data, of_classes(data, 0, first).train)
        self.ends = [*range(first, data.outputs, step), data.outputs]
        self.measured = set(settings["measured"])

    def new(self, place: int) -> Dataset:
        """Return the samples of the classes of a step."""
        return of_classes(self.data, self.ends[place - 1] if place else 0, self.ends[place])

    def new_by_id(self, place: int) -> Split:
        """Return the training samples of a step, with ids among all classes."""
        begin = self.ends[place - 1] if place else 0
        own = (self.data.train.y >= begin) & (self.data.train.y < self.ends[place])
        return self.data.train.where(own)

    def so_far(self, place: int) -> Dataset:
        """Return the samples of all classes that have come."""
        return of_classes(self.data, 0, self.ends[place])


def run(settings: Settings, device: torch.device) -> Row:
    """Let classes come, and measure what has learned them after some of the steps.

    Returns
    -------
    dict
        ``methods``: for each ``accuracy`` on test and ``validation`` samples of all classes that have come, a number
        for each count of classes in ``classes``. Of parts alone ``seconds``: what it took to ``add`` the classes of the
        last step, and to ``drop`` one and answer; and ``file``, the bytes of a class's file.
    """
    kind = settings["kind"]
    if kind not in _KINDS:
        raise unknown_name("kind of growth", kind, _KINDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        return _KINDS[kind](settings, device)


class _Scores:
    """What methods score, step by step."""

    def __init__(self) -> None:
        self.classes: list[int] = []
        self.methods: Measured = {}

    def add(self, name: str, val: float, test: float) -> None:
        """Keep the scores of a method after a step."""
        own = self.methods.setdefault(name, {"accuracy": [], "validation": []})
        own["accuracy"].append(test)
        own["validation"].append(val)

    def row(self, **more: Any) -> Row:
        """Return all as a row."""
        plain = {
            name: {metric: plain_numbers(values) for metric, values in own.items()}
            for name, own in self.methods.items()
        }
        return {"classes": self.classes, "methods": plain, **more}


def _parts(settings: Settings, device: torch.device) -> Row:
    """Grow specialists beside those that are there, introduced to the new and not; and sums; and both together."""
    steps, scores, how = _Steps(settings), _Scores(), _how(settings, device)
    net = f"mlp:{settings['units'] * settings['first']},dropout=0"
    parts: list[Specialist] = []
    as_they_are: list[Specialist] = []
    added: Sums | None = None
    seconds = 0.0
    for place, end in enumerate(steps.ends):
        new = steps.new(place)
        begun = time.process_time()
        if not parts:
            parts = list(train_specialists(new, net, **how))
            as_they_are = list(parts)
        else:
            more = train_specialists(new, beside=parts, **how)
            old = Team(parts).introduce(more, new, seed=settings["seed"], device=device, progress=False)
            parts = [*old, *more]
            as_they_are += list(more)
        seconds = time.process_time() - begun
        own = sums(new, features=settings["features"], seed=settings["seed"])
        added = add_sums([*([added] if added else []), *own])
        if place + 1 not in steps.measured:
            continue
        now, whole = steps.so_far(place), compose_quietly(parts)
        both = combine([whole, added], now.val, device=device)
        scores.classes.append(end)
        for name, part in (
            ("specialists", whole),
            ("specialists, not introduced", compose_quietly(as_they_are)),
            ("sums", added),
            ("both", both),
        ):
            val, test = (part.evaluate(s, device=device).rewarded_accuracy for s in (now.val, now.test))
            scores.add(name, val, test)
    with tempfile.TemporaryDirectory() as folder:
        file = parts[-1].save(Path(folder) / "part.safetensors").stat().st_size
    return scores.row(seconds={"add": seconds, "drop": _seconds_to_drop(parts, steps.data)}, file=file)


def _seconds_to_drop(parts: Sequence[Specialist], data: Dataset) -> float:
    """Return how long it takes to leave a class out and to answer, at the fastest of three."""
    whole = compose_quietly(parts)
    whole(data.val.x[:2])
    seconds = []
    for _ in range(3):
        begun = time.process_time()
        whole.without(parts[-1].knows)(data.val.x[:2])
        seconds.append(time.process_time() - begun)
    return min(seconds)


def _together(settings: Settings, device: torch.device) -> Row:
    """Train specialists of all classes together, and each alone with cards of the others."""
    steps, scores, how = _Steps(settings), _Scores(), _how(settings, device)
    data = steps.data
    scores.classes.append(data.outputs)
    team = list(train_specialists(data, f"mlp:{settings['units'] * data.outputs},dropout=0", **how))
    alone = [
        train_specialists(
            of_classes(data, number, number + 1), beside=[*team[:number], *team[number + 1 :]], **how
        )[0]
        for number in range(data.outputs)
    ]
    order = {name: place for place, name in enumerate(data.classes)}
    for name, parts in (("specialists, together", team), ("specialists, each alone", alone)):
        whole = compose_quietly(sorted(parts, key=lambda part: order[part.known[0]]))
        val, test = (whole.evaluate(s, device=device).rewarded_accuracy for s in (data.val, data.test))
        scores.add(name, val, test)
    return scores.row()


def _heads(settings: Settings, device: torch.device) -> Row:
    """Train heads: anew on all samples of all classes so far, and on with the new samples, alone and beside a few."""
    steps, scores, seed = _Steps(settings), _Scores(), settings["seed"]
    how = {**settings["head"], "seed": seed}
    hidden = how.pop("hidden")
    size, outputs = steps.data.train.x.shape[1], steps.data.outputs
    tuned, beside_few = (new_head(size, hidden, outputs, seed) for _ in range(2))
    few: list[Split] = []
    for place, end in enumerate(steps.ends):
        new = steps.new_by_id(place)
        train_head(tuned, new, outputs=end, **how)
        train_head(beside_few, joined([new, *few]), outputs=end, **how)
        few.append(stored(new, settings["stored"], seed))
        if place + 1 not in steps.measured:
            continue
        now, head = steps.so_far(place), new_head(size, hidden, outputs, seed)
        train_head(head, now.train, outputs=end, **how)
        scores.classes.append(end)
        for name, one in (
            ("joint head", head),
            ("fine-tuned head", tuned),
            (f"head and {settings['stored']} stored samples a class", beside_few),
        ):
            scores.add(name, accuracy_of(one, now.val, end), accuracy_of(one, now.test, end))
    return scores.row()


def _closed_forms(settings: Settings, device: torch.device) -> Row:
    """Learn nearest means and ridge regressions, which keep sums and forget nothing."""
    steps, scores, size, seed = _Steps(settings), _Scores(), settings["features"], settings["seed"]
    inputs, outputs = steps.data.train.x.shape[1], steps.data.outputs
    forms: dict[str, tuple[Callable[[Tensor], Tensor], NearestMean | Ridge]] = {
        "nearest mean": (lambda x: x, NearestMean.empty(inputs, outputs)),
        "linear ridge": (with_constant, Ridge.empty(inputs + 1, outputs)),
        "random-feature ridge": (lambda x: random_features(x, size, seed), Ridge.empty(size, outputs)),
    }
    for place, end in enumerate(steps.ends):
        new = steps.new_by_id(place)
        for change, form in forms.values():
            form.learn(Split(change(new.x), new.y))
        if place + 1 not in steps.measured:
            continue
        scores.classes.append(end)
        now = steps.so_far(place)
        for name, (change, form) in forms.items():
            val, test = (Split(change(split.x), split.y) for split in (now.val, now.test))
            layer = form.solved(val, end)
            scores.add(name, accuracy_of(layer, val, end), accuracy_of(layer, test, end))
    return scores.row()


_KINDS: Mapping[str, Callable[[Settings, torch.device], Row]] = {
    "parts": _parts,
    "together": _together,
    "heads": _heads,
    "closed forms": _closed_forms,
}


def _how(settings: Settings, device: torch.device) -> dict[str, Any]:
    """Return how specialists are trained."""
    return {
        "slots": True,
        "seed": settings["seed"],
        "device": device,
        "progress": False,
        **settings["training"],
    }


def workload(settings: Settings) -> Workload:
    """Return how much work a run is, in samples that pass through networks and products of features."""
    size = DATA_SIZES[settings["data"]["name"]]
    inputs, outputs, kind = settings["inputs"], settings["outputs"], settings["kind"]
    steps = math.ceil((outputs - settings["first"]) / settings["step"]) + 1
    passes = {
        # Each new part sees its own samples and about as many draws as there are samples of all that were there.
        "parts": settings["training"]["epochs"] * settings["units"] * outputs * (inputs + outputs) * 0.6,
        "together": settings["training"]["epochs"] * settings["units"] * outputs * (inputs + outputs) * 2.5,
        "heads": settings["head"]["epochs"] * settings["head"]["hidden"] * (inputs + outputs)
        * (2 + 0.5 * len(settings["measured"])),
        "closed forms": (settings["features"] + inputs) ** 2 / 3,
    }[kind]  # fmt: skip
    solved = len(settings["measured"]) * settings["features"] ** 3 / 0.02e12
    return Workload(core_seconds=6 * size.training * passes / 0.03e12 + solved + 0.5 * steps)


def label(settings: Settings) -> str:
    """Return which run this is."""
    return (
        f"{settings['data']['name']}, {settings['trunk']}, {settings['first']} and {settings['step']} at a time, "
        f"{settings['kind']}, order {settings['order']}, seed {settings['seed']}"
    )


WORK = Work(run, workload, label)
