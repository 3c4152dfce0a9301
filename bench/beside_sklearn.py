"""How good, fast and large a `PartsClassifier` is beside scikit-learn's own classifiers, on the same splits.

``python bench/beside_sklearn.py`` prints a table for wine, digits, a generated table of 500,000 rows as large as
covtype, and MNIST where ``$DOVETAIL_DATA`` has it; names choose some of them, ``--rows`` makes the generated table
smaller. All classifiers are as they come (more iterations for logistic regression, all cores for the forest), and get
features that are scaled by the training samples. PartsClassifier's defaults were chosen on other data (breast cancer,
iris, yeast, human activity, Fashion-MNIST, generated tables of other sizes), and on no test sample of these.

A class is added, the last one, to a classifier of all others, and dropped from one of all. PartsClassifier does that
with ``partial_fit``, from samples of the new class alone, and with ``forget``; scikit-learn's fit again, on everything.
Sizes are of what pickle writes, the cards of a PartsClassifier included; the file of its composite has none.
"""

from __future__ import annotations

import argparse
import os
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

import dovetail as dt
from dovetail.errors import DovetailError
from dovetail.sklearn import PartsClassifier

WIDTHS = (8, 20, 7, 20, 7, 20, 22)
ROWS, FEATURES, CLASSES = 500_000, 54, 7

MODELS: dict[str, Callable[[], Any]] = {
    "PartsClassifier": PartsClassifier,
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "RandomForestClassifier": lambda: RandomForestClassifier(n_jobs=-1, random_state=0),
    "OneVsRest(Logistic…)": lambda: OneVsRestClassifier(LogisticRegression(max_iter=1000)),
}


@dataclass(frozen=True)
class Samples:
    """Training and test samples, scaled by the training samples."""

    x: NDArray[np.float64]
    y: NDArray[np.int64]
    test_x: NDArray[np.float64]
    test_y: NDArray[np.int64]

    def without(self, name: int) -> Samples:
        """Return those of all other classes."""
        stay, test = self.y != name, self.test_y != name
        return Samples(self.x[stay], self.y[stay], self.test_x[test], self.test_y[test])


@dataclass(frozen=True)
class Line:
    """What was measured of one classifier: shares that are right, seconds and bytes."""

    name: str
    accuracy: float
    fit: float
    accuracy_added: float
    add: float
    accuracy_dropped: float
    drop: float
    size: int


def split(x: NDArray[Any], y: NDArray[Any]) -> Samples:
    x, test_x, y, test_y = train_test_split(x, y, test_size=0.25, stratify=y, random_state=0)
    return scaled(x, y, test_x, test_y)


def scaled(x: NDArray[Any], y: NDArray[Any], test_x: NDArray[Any], test_y: NDArray[Any]) -> Samples:
    scaler = StandardScaler().fit(x)
    return Samples(scaler.transform(x), y, scaler.transform(test_x), test_y)


def wine(rows: int) -> Samples:
    return split(*load_wine(return_X_y=True))


def digits(rows: int) -> Samples:
    return split(*load_digits(return_X_y=True))


def generated(rows: int) -> Samples:
    return split(
        *make_classification(
            rows, FEATURES, n_informative=20, n_redundant=14, n_classes=CLASSES, n_clusters_per_class=3,
            weights=[0.36, 0.49, 0.06, 0.01, 0.02, 0.03, 0.03], class_sep=1.5, flip_y=0.02, random_state=54,
        )
    )  # fmt: skip


def mnist(rows: int) -> Samples:
    data = dt.load("mnist")
    x, y = (
        np.concatenate([split_of.numpy() for split_of in both])
        for both in zip(data.train, data.val, strict=True)
    )
    return scaled(x.reshape(len(x), -1), y, data.test.x.flatten(1).numpy(), data.test.y.numpy())


SETS = {"wine": wine, "digits": digits, "generated": generated, "mnist": mnist}


def measured(name: str, make: Callable[[], Any], samples: Samples, last: int) -> Line:
    """Fit a classifier, add a class and drop one."""
    rest = samples.without(last)
    whole, fit = timed(lambda: make().fit(samples.x, samples.y))
    accuracy = whole.score(samples.test_x, samples.test_y)
    size = bytes_of(whole)
    if isinstance(whole, PartsClassifier):
        grown, new = make().fit(rest.x, rest.y), samples.y == last
        _, add = timed(lambda: grown.partial_fit(samples.x[new], samples.y[new]))
        dropped, drop = timed(lambda: whole.forget(last))
    else:
        grown, add = whole, fit
        dropped, drop = timed(lambda: make().fit(rest.x, rest.y))
    return Line(
        name, accuracy, fit,
        grown.score(samples.test_x, samples.test_y), add, dropped.score(rest.test_x, rest.test_y), drop, size,
    )  # fmt: skip


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    done = work()
    return done, time.perf_counter() - begun


def bytes_of(model: Any) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(pickle.dumps(model))
        if isinstance(model, PartsClassifier):
            file = model.composite_.save(Path(folder) / "composite.safetensors")
            print(f"  the file of the composite: {file.stat().st_size / 1000:,.0f} kB")
        return path.stat().st_size


def table(lines: list[Line]) -> Iterator[str]:
    """Yield a row for each classifier: how much is right, and what it took; behind ×, how often the first one's."""
    head = ("accuracy", "fit", "added", "in", "dropped", "in", "size")
    yield "  ".join(
        [f"  {'':23s}", *(f"{title:>{width}s}" for title, width in zip(head, WIDTHS, strict=True))]
    )
    first = lines[0]
    for line in lines:
        yield "  ".join(
            [
                f"  {line.name:23s}",
                f"{line.accuracy:8.4f}",
                seconds(line.fit, first.fit),
                f"{line.accuracy_added:7.4f}",
                seconds(line.add, first.add),
                f"{line.accuracy_dropped:7.4f}",
                seconds(line.drop, first.drop),
                f"{line.size / 1000:9,.0f} kB ×{line.size / first.size:<8.3g}",
            ]
        )


def seconds(taken: float, first: float) -> str:
    shown = f"{taken:8.2f} s " if taken >= 0.01 else f"{1000 * taken:8.2f} ms"
    return f"{shown} ×{taken / first:<7.3g}"


def main() -> None:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; by default all")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the generated table")
    chosen = parser.parse_args()
    if odd := set(chosen.sets) - set(SETS):
        parser.error(f"there is no set {sorted(odd)[0]!r}; choose of {', '.join(SETS)}")
    PartsClassifier(epochs=1).fit(*load_wine(return_X_y=True))  # what the first training loads is loaded once
    print(f"{os.cpu_count()} cores, {torch.get_num_threads()} threads")
    for name in chosen.sets or SETS:
        try:
            samples = SETS[name](chosen.rows)
        except DovetailError as error:
            print(f"\n{name}: left out ({error})")
            continue
        last = int(samples.y.max())
        print(
            f"\n{name}: {len(samples.y):,} training samples of {samples.x.shape[1]} features, {last + 1} classes"
        )
        lines = [measured(title, make, samples, last) for title, make in MODELS.items()]
        print("\n".join(table(lines)), flush=True)


if __name__ == "__main__":
    main()
