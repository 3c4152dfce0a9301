"""A folder of features: what a trunk made of a data set, as it is kept on disk and read again.

It holds ``features.json`` (what they are) and for each split ``NAME.x.npy`` and ``NAME.y.npy``; features are stored as
the trunk gave them, and scaled when they are read. ``features.json`` is written last, so a folder that has it is whole.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from ...errors import FileFormatError
from ...io.fields import parse, refuse_newer
from ..content import Content
from ..preparation.features import Features
from ..split import Split, Task
from .rows import MOST_IN_MEMORY, chunks, empty_rows

FILE = "features.json"
SCHEMA = "dovetail.features/1"
SPLITS = ("train", "val", "test")

_MOST_JSON = 2**26
"""Bytes of ``features.json``: a preparation may hold a hundred thousand numbers several times."""


class FeaturesFile(BaseModel):
    """What ``features.json`` says.

    Attributes
    ----------
    key : str
        Hash of all that the features depend on.
    name : str
        What to call the data set.
    splits : dict
        Samples of each split.
    same : dict
        Splits that are another one's samples, and whose.
    preparation : Features
        The trunk, and how its features are scaled.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Not `schema`, which pydantic's models have as a method.
    version: Literal["dovetail.features/1"] = Field(default="dovetail.features/1", alias="schema")
    key: str
    name: str
    classes: tuple[str, ...]
    task: Task
    splits: dict[Literal["train", "val", "test"], int]
    same: dict[Literal["train", "val", "test"], Literal["train", "val", "test"]] = {}
    preparation: Features
    notes: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Return it as JSON."""
        return json.dumps(self.model_dump(mode="json", by_alias=True))


def is_features(path: Path) -> bool:
    """Return whether a path is a folder of features."""
    return (path / FILE).is_file()


def read_features_file(folder: Path) -> FeaturesFile:
    """Return what a folder of features says about itself.

    Raises
    ------
    FileFormatError
        When it is damaged, or of a newer version.
    """
    path = folder / FILE
    try:
        if path.stat().st_size > _MOST_JSON:
            raise FileFormatError(
                f"{path} has more than {_MOST_JSON:,} bytes, more than any that dovetail writes"
            )
        content = parse(path.read_text("utf-8"))
        if isinstance(content, dict):
            refuse_newer(content, SCHEMA)
        return FeaturesFile.model_validate(content)
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is no text; it was altered or damaged") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "content"
        raise FileFormatError(f"{path} is not what dovetail writes ({where}: {first['msg']})") from None
    except FileFormatError as error:
        raise error if str(path) in str(error) else FileFormatError(f"{path}: {error}") from None


def features_content(folder: Path, preparation: Features | None = None) -> Content:
    """Return the data set that a folder of features holds.

    Features beyond a gibibyte stay in files that are mapped into memory.

    Parameters
    ----------
    folder : Path
        The folder.
    preparation : Features, optional
        How to scale them, if not as the folder says.

    Raises
    ------
    FileFormatError
        When a file of it is missing, cut short, or of another shape than ``features.json`` says.
    """
    about = read_features_file(folder)
    if preparation is not None:
        about = about.model_copy(update={"preparation": preparation})
    own: dict[str, Split] = {}
    for name in SPLITS:
        if name not in about.splits:
            raise FileFormatError(f"{folder / FILE} names no split {name!r}")
        if name not in about.same:
            own[name] = _split(folder, name, about.splits[name], about)
    for name, other in about.same.items():
        if other not in own:
            raise FileFormatError(f"{folder / FILE}: {name} is said to be {other}, which it does not hold")
    splits = [own[about.same.get(name, name)] for name in SPLITS]  # type: ignore[call-overload]
    return Content(splits, about.classes, about.task, about.preparation, about.notes)


def _split(folder: Path, name: str, count: int, about: FeaturesFile) -> Split:
    x = _array(folder / f"{name}.x.npy")
    y = _array(folder / f"{name}.y.npy")
    if x.dtype != np.float32 or x.shape != (count, *about.preparation.shape):
        raise FileFormatError(
            f"{folder / name}.x.npy holds {x.dtype} {x.shape}, and should hold float32 "
            f"{(count, *about.preparation.shape)}; delete the folder, and compute them again"
        )
    if len(y) != count:
        raise FileFormatError(f"{folder / name}.y.npy holds {len(y):,} targets for {count:,} samples")
    return Split(scaled(x, about.preparation), torch.from_numpy(np.array(y)))


def _array(path: Path) -> NDArray[Any]:
    """Return a mapped array, of which what is written to it stays here."""
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="c", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise FileFormatError(
            f"{path} is missing or cut short ({error}); delete the folder, and compute the features again"
        ) from None
    return array


def scaled(x: NDArray[np.float32], preparation: Features) -> Tensor:
    """Return features scaled: in memory, or many of them in a file that is mapped into it."""
    if preparation.shift == (0.0,) and preparation.scale == (1.0,):
        return torch.from_numpy(x if x.nbytes > MOST_IN_MEMORY else np.array(x))
    made = empty_rows(x.shape, np.float32)
    for some in chunks(len(x), math.prod(x.shape[1:])):
        made[some] = preparation.scaled(torch.from_numpy(np.array(x[some]))).numpy()
    return torch.from_numpy(made)
