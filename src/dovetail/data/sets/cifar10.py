"""CIFAR-10, from the official binary version."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..content import Content
from ..files import Files, damaged, read_bytes
from ..registry import Fraction, register
from ..sources import Download, Source
from ..split import Split
from ..splits import held_out, standardise_

_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_SHAPE = (3, 32, 32)
_IMAGES = 10_000
_RECORD = 1 + 3 * 32 * 32
_TRAIN_FILES = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
_TEST_FILE = "test_batch.bin"
_SOURCE = Source(
    (*_TRAIN_FILES, _TEST_FILE),
    (
        Download(
            "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        ),
    ),
    archive_folder="cifar-10-batches-bin",
)


@register("cifar10", kind="files", source=_SOURCE)
def cifar10(files: Files, *, val: Fraction = 0.2, scale: Literal["standard", "unit"] = "standard") -> Content:
    """60,000 colour photographs of 32 × 32 pixels in ten classes, each channel standardised.

    ``scale="unit"`` leaves pixels from 0 to 1 instead, as trunks take pictures.
    """
    records = np.concatenate([_read(files, file) for file in _TRAIN_FILES])
    kept, held = held_out(len(records), val, files.folder)
    splits = (records[kept], records[held], _read(files, _TEST_FILE))
    inputs = [_pixels(split) for split in splits]
    if scale == "unit":
        inputs = [pixels.div_(255) for pixels in inputs]
    else:
        standardise_(*inputs, over=(0, 2, 3))
    labels = [torch.from_numpy(split[:, 0].astype(np.int64)) for split in splits]
    return Content([Split(x, y) for x, y in zip(inputs, labels, strict=True)], _CLASSES)


def _pixels(records: NDArray[np.uint8]) -> Tensor:
    return torch.from_numpy(records[:, 1:].astype(np.float32)).view(-1, *_SHAPE)


def _read(files: Files, name: str) -> NDArray[np.uint8]:
    """Return the records of one file: a label, then the red, green and blue planes."""
    path = files.folder / name
    content = read_bytes(path)
    if len(content) % _RECORD:
        raise damaged(path, f"holds {len(content):,} bytes, not a multiple of the {_RECORD:,} of a record")
    records = np.frombuffer(content, np.uint8).reshape(-1, _RECORD)
    files.check_count(path, "images", len(records), _IMAGES)
    highest = records[:, 0].max()
    if highest >= len(_CLASSES):
        raise damaged(path, f"holds the label {highest}, but labels go from 0 to {len(_CLASSES) - 1}")
    return records
