"""A data set: three splits of tensors, and what the tensors mean."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import torch
from torch import Tensor

from ..errors import DataError, unknown_name

Task = Literal["classes", "bits", "values"]
"""What ``y`` holds: a class id per sample, a row of 0/1 bits, or a row of real values."""


@dataclass(frozen=True, eq=False)
class Split:
    """Samples and their targets, one row each.

    Attributes
    ----------
    x : Tensor
        Inputs, ``[samples, ...]``, floating point.
    y : Tensor
        Targets: class ids ``[samples]`` (int64), or rows of bits or values ``[samples, outputs]``.

    Examples
    --------
    >>> split = Split(torch.zeros(3, 2), torch.tensor([0, 1, 1]))
    >>> len(split), len(split.where(split.y == 1))
    (3, 2)
    """

    x: Tensor
    y: Tensor

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            if not isinstance(getattr(self, name), Tensor):
                kind = type(getattr(self, name)).__name__
                raise DataError(f"{name} of a split must be a torch tensor, not {kind}; use torch.as_tensor")
        if len(self.x) != len(self.y):
            raise DataError(
                f"a split needs one target per sample: {len(self.x)} samples, {len(self.y)} targets"
            )

    def __len__(self) -> int:
        return len(self.x)

    def __iter__(self) -> Iterator[Tensor]:
        """Unpack as ``x, y = split``."""
        return iter((self.x, self.y))

    def where(self, keep: Tensor) -> Split:
        """Return the samples at ``keep``: a 0/1 mask over the samples, or their indices."""
        return Split(self.x[keep], self.y[keep])

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Split:
        """Return the split on another device, and its floating-point tensors in another type."""
        x, y = (t.to(device=device, dtype=dtype if t.is_floating_point() else None) for t in self)
        return self if x is self.x and y is self.y else Split(x, y)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Train, validation and test splits with their names.

    Attributes
    ----------
    name : str
        The name it was loaded under.
    train, val, test : Split
        The three splits; each has samples. No statistic of ``val`` or ``test`` has entered ``train``.
    classes : tuple of str
        What each output stands for: class names, or names of bits or values.
    task : {"classes", "bits", "values"}
        What the targets are.
    options : dict
        The options it was loaded with.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> data.input_shape, len(data.classes), data.task
    ((1, 8, 8), 10, 'classes')
    """

    name: str
    train: Split
    val: Split
    test: Split
    classes: tuple[str, ...]
    task: Task = "classes"
    options: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample."""
        return tuple(self.train.x.shape[1:])

    @property
    def outputs(self) -> int:
        """Number of outputs a network for this data needs."""
        return len(self.classes)

    @property
    def splits(self) -> dict[str, Split]:
        """The three splits by name."""
        return {"train": self.train, "val": self.val, "test": self.test}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all samples, targets and class names: equal data, equal fingerprint."""
        digest = hashlib.sha256("\0".join(self.classes).encode())
        for split in self.splits.values():
            for tensor in split:
                digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
                digest.update(tensor.detach().cpu().contiguous().numpy().data)
        return digest.hexdigest()[:16]

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Dataset:
        """Return the data on another device, and its floating-point tensors in another type."""
        train, val, test = (split.to(device, dtype) for split in self.splits.values())
        return Dataset(self.name, train, val, test, self.classes, self.task, self.options)

    def describe(self) -> str:
        """Return a few lines that say what the data is."""
        what = {"classes": "classes", "bits": "output bits", "values": "output values"}[self.task]
        options = ", ".join(f"{key}={value}" for key, value in self.options.items())
        sizes = ", ".join(f"{name} {len(split):,}" for name, split in self.splits.items())
        return "\n".join(
            [
                f"{self.name}{f' ({options})' if options else ''}",
                f"  samples      {sizes}",
                f"  input shape  {' × '.join(map(str, self.input_shape))}",
                f"  {what:<11}  {self.outputs}: {_shortened(self.classes)}",
                f"  fingerprint  {self.fingerprint}",
            ]
        )

    def __repr__(self) -> str:
        sizes = "/".join(str(len(split)) for split in self.splits.values())
        return f"Dataset({self.name!r}, {sizes}, input_shape={self.input_shape}, outputs={self.outputs})"


def is_finite(values: Tensor) -> bool:
    """Whether a tensor holds neither NaN nor infinity.

    Examples
    --------
    >>> is_finite(torch.tensor([1.0, 2.0])), is_finite(torch.tensor([1.0, torch.nan]))
    (True, False)
    """
    # Extremes are NaN where any value is, and one pass finds both: ten times as fast as isfinite(values).all().
    return not values.numel() or all(math.isfinite(extreme) for extreme in values.detach().aminmax())


def _shortened(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, …"


def _way_to_split(name: str, given: object) -> str:
    """Return what to write in place of something that is no split."""
    if given is None:
        return (
            "data has all three splits, because training watches val and scores need test; hold some samples back, or "
            f"pass {'another' if name == 'train' else 'the train'} split here if there are too few to spare"
        )
    if isinstance(given, tuple | list) and len(given) == 2:
        return f"a split is a dovetail.Split, not a {type(given).__name__}; write Split(x, y)"
    return f"a split is a dovetail.Split of inputs and targets, not a {type(given).__name__}"


def _check(data: Dataset) -> None:
    """Refuse what no network could be trained on, naming the split."""
    if data.task not in get_args(Task):
        raise unknown_name("task", data.task, get_args(Task))
    for name, split in data.splits.items():
        if not isinstance(split, Split):
            raise DataError(f"{data.name}, {name}: {_way_to_split(name, split)}")
    if isinstance(data.classes, str) or not all(isinstance(name, str) for name in data.classes):
        raise DataError(f"{data.name}: classes must be texts, one for each output; got {data.classes!r:.80}")
    twice = [name for name, count in Counter(data.classes).items() if count > 1]
    if twice:
        raise DataError(
            f"{data.name}: several outputs are called {_shortened(twice)}; give each a name of its own"
        )
    for name, split in data.splits.items():
        where = f"{data.name}, {name} split"
        if not len(split):
            raise DataError(f"{where}: no samples")
        if split.x.shape[1:] != data.train.x.shape[1:]:
            raise DataError(
                f"{where}: samples of shape {tuple(split.x.shape[1:])}, but train has {data.input_shape}"
            )
        if not is_finite(split.x):
            raise DataError(f"{where}: inputs hold NaN or infinity; clean them first")
        if data.task == "classes":
            if split.y.dtype != torch.int64 or split.y.dim() != 1:
                raise DataError(
                    f"{where}: class ids must be a vector of int64, not {split.y.dtype} {tuple(split.y.shape)}"
                )
            low, high = int(split.y.min()), int(split.y.max())
            if low < 0 or high >= len(data.classes):
                raise DataError(
                    f"{where}: class ids {low} to {high}, but there are {len(data.classes)} classes"
                )
        elif split.y.dim() != 2 or split.y.shape[1] != len(data.classes):
            raise DataError(
                f"{where}: targets of shape {tuple(split.y.shape)} for {len(data.classes)} outputs"
            )
        elif not is_finite(split.y):
            raise DataError(f"{where}: targets hold NaN or infinity; clean them first")
