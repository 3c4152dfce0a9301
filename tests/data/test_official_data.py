"""The official data, where it is at hand: beside the checkout, or in $DOVETAIL_DATA."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from dovetail.data import load
from dovetail.data.sets import clinc150, fashion_mnist, mnist, yeast
from dovetail.errors import DataError

SHARED = Path(__file__).parents[2].parent / "shared"
SHARED_TOOL = SHARED / "tools" / "lay_out_data.py"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if os.environ.get("DOVETAIL_DATA"):
        return Path(os.environ["DOVETAIL_DATA"])
    if not SHARED_TOOL.is_file():
        pytest.skip("no official data beside the checkout, and DOVETAIL_DATA is not set")
    return tmp_path_factory.mktemp("official")


def provide(root: Path, name: str) -> Path:
    if not (root / name).is_dir():
        if not SHARED_TOOL.is_file():
            pytest.skip(f"{name} is not in {root}")
        subprocess.run(
            [sys.executable, str(SHARED_TOOL), str(root), name], check=True, stdout=subprocess.DEVNULL
        )
    return root


@pytest.mark.parametrize("name", ["mnist", "fashion-mnist"])
def test_mnist_and_fashion(root: Path, name: str) -> None:
    data = load(name, provide(root, name))
    assert [len(split) for split in data.splits.values()] == [48_000, 12_000, 10_000]
    assert torch.equal(torch.unique(data.test.y), torch.arange(10))
    if name == "mnist":
        assert torch.bincount(torch.cat([data.train.y, data.val.y])).tolist() == [
            5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949,
        ]  # fmt: skip
        assert data.test.y[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
        # Mean and deviation of all training pixels, as quoted wherever MNIST is normalised.
        pixels = torch.cat([data.train.x.flatten(), data.val.x.flatten()])
        assert abs(float(pixels.mean()) - 0.1307) < 1e-4
        assert abs(float(pixels.std()) - 0.3081) < 1e-4
    else:
        assert set(torch.bincount(data.test.y).tolist()) == {1000}


def test_the_hashes_in_the_code_are_those_of_the_official_files(root: Path) -> None:
    for name, source in (
        ("mnist", mnist._SOURCE),
        ("fashion-mnist", fashion_mnist._SOURCE),
        ("yeast", yeast._SOURCE),
        ("clinc150", clinc150._SOURCE),
    ):
        folder = provide(root, name) / name
        for download in source.downloads:
            assert hashlib.sha256((folder / download.file).read_bytes()).hexdigest() == download.sha256


@pytest.mark.parametrize("name", ["mnist", "yeast"])
def test_files_cut_short_are_refused(root: Path, name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(provide(root, name) / name, folder)
    if name == "mnist":
        for kind in (
            "images-idx3",
            "labels-idx1",
        ):  # whole files, but the test set's under the training set's name
            shutil.copy(folder / f"t10k-{kind}-ubyte.gz", folder / f"train-{kind}-ubyte.gz")
        message = "10,000 images, but the official file 60,000"
    else:
        lines = (folder / "yeast.data").read_text().splitlines(keepends=True)
        (folder / "yeast.data").write_text("".join(lines[:700]))
        message = "700 proteins, but the official file 1,484"
    with pytest.raises(DataError, match=message):
        load(name, tmp_path)


def test_har_time_features(root: Path) -> None:
    data = load("har", provide(root, "har"), features="time")
    assert [len(split) for split in data.splits.values()] == [5881, 1471, 2947]
    assert torch.bincount(data.test.y).tolist() == [496, 471, 420, 491, 532, 537]
    assert torch.allclose(data.train.x.std(0, correction=0), torch.ones(265), atol=1e-3)
    archive = SHARED / "data" / "har" / "uci_har_features265.npz"
    if archive.is_file():
        raw = torch.from_numpy(np.load(archive)["X_test"]).double()
        slope = (data.test.x[1] - data.test.x[0]) / (raw[1] - raw[0])
        predicted = data.test.x[0] + (raw - raw[0]) * slope
        steady = (raw[1] - raw[0]).abs() > 1e-2
        assert torch.allclose(predicted[:, steady], data.test.x[:, steady].double(), atol=1e-2)


def test_yeast_class_counts(root: Path) -> None:
    data = load("yeast", provide(root, "yeast"))
    counts = torch.bincount(torch.cat([split.y for split in data.splits.values()])).tolist()
    assert dict(zip(data.classes, counts, strict=True)) == {"CYT": 463, "NUC": 429, "MIT": 244, "ME3": 163}
    assert [len(split) for split in data.splits.values()] == [831, 208, 260]


@pytest.mark.slow
def test_cifar10(root: Path) -> None:
    pytest.importorskip("PIL")
    data = load("cifar10", provide(root, "cifar10"))
    assert [len(split) for split in data.splits.values()] == [40_000, 10_000, 10_000]
    assert torch.bincount(torch.cat([data.train.y, data.val.y])).tolist() == [5000] * 10
    assert torch.bincount(data.test.y).tolist() == [1000] * 10
    assert data.train.x.mean((0, 2, 3)).abs().max() < 1e-3


def test_clinc150(root: Path) -> None:
    data = load("clinc150", provide(root, "clinc150"), oos="unknown")
    assert [len(split) for split in data.splits.values()] == [15_000, 3_100, 5_500]
    assert [split.y.bincount(minlength=151).unique().tolist() for split in data.splits.values()] == [
        [0, 100], [20, 100], [30, 1000],
    ]  # fmt: skip


@pytest.mark.slow
def test_two_digits_at_full_size(root: Path) -> None:
    data = load("two-digits", provide(root, "mnist"))
    assert data.train.x.shape == (80_000, 1, 28, 56)
    assert len(data.val) == len(data.test) == 20_000
    assert set(data.train.y.sum(0).tolist()) == {8000.0}
    sources = [
        {image.numpy().tobytes() for half in split.x.chunk(2, dim=3) for image in half}
        for split in data.splits.values()
    ]
    base = load("mnist", root)
    for seen, split in zip(sources, base.splits.values(), strict=True):
        assert seen <= {image.numpy().tobytes() for image in split.x}
