"""Classes that come a few at a time, without old samples: parts beside scikit-learn's `partial_fit`, on one split.

Run ``python bench/few_at_a_time.py digits:2``, or with a folder of features that `dovetail features` has made:
``dovetail features clinc150 --trunk sentence:minilm/ -o clinc/`` and ``python bench/few_at_a_time.py clinc/:10``. The
number is how many classes come at a time. Classes come in random orders; at each step there are the samples of the new
classes only. Features are brought to mean 0 and variance 1 of the samples of the first step; pixels stay from 0 to 1.

Scikit-learn's classifiers are as they come. `partial_fit` goes through the samples once where it takes steps, so these
get ten passes as well; all of them must be told in the first call which classes there will ever be. Specialists are
trained as in the tutorial *A new class every week* (digits) and the recipe `growth` (all else), sums are untuned: what
is printed was chosen on nothing that is scored here. *At once* is the same method given all samples together.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

import dovetail as dt
from dovetail.data import Dataset, Split, open_data
from dovetail.errors import TrainingWarning
from dovetail.recipes.beyond.features_by_class import in_order, of_classes, scaled_by
from dovetail.sklearn import PartsClassifier
from dovetail.specialists import Specialist, Sums, Team


class Learner(Protocol):
    """What learns classes, a step at a time."""

    def learn(self, new: Dataset) -> None:
        """Learn the classes of a step, from their samples alone."""
        ...

    def learn_at_once(self, data: Dataset) -> None:
        """Learn all classes, from all samples."""
        ...

    def accuracy(self, data: Dataset) -> float:
        """Return the share of test samples that are answered with their class."""
        ...


class _Scikit:
    """A classifier of scikit-learn's kind; classes are numbered by their names, which begin with their place."""

    def __init__(self, model: Any, classes: int, passes: int = 1) -> None:
        self.model = model
        self.numbers = np.arange(classes)
        self.passes = passes

    def learn(self, new: Dataset) -> None:
        x, y = samples_of(new, new.train)
        order = np.random.default_rng(0).permutation(len(y))
        for _ in range(self.passes):
            self.model.partial_fit(x[order], y[order], classes=self.numbers)

    def learn_at_once(self, data: Dataset) -> None:
        self.model.fit(*samples_of(data, data.train))

    def accuracy(self, data: Dataset) -> float:
        return float(self.model.score(*samples_of(data, data.test)))


class _Parts(_Scikit):
    """`PartsClassifier`, which need not be told of classes before they come."""

    def learn(self, new: Dataset) -> None:
        self.model.partial_fit(*samples_of(new, new.train))


class _Specialists:
    """Specialists that stand beside those that were there, which are introduced to them by cards."""

    def __init__(self, units: int, how: dict[str, Any], seed: int) -> None:
        self.units = units
        self.how = how | {"slots": True, "seed": seed, "progress": False}
        self.parts: list[Specialist] = []

    def learn(self, new: Dataset) -> None:
        if not self.parts:
            self.parts = [
                *dt.train_specialists(new, f"mlp:{self.units * len(new.classes)},dropout=0", **self.how)
            ]
            return
        more = dt.train_specialists(new, beside=self.parts, **self.how)
        old = Team(self.parts).introduce(more, new, seed=self.how["seed"], progress=False)
        self.parts = [*old, *more]

    def learn_at_once(self, data: Dataset) -> None:
        self.learn(data)

    def accuracy(self, data: Dataset) -> float:
        return dt.compose(self.parts).evaluate(data.test).rewarded_accuracy


