"""Small data sets that are odd in one way each."""

from __future__ import annotations

import torch
from torch import Tensor

from dovetail.data import Dataset, Split

FEATURES = 6
NAN, INF = float("nan"), float("inf")


def split(samples: int, classes: int, *, x: Tensor | None = None, missing: int | None = None) -> Split:
    """Return random samples of all classes by turns, less those of a missing one."""
    draw = torch.Generator().manual_seed(samples)
    inputs = torch.randn(samples, FEATURES, generator=draw) if x is None else x.expand(samples, FEATURES)
    given = Split(inputs.clone(), torch.arange(samples) % classes)
    return given if missing is None else given.where(given.y != missing)


def data(
    classes: int = 3,
    *,
    samples: int = 30,
    x: Tensor | None = None,
    missing: dict[str, int] | None = None,
    names: tuple[str, ...] | None = None,
) -> Dataset:
    """Return three such splits; ``missing`` says which class which of them lacks."""
    lacks = missing or {}
    train, val, test = (
        split(samples, classes, x=x, missing=lacks.get(name)) for name in ("train", "val", "test")
    )
    return Dataset("odd", train, val, test, names or tuple(f"c{number}" for number in range(classes)))


def constant_columns() -> Dataset:
    """Return data whose first column is constant and not 0, and whose second is 0."""
    whole = data()
    for part in whole.splits.values():
        part.x[:, 0], part.x[:, 1] = 7.0, 0.0
    return whole


def one_sample() -> Split:
    """Return a split with one sample, of class 0."""
    return split(1, 1)
