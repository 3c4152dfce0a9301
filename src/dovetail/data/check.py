"""A check of data: what is in it, what is odd about it, and what is done with it, before anything is trained."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ..result import Result
from .dataset import Dataset
from .open_data import open_data
from .split import Split

if TYPE_CHECKING:
    import pandas as pd

_MOST_COMPARED = 2_000_000
_MOST_BYTES_COMPARED = 2**32
"""Of one split: samples after these are not compared with others."""

_AT_ONCE = 2**24
"""Numbers that are looked at at a time."""

_FEW = 3
"""Samples of a class to train on that are worth a note."""

_UNEVEN = 10
"""How many times larger than another a class is when that is worth a note."""

_MOST_LISTED = 20
_MOST_NAMED = 5
_WIDEST = 40


@dataclass(frozen=True, repr=False)
class DataCheck(Result):
    """What data holds; `str` of it is a table for people, `to_dict` plain values.

    Attributes
    ----------
    name : str
        What the data is called.
    samples : dict of str to int
        How many there are in each split.
    classes : dict of str to dict of str to int
        For each class the number of its samples in each split; empty for tasks without classes.
    input_shape : tuple of int
        Shape of a sample as a network sees it.
    columns : tuple of dict
        For tables: ``name``, ``kind`` and ``missing`` (values that are not there) of each column.
    duplicates : dict of str to int
        How many samples occur before in the same split (``"train"``), and how many of a split occur in an earlier one
        (``"train in test"``), with whatever class. Samples are compared as a network sees them.
    contradictions : int
        How many samples have a twin of another class.
    preparation : str
        What is done to raw samples.
    notes : tuple of str
        What else was noticed.
    """

    name: str
    samples: dict[str, int]
    classes: dict[str, dict[str, int]]
    input_shape: tuple[int, ...]
    columns: tuple[dict[str, object], ...]
    duplicates: dict[str, int]
    contradictions: int
    preparation: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"DataCheck({self.name!r}, {sum(self.samples.values()):,} samples, {len(self.classes)} classes)"
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each class, and how many samples each split has of it."""
        import pandas as pd

        if not self.classes:
            return pd.DataFrame([self.samples])
        return pd.DataFrame([{"class": name, **counts} for name, counts in self.classes.items()])

    def _lines(self) -> Iterator[str]:
        shape = " × ".join(f"{side:,}" for side in self.input_shape)
        classes = f", {len(self.classes):,} classes" if self.classes else ""
        yield f"{self.name}: {sum(self.samples.values()):,} samples of {shape} numbers{classes}"
        yield f"prepared: {self.preparation}"
        yield ""
        yield from _table(["class", *self.samples], self._class_rows())
        if self.columns:
            yield ""
            yield from _table(["column", "kind", "missing"], self._column_rows())
        twins = [(name, count) for name, count in self.duplicates.items() if count]
        yield ""
        yield "duplicates: " + (", ".join(f"{name} {count:,}" for name, count in twins) or "none")
        yield f"samples with a twin of another class: {f'{self.contradictions:,}' if self.contradictions else 'none'}"
        yield from (f"note: {note}" for note in self.notes)

    def _class_rows(self) -> list[list[str]]:
        """Return the rows of classes: of a long list the first ones, and how large the others are."""
        shown = list(self.classes.items())[: _most(len(self.classes))]
        rows = [[name, *(f"{count:,}" for count in counts.values())] for name, counts in shown]
        others = list(self.classes.values())[len(shown) :]
        if others:
            ranges = []
            for split in self.samples:
                counts = [other[split] for other in others]
                ranges.append(
                    f"{min(counts):,}–{max(counts):,}" if min(counts) < max(counts) else f"{min(counts):,}"
                )
            rows.append([f"{len(others):,} more, each", *ranges])
        return [*rows, ["all", *(f"{count:,}" for count in self.samples.values())]]

    def _column_rows(self) -> list[list[str]]:
        """Return the rows of columns: of a long list the first ones, and how many of each kind the others are."""
        shown = self.columns[: _most(len(self.columns))]
        rows = [[str(column["name"]), str(column["kind"]), f"{column['missing']:,}"] for column in shown]
        others = self.columns[len(shown) :]
        for kind in dict.fromkeys(str(column["kind"]) for column in others):
            missing = [int(str(column["missing"])) for column in others if column["kind"] == kind]
            rows.append([f"{len(missing):,} more", kind, f"{sum(missing):,}"])
        return rows


def check_data(data: Dataset | str) -> DataCheck:
    """Say what is in data before it is trained on.

    Parameters
    ----------
    data : Dataset or str
        The data, or a text as `open_data` takes it.

    Examples
    --------
    >>> found = check_data("digits")
    >>> found
    DataCheck('digits', 1,797 samples, 10 classes)
    >>> found.classes["7"], found.duplicates["train in test"], found.contradictions
    ({'train': 114, 'val': 29, 'test': 36}, 0, 0)
    """
    data = data if isinstance(data, Dataset) else open_data(data)
    # A split that stands in for another is looked at once.
    splits: dict[str, Split] = {}
    for name, split in data.splits.items():
        if not any(split is other for other in splits.values()):
            splits[name] = split
    keys = {name: _keys(split.x) for name, split in splits.items()}
    duplicates = {name: len(found) - len(np.unique(found)) for name, found in keys.items()}
    for earlier, later in combinations(keys, 2):
        duplicates[f"{earlier} in {later}"] = int(np.isin(keys[later], keys[earlier]).sum())
    classes = _class_sizes(data)
    return DataCheck(
        data.name,
        {name: len(split) for name, split in data.splits.items()},
        classes,
        data.input_shape,
        tuple(column._asdict() for column in data.columns),
        duplicates,
        _contradictions(splits, keys),
        "as they are" if data.preparation is None else data.preparation.describe(),
        (*data.notes, *_notes_on_classes(classes), *_notes_on_comparing(splits, keys)),
    )


