"""UCI Yeast from small files in the official format."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

import dovetail as dt
from dovetail.errors import DataError

load = partial(dt.load, shortened=True)

SITES = ("CYT", "ME3", "MIT", "NUC", "EXC")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """50 proteins of each site; the first feature is the number of the protein / 1000."""
    path = tmp_path / "yeast" / "yeast.data"
    path.parent.mkdir()
    rng = np.random.default_rng(0)
    lines = []
    for number in range(250):
        values = [number / 1000, *rng.random(5), 0.5, 0.1]
        lines.append(f"P{number}_YEAST  {'  '.join(f'{value:.3f}' for value in values)}  {SITES[number % 5]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_four_classes_stratified(path: Path) -> None:
    data = load("yeast", path.parent.parent)
    assert data.classes == ("CYT", "ME3", "MIT", "NUC")
    assert data.input_shape == (8,)
    assert [torch.bincount(split.y).tolist() for split in data.splits.values()] == [
        [32] * 4,
        [8] * 4,
        [10] * 4,
    ]
    assert data.fingerprint == load("yeast", path.parent.parent).fingerprint


def test_samples_keep_their_labels_and_none_is_in_two_splits(path: Path) -> None:
    data = load("yeast", path.parent.parent)
    x = torch.cat([split.x[:, 0].double() for split in data.splits.values()])
    y = torch.cat([split.y for split in data.splits.values()])
    order = x.argsort()
    assert y[order].tolist() == [number % 5 for number in range(250) if number % 5 < 4]
    kept = torch.tensor([float(number) for number in range(250) if number % 5 < 4])
    fit = np.polyfit(kept.numpy(), x[order].numpy(), 1)
    assert np.allclose(np.polyval(fit, kept.numpy()), x[order].numpy(), atol=1e-5)


def test_standardised_with_training_statistics_only(path: Path) -> None:
    data = load("yeast", path.parent.parent)
    assert data.train.x.mean(0).abs().max() < 1e-5
    assert torch.allclose(data.train.x[:, :6].std(0, correction=0), torch.ones(6), atol=1e-5)
    assert torch.cat([split.x for split in data.splits.values()]).mean(0)[:6].abs().max() > 1e-4
    assert all(torch.equal(split.x[:, 6:], torch.zeros(len(split), 2)) for split in data.splits.values())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("P_YEAST 0.1 0.1 0.1 0.1 0.1 0.1 0.1 CYT", "no name, 8 numbers and known site in line 4"),
        ("P_YEAST 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 CYT", "no name, 8 numbers and known site in line 4"),
        ("P_YEAST 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 XYZ", "known site in line 4"),
        ("P_YEAST", "known site in line 4"),
        ("P_YEAST 0.1 0.1 0.1 0.1 0.1 0.1 0.1 ?.1 CYT", "not a number in line 4"),
        ("P_YEAST 0.1 0.1 0.1 0.1 0.1 0.1 0.1 1.1 CYT", "outside 0 to 1 in line 4"),
        ("P_YEAST 0.1 0.1 0.1 0.1 0.1 0.1 0.1 nan CYT", "outside 0 to 1 in line 4"),
    ],
)
def test_damaged_rows(path: Path, line: str, message: str) -> None:
    lines = path.read_text().splitlines()
    lines[3] = line
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=message) as caught:
        load("yeast", path.parent.parent)
    assert str(path) in str(caught.value)


def test_cut_off_in_a_row(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(DataError, match="in line 250"):
        load("yeast", path.parent.parent)


def test_empty_and_too_small_files(path: Path) -> None:
    first = path.read_text().splitlines()[:5]
    path.write_text("")
    with pytest.raises(DataError, match="is empty"):
        load("yeast", path.parent.parent)
    path.write_text("\n".join(first))
    with pytest.raises(DataError, match="too few samples"):
        load("yeast", path.parent.parent)
