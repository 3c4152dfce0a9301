"""Rows that may be too many for memory: an array, or beyond a gibibyte a file that is mapped into memory."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from ...errors import DataError
from ..preparation import Preparation
from ..sources import cache_folder

MOST_IN_MEMORY = 2**30
"""Bytes of an array; larger ones are files."""

_AT_ONCE = 2**24
"""Numbers that are copied or prepared at a time."""


def empty_rows(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array to fill: in memory, or a mapped file in the cache that nobody sees, and that goes with the array.

    Raises
    ------
    DataError
        When there is no room for the file.

    Examples
    --------
    >>> empty_rows((3, 2), np.float32).shape
    (3, 2)
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size <= MOST_IN_MEMORY:
        return np.empty(shape, dtype)
    folder = cache_folder("rows")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            # A file with holes would only be found too large when memory is written, and that ends the process.
            os.posix_fallocate(file.fileno(), 0, size)
            return np.memmap(file, dtype, "r+", shape=shape)
    except OSError as error:
        raise DataError(
            f"cannot keep {size / 2**30:.1f} GiB of samples in {folder} ({error.strerror or error}); set "
            "$DOVETAIL_CACHE to a folder with more room, or take fewer or smaller samples"
        ) from error


def take_rows(array: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return the chosen rows of an array, which may itself be a mapped file.

    Examples
    --------
    >>> take_rows(np.arange(6).reshape(3, 2), np.array([2, 0])).tolist()
    [[4, 5], [0, 1]]
    """
    taken = empty_rows((len(rows), *array.shape[1:]), array.dtype)
    for some in chunks(len(rows), math.prod(array.shape[1:])):
        taken[some] = array[rows[some]]
    return taken


def prepared_rows(preparation: Preparation, raw: Any) -> Tensor:
    """Return raw samples as a network sees them; many of them some at a time, in a mapped file."""
    numbers = math.prod(preparation.input_shape)
    if len(raw) * numbers * 4 <= MOST_IN_MEMORY:
        return preparation(raw)
    prepared = empty_rows((len(raw), *preparation.input_shape), np.float32)
    for some in chunks(len(raw), numbers):
        prepared[some] = preparation(raw[some]).numpy()
    return torch.from_numpy(prepared)


def chunks(rows: int, numbers: int) -> Iterator[slice]:
    """Yield all rows, some at a time, by how many numbers each has."""
    step = max(1, _AT_ONCE // max(numbers, 1))
    for start in range(0, rows, step):
        yield slice(start, start + step)