class _ClosedForm:
    """Sums, which are added."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.whole: Sums | None = None

    def learn(self, new: Dataset) -> None:
        own = dt.sums(new, seed=self.seed)
        self.whole = dt.compose([*([self.whole] if self.whole else []), *own])

    def learn_at_once(self, data: Dataset) -> None:
        self.learn(data)

    def accuracy(self, data: Dataset) -> float:
        assert self.whole is not None
        return self.whole.evaluate(data.test).rewarded_accuracy


@dataclass(frozen=True)
class Line:
    """What was measured of a method in one order: shares that are right, and seconds of the processor."""

    few: float
    seconds: float
    once: float | None


def methods(data: Dataset, seed: int) -> dict[str, Callable[[], Learner]]:
    """Return what is compared."""
    classes = data.outputs
    digits = data.name == "digits"
    how = {"epochs": 30, "lr": 3e-3} if digits else {"epochs": 10, "lr": 3e-3, "batch_size": 128}
    return {
        "sums": lambda: _ClosedForm(seed),
        "specialists and cards": lambda: _Specialists(20 if digits else 10, how, seed),
        "PartsClassifier": lambda: _Parts(PartsClassifier(random_state=seed), classes),
        "GaussianNB": lambda: _Scikit(GaussianNB(), classes),
        "SGDClassifier": lambda: _Scikit(SGDClassifier(random_state=seed), classes),
        "SGDClassifier, ten passes": lambda: _Scikit(SGDClassifier(random_state=seed), classes, 10),
        "Perceptron": lambda: _Scikit(Perceptron(random_state=seed), classes),
        "MLPClassifier": lambda: _Scikit(MLPClassifier(random_state=seed), classes),
        "MLPClassifier, ten passes": lambda: _Scikit(MLPClassifier(random_state=seed), classes, 10),
    }


def measured(data: Dataset, step: int, make: Callable[[], Learner]) -> Line:
    """Let classes come, and measure what has learned them; then give all samples to another one."""
    learner = make()
    begun = time.process_time()
    for first in range(0, data.outputs, step):
        learner.learn(of_classes(data, first, min(first + step, data.outputs)))
    few, seconds = learner.accuracy(data), time.process_time() - begun
    if isinstance(learner, _Scikit) and learner.passes > 1:
        return Line(few, seconds, None)  # all at once it is what it is with one pass a step
    other = make()
    other.learn_at_once(data)
    if isinstance(learner, _ClosedForm) and isinstance(other, _ClosedForm):
        assert learner.whole == other.whole, "sums have forgotten something"
    return Line(few, seconds, other.accuracy(data))


def samples_of(data: Dataset, split: Split) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return samples, and the places of their classes, with which the names begin."""
    places = np.array([int(name.split(" ", 1)[0]) for name in data.classes])
    return split.x.flatten(1).numpy(), places[split.y.numpy()]


def prepared(data: Dataset, order: int, step: int) -> Dataset:
    """Return data whose classes are in a random order; features are scaled by the samples of the first step."""
    data = in_order(data, order)
    return data if data.name == "digits" else scaled_by(data, of_classes(data, 0, step).train)


def table(lines: dict[str, list[Line]]) -> Iterator[str]:
    """Yield a row for each method: means over orders, and between which numbers accuracies are."""
    yield f"  {'':26s}  {'a few at a time':24s}  {'at once':8s}  seconds for all steps, and to answer"
    for name, own in lines.items():
        few = [line.few for line in own]
        once = [line.once for line in own if line.once is not None]
        shown = f"{statistics.fmean(once):.3f}" if once else "above"
        seconds = statistics.fmean(line.seconds for line in own)
        spread = f"{statistics.fmean(few):.3f} ({min(few):.3f} to {max(few):.3f})"
        yield f"  {name:26s}  {spread:24s}  {shown}     {seconds:8.2f}"


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sets", nargs="+", metavar="DATA:STEP", help="data, and how many classes come at a time"
    )
    parser.add_argument("--orders", type=int, default=3, help="how many random orders of the classes")
    parser.add_argument(
        "--without",
        nargs="*",
        default=[],
        metavar="METHOD",
        help="leave out what takes long where classes are many",
    )
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", (TrainingWarning, ConvergenceWarning))
    print(f"{platform.machine()}, one thread, torch {torch.__version__}")
    for text in chosen.sets:
        path, _, step = text.rpartition(":")
        data = open_data(path)
        print(
            f"\n{data.name}: {len(data.train):,} training samples, {data.outputs} classes, {step} at a time"
        )
        lines: dict[str, list[Line]] = {}
        for order in range(chosen.orders):
            own = prepared(data, order, int(step))
            for name, make in methods(own, order).items():
                if name in chosen.without:
                    continue
                with threadpool_limits(1):
                    line = measured(own, int(step), make)
                print(f"  order {order}: {name} {line.few:.3f}, {line.seconds:.1f} s", file=sys.stderr)
                lines.setdefault(name, []).append(line)
        print("\n".join(table(lines)), flush=True)


if __name__ == "__main__":
    main()
