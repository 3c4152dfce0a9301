"""MNIST and Fashion-MNIST from small files in the official format."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import dovetail as dt
from dovetail.errors import DataError

load = partial(dt.load, shortened=True)

IMAGES = "train-images-idx3-ubyte.gz"
LABELS = "train-labels-idx1-ubyte.gz"


def idx_bytes(array: NDArray[np.uint8], magic: int | None = None) -> bytes:
    magic = 0x0800 + array.ndim if magic is None else magic
    return np.array([magic, *array.shape], dtype=">u4").tobytes() + array.tobytes()


def write_idx(path: Path, array: NDArray[np.uint8], magic: int | None = None) -> None:
    path.write_bytes(gzip.compress(idx_bytes(array, magic)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """100 training and 20 test images; the first two pixels of each hold its number."""
    folder = tmp_path / "mnist"
    folder.mkdir()
    for part, count, offset in (("train", 100, 0), ("t10k", 20, 100)):
        images = np.random.default_rng(offset).integers(256, size=(count, 28, 28), dtype=np.uint8)
        images[:, 0, 0] = np.arange(offset, offset + count)
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", images)
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", (images[:, 0, 0] % 10).astype(np.uint8))
    return folder


def numbers(x: torch.Tensor) -> list[int]:
    return [round(value * 255) for value in x[:, 0, 0, 0].tolist()]


def test_images_and_labels_stay_together(folder: Path) -> None:
    data = load("mnist", folder.parent)
    assert [len(split) for split in data.splits.values()] == [80, 20, 20]
    assert data.input_shape == (1, 28, 28)
    assert data.classes == tuple("0123456789")
    for split in data.splits.values():
        assert split.x.dtype == torch.float32
        assert split.x.min() >= 0
        assert split.x.max() <= 1
        assert split.y.tolist() == [number % 10 for number in numbers(split.x)]
    assert sorted(numbers(data.train.x) + numbers(data.val.x)) == list(range(100))
    assert numbers(data.test.x) == list(range(100, 120))


def test_pixels_are_exactly_bytes_over_255(folder: Path) -> None:
    images = np.random.default_rng(100).integers(256, size=(20, 28, 28), dtype=np.uint8)
    images[:, 0, 0] = np.arange(100, 120)
    expected = torch.from_numpy(images)[:, None].float() / 255
    assert torch.equal(load("mnist", folder.parent).test.x, expected)


def test_the_split_is_fixed_and_its_size_an_option(folder: Path) -> None:
    first, again = load("mnist", folder.parent), load("mnist", folder.parent)
    assert first.fingerprint == again.fingerprint
    assert numbers(first.train.x) != sorted(numbers(first.train.x))
    smaller = load("mnist", folder.parent, val=0.05)
    assert [len(split) for split in smaller.splits.values()] == [95, 5, 20]
    assert smaller.options == {"val": 0.05}
    with pytest.raises(DataError, match=r"100 samples cannot give a validation split of 0\.001"):
        load("mnist", folder.parent, val=0.001)


def test_the_tensors_can_be_written_to(folder: Path) -> None:
    data = load("mnist", folder.parent)
    data.test.x.zero_()
    data.test.y.zero_()


def test_fashion_has_its_own_folder_and_classes(folder: Path) -> None:
    folder.rename(folder.parent / "fashion-mnist")
    assert load("fashion-mnist", folder.parent).classes[1] == "trouser"


def test_files_compressed_anew_are_fine(folder: Path) -> None:
    content = gzip.decompress((folder / IMAGES).read_bytes())
    (folder / IMAGES).write_bytes(gzip.compress(content, compresslevel=1))
    assert len(load("mnist", folder.parent).train) == 80


def refuse(folder: Path, file: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        load("mnist", folder.parent)
    assert str(folder / file) in str(caught.value)
    assert "fetch the official file again" in str(caught.value)


@pytest.mark.parametrize("keep", [1, 9, 11, 30, 1000, -1, -9])
def test_truncated_gzip(folder: Path, keep: int) -> None:
    whole = (folder / IMAGES).read_bytes()
    (folder / IMAGES).write_bytes(whole[:keep])
    refuse(folder, IMAGES, "not a whole gzip file")


def test_one_altered_byte(folder: Path) -> None:
    content = bytearray((folder / IMAGES).read_bytes())
    content[len(content) // 2] ^= 0x55
    (folder / IMAGES).write_bytes(content)
    refuse(folder, IMAGES, "not a whole gzip file")


def test_empty_file(folder: Path) -> None:
    (folder / LABELS).write_bytes(b"")
    refuse(folder, LABELS, "is empty")


def test_not_gzip_at_all(folder: Path) -> None:
    (folder / LABELS).write_text("<html>Not Found</html>")
    refuse(folder, LABELS, "not a whole gzip file")


def test_wrong_magic_number(folder: Path) -> None:
    write_idx(folder / IMAGES, np.zeros((100, 28, 28), np.uint8), magic=0x0D03)
    refuse(folder, IMAGES, "magic number 3331, not 2051")


def test_labels_where_images_belong(folder: Path) -> None:
    (folder / IMAGES).write_bytes((folder / LABELS).read_bytes())
    refuse(folder, IMAGES, "magic number 2049, not 2051")


@pytest.mark.parametrize("change", [b"\0", None])
def test_a_length_that_contradicts_the_header(folder: Path, change: bytes | None) -> None:
    content = gzip.decompress((folder / IMAGES).read_bytes())
    (folder / IMAGES).write_bytes(gzip.compress(content + change if change else content[:-1]))
    refuse(folder, IMAGES, "sizes .* in its header make 78416")


def test_a_header_cut_short(folder: Path) -> None:
    (folder / IMAGES).write_bytes(gzip.compress(b"\0\0\x08\x03\0\0"))
    refuse(folder, IMAGES, "holds 6 bytes")


def test_a_header_with_absurd_sizes(folder: Path) -> None:
    header = np.array([0x0803, 2**32 - 1, 2**32 - 1, 2**32 - 1], dtype=">u4").tobytes()
    (folder / IMAGES).write_bytes(gzip.compress(header))
    refuse(folder, IMAGES, "in its header make")


def test_no_images(folder: Path) -> None:
    write_idx(folder / IMAGES, np.zeros((0, 28, 28), np.uint8))
    refuse(folder, IMAGES, "sizes")


def test_images_of_another_size(folder: Path) -> None:
    write_idx(folder / IMAGES, np.zeros((100, 32, 32), np.uint8))
    refuse(folder, IMAGES, r"images of shape \(32, 32\)")


def test_a_label_out_of_range(folder: Path) -> None:
    write_idx(folder / LABELS, np.full(100, 10, np.uint8))
    refuse(folder, LABELS, "holds the label 10, but labels go from 0 to 9")


def test_fewer_labels_than_images(folder: Path) -> None:
    write_idx(folder / LABELS, np.zeros(99, np.uint8))
    refuse(folder, LABELS, "99 labels for 100 images")


def test_a_folder_where_a_file_should_be_is_not_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(folder / IMAGES))
    (folder / LABELS).unlink()
    (folder / LABELS).mkdir()
    with pytest.raises(DataError, match="cannot write to the cache"):
        load("mnist", folder.parent)
