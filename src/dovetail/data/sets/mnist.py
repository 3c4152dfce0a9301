"""MNIST, from its official idx files; Fashion-MNIST comes in the same form and is read by the same functions."""

from __future__ import annotations

import gzip
import io
import math
import zlib
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ..content import Content
from ..files import MOST_BYTES, Files, damaged, read_bytes
from ..registry import Fraction, register
from ..sources import Download, Source
from ..split import Split
from ..splits import Indices, held_out

_SIDE = 28
_SAMPLES = {"train": 60_000, "t10k": 10_000}
_UNSIGNED_BYTES = 0x0800
"""The upper bytes of an idx file's magic number that says what its entries are; the last byte counts dimensions."""


def idx_source(base_url: str, hashes: dict[str, str]) -> Source:
    """Return the source of a set whose files lie side by side, each with its hash."""
    return Source(tuple(hashes), tuple(Download(base_url + file, sha256) for file, sha256 in hashes.items()))


_SOURCE = idx_source(
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    {
        "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    },
)
_DIGITS = tuple(str(digit) for digit in range(10))


@register("mnist", kind="files", source=_SOURCE)
def mnist(files: Files, *, val: Fraction = 0.2) -> Content:
    """70,000 handwritten digits of 28 × 28 pixels."""
    return read_images(files, val, _DIGITS)


def read_images(files: Files, val: float, classes: tuple[str, ...]) -> Content:
    """Return what the four idx files of such a set hold; a share of the training images validates."""
    images, labels = _read_split(files, "train", len(classes))
    kept, held = held_out(len(labels), val, files.folder)
    test_images, test_labels = _read_split(files, "t10k", len(classes))
    everything = np.arange(len(test_labels))
    splits = [_split(images, labels, rows) for rows in (kept, held)]
    return Content([*splits, _split(test_images, test_labels, everything)], classes)


def _split(images: NDArray[np.uint8], labels: NDArray[np.uint8], rows: Indices) -> Split:
    # Converting in torch uses all cores, which the first touch of 150 MB of fresh memory needs most.
    pixels = torch.from_numpy(images[rows, None]).to(torch.float32).div_(255)
    return Split(pixels, torch.from_numpy(labels[rows].astype(np.int64)))


def _read_split(files: Files, name: str, classes: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    image_file, label_file = (
        files.folder / f"{name}-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1")
    )
    images, labels = _read_idx(image_file, dimensions=3), _read_idx(label_file, dimensions=1)
    files.check_count(image_file, "images", len(images), _SAMPLES[name])
    if images.shape[1:] != (_SIDE, _SIDE):
        raise damaged(image_file, f"holds images of shape {images.shape[1:]}, not {(_SIDE, _SIDE)}")
    if len(labels) != len(images):
        raise damaged(label_file, f"holds {len(labels)} labels for {len(images)} images")
    if labels.max() >= classes:
        raise damaged(label_file, f"holds the label {labels.max()}, but labels go from 0 to {classes - 1}")
    return images, labels


def _read_idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """Return the array in a gzipped idx file of bytes: magic number, sizes (big endian), entries."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(read_bytes(path))) as file:
            content = file.read(MOST_BYTES + 1)  # a small file may unpack to any size
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, f"is not a whole gzip file ({error})") from error
    if len(content) > MOST_BYTES:
        raise damaged(path, f"unpacks to more than {MOST_BYTES:,} bytes")
    header = 4 * (1 + dimensions)
    if len(content) < header:
        raise damaged(path, f"holds {len(content)} bytes, less than the {header} of its header")
    magic, *sizes = (int(number) for number in np.frombuffer(content, ">u4", count=1 + dimensions))
    if magic != _UNSIGNED_BYTES + dimensions:
        raise damaged(path, f"starts with the magic number {magic}, not {_UNSIGNED_BYTES + dimensions}")
    expected = header + math.prod(sizes)
    if len(content) != expected or not sizes[0]:
        raise damaged(path, f"holds {len(content)} bytes, but sizes {sizes} in its header make {expected}")
    return np.frombuffer(content, np.uint8, offset=header).reshape(sizes)