def _class_sizes(data: Dataset) -> dict[str, dict[str, int]]:
    if data.task != "classes":
        return {}
    counts = {
        name: np.bincount(split.y.cpu().numpy(), minlength=len(data.classes))
        for name, split in data.splits.items()
    }
    return {
        label: {name: int(count[number]) for name, count in counts.items()}
        for number, label in enumerate(data.classes)
    }


def _keys(x: Tensor) -> NDArray[np.uint64]:
    """Return a number for each sample that is the same for equal ones, and for others is not."""
    numbers = max(1, math.prod(x.shape[1:]))
    count = min(len(x), _MOST_COMPARED, max(1, _MOST_BYTES_COMPARED // (numbers * x.element_size())))
    keys = np.empty(count, np.uint64)
    step = max(1, _AT_ONCE // numbers)
    for start in range(0, count, step):
        # Adding 0 makes 0 of -0, which is equal to it.
        rows = (
            (x[start : min(start + step, count)].detach().cpu().float().flatten(1) + 0.0).contiguous().numpy()
        )
        for place, row in enumerate(rows, start):
            keys[place] = int.from_bytes(blake2b(row.data, digest_size=8).digest())
    return keys


def _contradictions(splits: dict[str, Split], keys: dict[str, NDArray[np.uint64]]) -> int:
    """Return how many samples have a twin with another target."""
    every = np.concatenate(list(keys.values()))
    targets = np.concatenate([_targets(splits[name].y)[: len(found)] for name, found in keys.items()])
    order = np.argsort(every, kind="stable")
    every, targets = every[order], targets[order]
    starts = np.flatnonzero(np.concatenate([[True], every[1:] != every[:-1]]))
    mixed = np.minimum.reduceat(targets, starts) != np.maximum.reduceat(targets, starts)
    return int(np.diff([*starts, len(every)])[mixed].sum())


def _targets(y: Tensor) -> NDArray[np.uint64]:
    return _keys(y) if y.dim() > 1 else y.detach().cpu().numpy().astype(np.uint64)


def _notes_on_classes(classes: dict[str, dict[str, int]]) -> Iterator[str]:
    train = {name: counts["train"] for name, counts in classes.items()}
    there = [name for name, count in train.items() if count]
    if len(there) == 1:
        yield (
            f"all samples to train on are of one class, {there[0]!r}: there is nothing to tell it from, and a part "
            "would be sure of everything; add samples of other classes, of whatever kind"
        )
    few = [name for name, count in train.items() if count < _FEW]
    if few:
        yield f"{_classes_have(few)} fewer than {_FEW} samples to train on: {_shortened([repr(name) for name in few])}"
    for split, what in (("train", "training"), ("val", "validation")):
        none = {name: sum(counts.values()) for name, counts in classes.items() if not counts[split]}
        if none:
            which = [f"{name!r} ({count:,} in all)" for name, count in none.items()]
            yield (
                f"{_classes_have(which)} no {what} samples, and training refuses such: {_shortened(which)}; give "
                f"{'it' if len(none) == 1 else 'them'} some, or leave {'it' if len(none) == 1 else 'them'} out of "
                "rewarded= (-r on the command line, once for each other class)"
            )
    sizes = [count for count in train.values() if count]
    if sizes and max(sizes) >= _UNEVEN * min(sizes):
        yield (
            f"the largest class has {max(sizes) // min(sizes):,} times as many samples to train on as the smallest; "
            "balanced=True (--balanced) weighs them alike"
        )


def _classes_have(names: Sequence[str]) -> str:
    return "1 class has" if len(names) == 1 else f"{len(names):,} classes have"


def _shortened(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


def _notes_on_comparing(splits: dict[str, Split], keys: dict[str, NDArray[np.uint64]]) -> Iterator[str]:
    for name, found in keys.items():
        if len(found) < len(splits[name]):
            yield f"duplicates were looked for among the first {len(found):,} samples of {name}"


def _most(count: int) -> int:
    """Return how many of a list to show: all, if hardly more than would be shown anyway."""
    return count if count <= _MOST_LISTED + 2 else _MOST_LISTED


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, numbers to the right."""
    columns = []
    for head, *cells in zip(heads, *rows, strict=True):
        shown = [_short(cell) for cell in (head, *cells)]
        width = max(map(len, shown))
        numbers = all(cell[:1].isdigit() for cell in cells)
        columns.append([cell.rjust(width) if numbers else cell.ljust(width) for cell in shown])
    # The first column has names, though they may look like numbers.
    columns[0] = [cell.strip().ljust(len(cell)) for cell in columns[0]]
    for line in zip(*columns, strict=True):
        yield "  ".join(line).rstrip()


def _short(cell: str) -> str:
    return cell if len(cell) <= _WIDEST else f"{cell[: _WIDEST - 1]}…"
