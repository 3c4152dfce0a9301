"""CIFAR-10 from small files in the official binary format."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

import dovetail as dt
from dovetail.errors import DataError

load = partial(dt.load, shortened=True)

FILES = [*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin"]


def write(folder: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Write ten records a file: label, planes; the label is the top left red pixel / 20."""
    folder.mkdir(parents=True)
    records = np.random.default_rng(0).integers(256, size=(60, 3073), dtype=np.uint8)
    records[:, 1] = np.tile(np.arange(10) * 20, 6)
    records[:, 2] = np.arange(60)
    records[:, 0] = records[:, 1] // 20
    records[:, 2049:] //= 4
    for file, part in zip(FILES, np.split(records, 6), strict=True):
        (folder / file).write_bytes(part.tobytes())
    return records


@pytest.mark.parametrize("inside", ["cifar-10-batches-bin", "."])
def test_records_become_standardised_images(tmp_path: Path, inside: str) -> None:
    records = write(tmp_path / "cifar10" / inside)
    data = load("cifar10", tmp_path)
    assert [len(split) for split in data.splits.values()] == [40, 10, 10]
    assert data.input_shape == (3, 32, 32)
    assert data.classes[9] == "truck"
    train = data.train.x
    assert train.mean((0, 2, 3)).abs().max() < 1e-4
    assert torch.allclose(train.std((0, 2, 3), correction=0), torch.ones(3), atol=1e-4)
    assert torch.equal(data.test.y, torch.from_numpy(records[50:, 0].astype(np.int64)))
    raw = torch.from_numpy(records[50:, 1:].reshape(-1, 3, 32, 32)).float()
    for channel in range(3):
        fit = np.polyfit(raw[:, channel].flatten().numpy(), data.test.x[:, channel].flatten().numpy(), 1)
        assert np.allclose(
            np.polyval(fit, raw[:, channel].numpy()), data.test.x[:, channel].numpy(), atol=1e-4
        )


def test_no_record_is_lost_or_in_two_splits(tmp_path: Path) -> None:
    write(tmp_path / "cifar10")
    data = load("cifar10", tmp_path)
    tags = torch.cat([data.train.x[:, 0, 0, 1], data.val.x[:, 0, 0, 1]])
    assert len(set(tags.tolist())) == 50
    pixel = torch.cat([data.train.x[:, 0, 0, 0], data.val.x[:, 0, 0, 0]])
    labels = torch.cat([data.train.y, data.val.y])
    assert torch.equal(pixel.argsort(stable=True).sort().values, torch.arange(50))
    assert torch.equal(labels[pixel.argsort(stable=True)], torch.arange(10).repeat_interleave(5))
    assert [len(split) for split in load("cifar10", tmp_path, val=0.5).splits.values()] == [25, 25, 10]


@pytest.mark.parametrize("keep", [1, 3072, 3074, -1])
def test_truncated_files(tmp_path: Path, keep: int) -> None:
    write(tmp_path / "cifar10")
    path = tmp_path / "cifar10" / FILES[2]
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"data_batch_3\.bin holds .* bytes, not a multiple of the 3,073"):
        load("cifar10", tmp_path)


def test_empty_file(tmp_path: Path) -> None:
    write(tmp_path / "cifar10")
    (tmp_path / "cifar10" / "test_batch.bin").write_bytes(b"")
    with pytest.raises(DataError, match=r"test_batch\.bin is empty"):
        load("cifar10", tmp_path)


def test_wrong_label(tmp_path: Path) -> None:
    write(tmp_path / "cifar10")
    path = tmp_path / "cifar10" / FILES[0]
    path.write_bytes(b"\x0a" + path.read_bytes()[1:])
    with pytest.raises(DataError, match=r"data_batch_1\.bin holds the label 10, but labels go from 0 to 9"):
        load("cifar10", tmp_path)


def test_pixels_from_0_to_1_where_asked_for(tmp_path: Path) -> None:
    records = write(tmp_path / "cifar10")
    data = load("cifar10", tmp_path, scale="unit")
    expected = torch.from_numpy(records[50:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / 255)
    assert torch.allclose(data.test.x, expected)
    assert load("cifar10", tmp_path).test.x.min() < 0
