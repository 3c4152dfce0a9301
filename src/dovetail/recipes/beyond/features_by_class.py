"""Features by class: what a trunk makes of a data set, cut by class, for classes that come one after the other."""

from __future__ import annotations

from dataclasses import replace

import torch

from ...data.dataset import Dataset
from ...data.split import Split


def in_order(data: Dataset, order: int) -> Dataset:
    """Return data whose classes are in another order, one of many.

    Names begin with the place of their class, so that the order of the alphabet, in which sums have theirs, is that in
    which classes come.

    Examples
    --------
    >>> import dovetail as dt
    >>> in_order(dt.load("digits"), 0).classes[:3]
    ('000 4', '001 1', '002 7')
    """
    drawn = torch.randperm(data.outputs, generator=torch.Generator().manual_seed(order))
    place = drawn.argsort()
    train, val, test = (Split(split.x, place[split.y]) for split in data.splits.values())
    names = tuple(f"{number:03d} {data.classes[one]}" for number, one in enumerate(drawn.tolist()))
    return replace(data, train=train, val=val, test=test, classes=names)


def of_classes(data: Dataset, first: int, end: int) -> Dataset:
    """Return the samples of the classes from one to before another, which are all in its class list.

    Examples
    --------
    >>> import dovetail as dt
    >>> of_classes(dt.load("digits"), 3, 5).classes
    ('3', '4')
    """
    train, val, test = (
        Split(split.x[own], split.y[own] - first)
        for split in data.splits.values()
        for own in ((split.y >= first) & (split.y < end),)
    )
    return replace(data, train=train, val=val, test=test, classes=data.classes[first:end])


def scaled_by(data: Dataset, samples: Split) -> Dataset:
    """Return features brought to mean 0 and variance 1 of some samples, such as those that were there first.

    What they were scaled by before cancels out, so that nothing of other classes is left in them.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> low = data.train.where(data.train.y < 2)
    >>> float(scaled_by(data, low).train.where(data.train.y < 2).x.mean().abs()) < 1e-6
    True
    """
    shift, scale = samples.x.mean(0), samples.x.std(0).clamp(min=1e-6)
    train, val, test = (Split((split.x - shift) / scale, split.y) for split in data.splits.values())
    return replace(data, train=train, val=val, test=test, preparation=None)
