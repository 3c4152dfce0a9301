"""Data sets of torch: whatever has a length and gives pairs of a sample and its label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import TensorDataset

from ...errors import DataError
from ...importing import failed
from ..content import Content
from ..preparation import Scale
from .array_files import role_of
from .arrays import arrays_content
from .pictures import Size, pictures_content
from .progress import shown
from .rows import empty_rows
from .splitting import USUAL
from .texts import texts_content
from .wording import listed

_SPLITS = ("train", "val", "test")
_AT_ONCE = 256


def torch_content(
    dataset: Any,
    *,
    val: Any = None,
    test: Any = None,
    classes: Sequence[str] | None = None,
    split: tuple[float, float, float] | None = None,
    scale: Scale = "auto",
    size: Size | None = None,
    seed: int = 0,
    name: str = "torch",
) -> Content:
    """Return what `Dataset.from_torch` holds."""
    given = {number: one for number, one in enumerate((dataset, val, test)) if one is not None}
    parts = {number: _Items(one, _SPLITS[number]) for number, one in given.items()}
    first = parts[0].sample(0)
    if classes is None:
        classes = _classes(dataset)
    if not isinstance(first, str) and not _is_picture(first):
        pairs = {number: part.arrays(name) for number, part in parts.items()}
        x, y = pairs[0]
        return arrays_content(
            x,
            y,
            val=pairs.get(1),
            test=pairs.get(2),
            classes=classes,
            split=USUAL if split is None else split,
            scale=scale,
            seed=seed,
            name=name,
        )
    labels = [label for part in parts.values() for label in part.labels(name)]
    numbers = np.repeat(list(parts), [len(part) for part in parts.values()])
    if isinstance(first, str):
        return texts_content(
            [part.sample(row) for part in parts.values() for row in range(len(part))],
            labels,
            split=split,
            splits=[_SPLITS[number] for number in numbers] if len(parts) > 1 else None,
            seed=seed,
            name=name,
        )
    return pictures_content(
        _Samples(list(parts.values())),
        labels,
        official=numbers if len(parts) > 1 else None,
        classes=classes,
        split=split,
        size=size,
        seed=seed,
        name=name,
    )


class _Items:
    """The samples and labels of a data set."""

    def __init__(self, dataset: Any, split: str) -> None:
        if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
            hint = (
                "hand over its .dataset" if hasattr(dataset, "dataset") else "collect its samples into a list"
            )
            raise DataError(
                f"the {split} data is a {type(dataset).__name__}, whose items cannot be asked for by number; {hint}"
            )
        if not len(dataset):
            raise DataError(f"the {split} data is empty")
        self._dataset, self._split = dataset, split

    def __len__(self) -> int:
        return len(self._dataset)

    def sample(self, row: int) -> Any:
        return self._pair(row).x

    def labels(self, name: str) -> list[Any]:
        """Return all labels, if need be by asking for every item."""
        known = getattr(self._dataset, "targets", None)
        if (
            known is not None
            and len(known) == len(self)
            and getattr(self._dataset, "target_transform", None) is None
        ):
            return [_plain(label) for label in known]
        return [_plain(self._pair(row).y) for row in _rows(self, f"reading labels of {name}")]

    def arrays(self, name: str) -> tuple[Any, Any]:
        """Return all samples as one array, and their labels."""
        if isinstance(self._dataset, TensorDataset) and len(self._dataset.tensors) == 2:
            x_and_y: tuple[Any, ...] = self._dataset.tensors
            return x_and_y[0], x_and_y[1]
        first = _array(self.sample(0))
        x = empty_rows((len(self), *first.shape), first.dtype)
        labels = []
        for row in _rows(self, f"reading {name}"):
            pair = self._pair(row)
            array = _array(pair.x)
            if array.shape != first.shape or array.dtype != first.dtype:
                raise DataError(
                    f"sample {row} of the {self._split} data is {array.dtype} of shape {array.shape}, and the first "
                    f"{first.dtype} of shape {first.shape}; a transform can make all alike"
                )
            x[row] = array
            labels.append(_plain(pair.y))
        return x, labels

    def _pair(self, row: int) -> _Pair:
        try:
            item = self._dataset[row]
        except Exception as error:
            raise failed(f"item {row} of the {self._split} data", error) from error
        if isinstance(item, Mapping):
            roles = {key: role_of(str(key)) for key in item}
            x = [key for key, role in roles.items() if role and role.is_x and not role.rest]
            y = [key for key, role in roles.items() if role and not role.is_x and not role.rest]
            if len(x) == len(y) == 1:
                return _Pair(item[x[0]], item[y[0]])
            raise DataError(
                f"items of the {self._split} data are dicts of {listed(item)}; one sample and one label are needed, "
                "called so: image and label, or x and y"
            )
        if isinstance(item, tuple | list) and len(item) == 2:
            return _Pair(*item)
        what = f"{len(item)} values" if isinstance(item, tuple | list) else f"a {type(item).__name__}"
        raise DataError(
            f"items of the {self._split} data are {what}; a pair of a sample and its label is needed"
        )


class _Pair(NamedTuple):
    x: Any
    y: Any


class _Samples(Sequence[Any]):
    """The samples of several data sets one after the other, each asked for when it is needed."""

    def __init__(self, parts: Sequence[_Items]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __getitem__(self, row: Any) -> Any:
        for part in self._parts:
            if row < len(part):
                return part.sample(int(row))
            row -= len(part)
        raise IndexError(row)


def _rows(items: _Items, title: str) -> Any:
    for start in shown(range(0, len(items), _AT_ONCE), title):
        yield from range(start, min(start + _AT_ONCE, len(items)))


def _classes(dataset: Any) -> list[str] | None:
    """Return the names of the classes, if the data set or the one that it is a part of has some."""
    for _ in range(10):
        names = getattr(dataset, "classes", None)
        if isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names):
            return list(names) if len(set(names)) == len(names) else None
        inside = getattr(dataset, "datasets", None) or [getattr(dataset, "dataset", None)]
        if inside[0] is None:
            return None
        dataset = inside[0]
    return None


def _is_picture(sample: Any) -> bool:
    return hasattr(sample, "convert") and hasattr(sample, "getexif")


def _array(sample: Any) -> NDArray[Any]:
    if isinstance(sample, Tensor):
        sample = sample.detach().cpu()
        return np.asarray((sample.float() if sample.dtype == torch.bfloat16 else sample).numpy())
    try:
        return np.asarray(sample)
    except ValueError:
        raise DataError(
            f"a sample is a tensor, an array, a picture or a text, not {type(sample).__name__}"
        ) from None


def _plain(label: Any) -> Any:
    """Return a label that is a tensor or array of one number as that number."""
    return label.item() if hasattr(label, "item") and getattr(label, "ndim", 1) == 0 else label
