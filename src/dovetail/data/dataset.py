"""A data set: three splits of tensors, and what the tensors mean."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, get_args

import torch

from ..errors import DataError, unknown_name
from .content import ColumnFacts, Content
from .own.arrays import arrays_content
from .own.hugging_face import hugging_face_content
from .own.splitting import USUAL
from .own.tables import frame_content
from .own.torch_sets import torch_content
from .preparation import Preparation, Scale, Texts
from .split import Split, Task, is_finite

if TYPE_CHECKING:
    import pandas as pd


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
    preparation : Preparation or None
        What turned raw samples into these, for data of one's own; parts that are trained on it take raw samples.
        Data sets that are loaded by name have none, but for texts: what they hold is what parts take.
    notes : tuple of str
        What was noticed in reading it.
    columns : tuple of ColumnFacts
        Of a table: the name of each column, its kind, and how many values are missing.

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
    preparation: Preparation | None = None
    notes: tuple[str, ...] = ()
    columns: tuple[ColumnFacts, ...] = ()

    @classmethod
    def from_content(cls, name: str, content: Content, options: dict[str, object] | None = None) -> Dataset:
        """Return what was read or made under a name."""
        train, val, test = content.splits
        return cls(
            name,
            train,
            val,
            test,
            content.classes,
            content.task,
            options or {},
            content.preparation,
            content.notes,
            content.columns,
        )

    @classmethod
    def from_arrays(
        cls,
        x: object,
        y: object,
        *,
        val: tuple[object, object] | None = None,
        test: tuple[object, object] | None = None,
        classes: Sequence[str] | None = None,
        features: Sequence[str] | None = None,
        split: tuple[float, float, float] = USUAL,
        scale: Scale = "auto",
        seed: int = 0,
        name: str = "arrays",
    ) -> Dataset:
        """Return samples and labels that are in memory as a data set: split by class, scaled by what trains.

        Parameters
        ----------
        x : array
            Samples ``[samples, ...]``: numpy, pandas, torch, or lists of numbers. Pictures may have their channels
            first or last, or none.
        y : array
            A class for each: texts, whole numbers or truth values.
        val, test : pair of arrays, optional
            Samples and labels of splits that there are already; else they are taken out of ``x``.
        classes : sequence of str, optional
            Names of the classes in the order of their ids; by default the labels that occur.
        features : sequence of str, optional
            Names of the features; by default those of the columns of a table.
        split : tuple of float
            Shares of train, val and test. A share of 0 leaves a split out; training samples, or those of validation,
            then stand in its place.
        scale : {"auto", "standard", "unit", "none"}
            Mean 0 and variance 1, bytes from 0 to 1, or as they are. By default ``"unit"`` for pictures of bytes,
            ``"standard"`` for everything else.
        seed : int
            What the splits are drawn from.
        name : str
            What to call it.

        Examples
        --------
        >>> import numpy as np
        >>> x, y = np.arange(40.0).reshape(20, 2), ["cat", "dog"] * 10
        >>> data = Dataset.from_arrays(x, y, name="pets")
        >>> data
        Dataset('pets', 13/3/4, input_shape=(2,), outputs=2)
        >>> data.preparation(x[:1]).shape
        torch.Size([1, 2])
        """
        content = arrays_content(
            x,
            y,
            val=val,
            test=test,
            classes=classes,
            features=features,
            split=split,
            scale=scale,
            seed=seed,
            name=name,
        )
        return cls.from_content(name, content, {"seed": seed})

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        target: str | None = None,
        *,
        split: Sequence[float] | str | None = None,
        seed: int = 0,
        name: str = "table",
    ) -> Dataset:
        """Return a table as a data set: columns of numbers, dates, texts and categories turned into features.

        What is done with each column is in `dovetail.data.preparation.Table`; missing values are welcome but in the
        column of classes. A table whose only column beside it holds sentences is a data set of texts.

        Parameters
        ----------
        frame : DataFrame
            A row for each sample.
        target : str, optional
            The column that holds the classes; by default the one that is called so, or the last one if it looks like
            it.
        split : tuple of float or str, optional
            Shares of train, val and test, by default 64, 16 and 20 %; or the column that says which.
        seed : int
            What the splits are drawn from.
        name : str
            What to call it.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"width": [3, 1] * 10, "colour": ["red", "blue"] * 10, "kind": ["cat", "dog"] * 10})
        >>> Dataset.from_frame(frame, "kind").preparation.feature_names
        ('width', 'colour=blue', 'colour=red')
        """
        content = frame_content(frame, target, split=split, seed=seed, name=name)
        return cls.from_content(name, content, {"seed": seed})

    @classmethod
    def from_torch(
        cls,
        dataset: object,
        *,
        val: object = None,
        test: object = None,
        classes: Sequence[str] | None = None,
        split: tuple[float, float, float] | None = None,
        scale: Scale = "auto",
        size: int | tuple[int, int] | None = None,
        seed: int = 0,
        name: str = "torch",
    ) -> Dataset:
        """Return a data set of torch, whose items are pairs of a sample and its label, or dicts of both.

        Parameters
        ----------
        dataset : torch.utils.data.Dataset
            Whatever has a length and gives items by number. Samples are tensors or arrays of one shape, Pillow images
            of any sizes, or texts. They are read once; random changes in a transform would be kept for ever.
        val, test : torch.utils.data.Dataset, optional
            Splits that there are already; else they are taken out of ``dataset``.
        classes : sequence of str, optional
            Names of the classes in the order of their ids; by default the data set's ``classes``, if it has such.
        split : tuple of float, optional
            Shares of train, val and test, by default 64, 16 and 20 %.
        scale : {"auto", "standard", "unit", "none"}
            For tensors and arrays, as in `from_arrays`.
        size : int or (int, int), optional
            For images: height and width, by default what most of them have, up to 64.
        seed : int
            What the splits are drawn from.
        name : str
            What to call it.

        Examples
        --------
        >>> from torch.utils.data import TensorDataset
        >>> Dataset.from_torch(TensorDataset(torch.rand(20, 3), torch.arange(20) % 2))
        Dataset('torch', 13/3/4, input_shape=(3,), outputs=2)
        """
        content = torch_content(
            dataset,
            val=val,
            test=test,
            classes=classes,
            split=split,
            scale=scale,
            size=size,
            seed=seed,
            name=name,
        )
        return cls.from_content(name, content, {"seed": seed})

    @classmethod
    def from_huggingface(
        cls,
        data: object,
        target: str | None = None,
        *,
        inputs: str | None = None,
        split: tuple[float, float, float] | None = None,
        size: int | tuple[int, int] | None = None,
        seed: int = 0,
        name: str = "huggingface",
    ) -> Dataset:
        """Return a data set of Hugging Face, or several that are its splits: images, texts, arrays, or a table.

        Parameters
        ----------
        data : datasets.Dataset or datasets.DatasetDict
            Not streamed. Of several, ``"train"``, ``"validation"`` and ``"test"`` are kept as splits.
        target : str, optional
            The column that holds the classes; by default the only one of class labels, or the one that is called so.
        inputs : str, optional
            The column of images, texts or arrays; by default the only one, or all columns as a table.
        split : tuple of float, optional
            Shares of train, val and test, by default 64, 16 and 20 %, of what is not split already.
        size : int or (int, int), optional
            For images: height and width, by default what most of them have, up to 64.
        seed : int
            What the splits are drawn from.
        name : str
            What to call it.
        """
        content = hugging_face_content(
            data, target, inputs=inputs, split=split, size=size, seed=seed, name=name
        )
        return cls.from_content(name, content, {"seed": seed})

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

    def check_trainable(self) -> None:
        """Refuse data whose samples mean nothing to a network: texts as they are."""
        if isinstance(self.preparation, Texts):
            raise DataError(
                f"{self.name} holds texts as they are, which only a trunk reads (trunk.features(data)); for a network "
                "of its words, read it without texts='raw'"
            )

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Dataset:
        """Return the data on another device, and its floating-point tensors in another type."""
        train, val, test = (split.to(device, dtype) for split in self.splits.values())
        return replace(self, train=train, val=val, test=test)

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
                *([f"  prepared     {self.preparation.describe()}"] if self.preparation else []),
                f"  fingerprint  {self.fingerprint}",
                *(f"  note         {note}" for note in self.notes),
            ]
        )

    def __repr__(self) -> str:
        sizes = "/".join(str(len(split)) for split in self.splits.values())
        return f"Dataset({self.name!r}, {sizes}, input_shape={self.input_shape}, outputs={self.outputs})"


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
