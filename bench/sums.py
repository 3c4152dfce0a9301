"""How long it takes to add a class to sums of 150 others, to drop one, and to answer after it, beside a refit.

Run ``python bench/sums.py [FEATURES ...]``. Data are 150 classes of 100 random samples of 384 numbers, the size of
CLINC150 on a sentence transformer. Every line is the least time of a few tries in the same run: that of the processor,
on one thread, so that other programs on the machine disturb it little. Scikit-learn's ``Ridge`` fits the features of
all samples again, which are at hand already.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

import dovetail as dt
from dovetail.data import Dataset, Split

CLASSES, SAMPLES, WIDTH = 151, 100, 384


def main() -> None:
    """Print a table for each number of features."""
    torch.set_num_threads(1)
    with threadpool_limits(1):
        for features in [int(text) for text in sys.argv[1:]] or [2000]:
            measure(features, tries=3)


def measure(features: int, tries: int) -> None:
    """Print what a class more or less costs, and what a refit does."""
    data = random_data()
    begun = time.process_time()
    team = dt.sums(data, features=features)
    made = time.process_time() - begun
    *others, last = team
    whole = dt.compose(others)
    begun = time.process_time()
    whole.weights  # noqa: B018
    first = time.process_time() - begun
    one = data.test.x[:1]
    with tempfile.TemporaryDirectory() as folder:
        path = last.save(Path(folder) / "last.safetensors")
        size = path.stat().st_size
        added = least(lambda: answered(dt.compose([whole, dt.open(path, dt.Sums)]), one), tries)
    dropped = least(lambda: whole.without(7), tries)
    answers = least(lambda: answered(whole.without(7), one), tries)
    refit = least(refitted(whole, data), tries)
    print(f"{features:,} features; a file of 100 samples {size / 1000:.1f} kB")
    for what, seconds in (
        ("parts of 151 classes made from samples", made),
        ("150 of them added and solved for the first time", first),
        ("one more opened, added, solved, an answer given", added),
        ("one dropped", dropped),
        ("one dropped, solved, an answer given", answers),
        ("scikit-learn's Ridge fitted again on features at hand", refit),
    ):
        print(f"  {what:<56} {1000 * seconds:10,.0f} ms, {refit / seconds:6.1f} times as fast as the refit")


def answered(part: dt.Sums, x: torch.Tensor) -> None:
    """Let a part answer, which solves it."""
    part(x)


def refitted(whole: dt.Sums, data: Dataset) -> Callable[[], object]:
    """Return a fit of ridge regression on the features of all samples of 150 classes."""
    rows = data.train.where(data.train.y < CLASSES - 1)
    basis = whole.blueprint.basis
    features = basis.features_of(basis.numbers(rows.x)).double().numpy() / 32
    targets = np.eye(CLASSES - 1)[rows.y.numpy()]
    model = Ridge(alpha=whole.tuning.ridge, fit_intercept=False, solver="cholesky")
    return lambda: model.fit(features, targets)


def random_data() -> Dataset:
    """Return samples of classes around random means."""
    draw = torch.Generator().manual_seed(0)
    y = torch.arange(CLASSES * SAMPLES) % CLASSES
    x = torch.randn(len(y), WIDTH, generator=draw) + torch.randn(CLASSES, WIDTH, generator=draw)[y]
    some = Split(x[:CLASSES], y[:CLASSES])
    return Dataset("random", Split(x, y), some, some, tuple(map(str, range(CLASSES))))


def least(work: Callable[[], object], tries: int) -> float:
    """Return the least seconds that some work took."""
    times = []
    for _ in range(tries):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


if __name__ == "__main__":
    main()
