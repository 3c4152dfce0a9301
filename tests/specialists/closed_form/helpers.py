"""Small data for sums: classes of random samples around means of their own."""

from __future__ import annotations

import torch

import dovetail as dt
from dovetail.data import Dataset, Split

CLASSES = ("ant", "bee", "cat", "dog", "eel")


def split_of(count: int, seed: int, classes: tuple[str, ...] = CLASSES, width: int = 6) -> Split:
    """Samples of classes that follow from their names, so that lists may differ."""
    draw = torch.Generator().manual_seed(seed)
    y = torch.arange(count) % len(classes)
    means = torch.stack(
        [torch.randn(width, generator=torch.Generator().manual_seed(sum(map(ord, name)))) for name in classes]
    )
    return Split(torch.randn(count, width, generator=draw) + 2 * means[y], y)


def data_of(seed: int = 0, classes: tuple[str, ...] = CLASSES, count: int = 60) -> Dataset:
    train, val, test = (split_of(count, 3 * seed + part, classes) for part in range(3))
    return Dataset("animals", train, val, test, classes)


def team_of(data: Dataset, features: int | None = 40, **options: object) -> list[dt.Sums]:
    there = data.train.y.unique().tolist()
    return dt.sums(data, there, features=features, **options)  # type: ignore[arg-type]
