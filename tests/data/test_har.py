"""UCI HAR from small files in the official layout."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import dovetail as dt
from dovetail.errors import DataError

load = partial(dt.load, shortened=True)

ROWS = {"train": 60, "test": 18}


def official_row(values: NDArray[np.float64]) -> str:
    """Sixteen characters a number, with a three-digit exponent, as in the official files."""
    numbers = (f"{value:.7e}" for value in values)
    return "".join(f"{text[:-2] + '0' + text[-2:]:>16}" for text in numbers)


def write(folder: Path, columns: int) -> dict[str, NDArray[np.float64]]:
    features = {}
    for seed, (part, rows) in enumerate(ROWS.items()):
        x = np.random.default_rng(seed).uniform(-1, 1, size=(rows, columns))
        x[:, 3] = 0.1
        features[part] = x
        (folder / part).mkdir(parents=True)
        (folder / part / f"X_{part}.txt").write_text("".join(official_row(row) + "\n" for row in x))
        (folder / part / f"y_{part}.txt").write_text("".join(f"{row % 6 + 1}\n" for row in range(rows)))
    return features


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "har" / "UCI HAR Dataset"
    write(folder, 561)
    return folder


def root(folder: Path) -> Path:
    return folder.parent.parent


def test_all_features(folder: Path) -> None:
    data = load("har", root(folder))
    assert [len(split) for split in data.splits.values()] == [48, 12, 18]
    assert data.input_shape == (561,)
    assert data.classes[-1] == "LAYING"
    assert data.train.x.dtype == torch.float32
    assert torch.bincount(data.val.y).tolist() == [2] * 6
    assert data.test.y.tolist() == [row % 6 for row in range(18)]


def test_standardised_with_training_statistics_only(tmp_path: Path) -> None:
    features = write(tmp_path / "har", 561)
    data = load("har", tmp_path)
    moving = [column for column in range(561) if column != 3]
    assert data.train.x.mean(0).abs().max() < 1e-5
    assert torch.allclose(data.train.x[:, moving].std(0, correction=0), torch.ones(560), atol=1e-4)
    # Undo the scaling with one column of the test set and check it on the others: one scale fits all splits.
    raw = torch.from_numpy(features["test"]).float()
    slope = (data.test.x[1] - data.test.x[0]) / (raw[1] - raw[0])
    predicted = data.test.x[0] + (raw - raw[0]) * slope
    assert torch.allclose(predicted[:, moving], data.test.x[:, moving], atol=1e-2)
    everything = torch.from_numpy(features["train"]).float()
    spread = everything.std(0, correction=0)
    assert not torch.allclose(slope[moving], 1 / spread[moving], rtol=1e-4), (
        "validation rows entered the scale"
    )


def test_a_constant_column_becomes_zero(folder: Path) -> None:
    for split in load("har", root(folder)).splits.values():
        assert torch.equal(split.x[:, 3], torch.zeros(len(split)))


def test_time_features_are_the_first_265(folder: Path) -> None:
    whole, time = load("har", root(folder)), load("har", root(folder), features="time")
    assert time.input_shape == (265,)
    assert torch.equal(time.test.x, whole.test.x[:, :265])


def test_five_classes_leave_laying_out(folder: Path) -> None:
    data = load("har", root(folder), classes=5)
    assert data.classes == ("WALKING", "WALKING_UPSTAIRS", "WALKING_DOWNSTAIRS", "SITTING", "STANDING")
    assert [len(split) for split in data.splits.values()] == [40, 10, 15]
    assert data.test.y.tolist() == [row % 6 for row in range(18) if row % 6 < 5]


def test_files_may_lie_in_the_folder_itself(tmp_path: Path) -> None:
    write(tmp_path / "har", 561)
    assert len(load("har", tmp_path).test) == 18


def test_a_folder_with_only_time_features(tmp_path: Path) -> None:
    write(tmp_path / "har", 265)
    assert load("har", tmp_path, features="time").input_shape == (265,)
    with pytest.raises(
        DataError, match="only the 265 time-domain features, not all 561; load with features='time'"
    ):
        load("har", tmp_path)


def test_windows_line_ends_and_wider_columns(folder: Path) -> None:
    expected = load("har", root(folder)).fingerprint
    path = folder / "train" / "X_train.txt"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").replace(b" ", b"  "))
    assert load("har", root(folder)).fingerprint == expected


def damage(path: Path, line: int, new: str | None) -> None:
    lines = path.read_text().splitlines()
    lines[line] = lines[line][:-16] if new is None else new
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("line", "new", "message"),
    [
        (7, None, "560 numbers in line 8, but 561 in the first"),
        (0, None, "560 columns, not 561 or 265"),
        (5, "0.5 " * 560 + "zero", "not a number in line 6"),
        (5, "0.5 " * 560 + "0.5x", "not a number in line 6"),
        (5, "0.5 " * 560 + "1.5", "outside -1 to 1 in line 6"),
        (5, "0.5 " * 560 + "nan", "outside -1 to 1 in line 6"),
        (5, "", "59 rows, but y_train.txt 60 labels"),
    ],
)
def test_damaged_features(folder: Path, line: int, new: str | None, message: str) -> None:
    path = folder / "train" / "X_train.txt"
    damage(path, line, new)
    with pytest.raises(DataError, match=message) as caught:
        load("har", root(folder))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("label", ["0", "7", "WALKING", "1.0"])
def test_wrong_labels(folder: Path, label: str) -> None:
    damage(folder / "test" / "y_test.txt", 3, label)
    with pytest.raises(DataError, match=f"y_test.txt has '{label}' in line 4, not a label from 1 to 6"):
        load("har", root(folder))


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is empty"), (b"\n\n", "no lines"), (b"\xff\xfe1", "not plain text")]
)
def test_files_that_are_no_text(folder: Path, content: bytes, message: str) -> None:
    (folder / "test" / "X_test.txt").write_bytes(content)
    with pytest.raises(DataError, match=message):
        load("har", root(folder))


def test_a_file_cut_in_the_middle_of_a_number(folder: Path) -> None:
    path = folder / "test" / "X_test.txt"
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(DataError, match=r"X_test\.txt"):
        load("har", root(folder))


def test_too_few_samples_to_split(folder: Path) -> None:
    for letter in "Xy":
        path = folder / "train" / f"{letter}_train.txt"
        path.write_text("\n".join(path.read_text().splitlines()[:6]))
    with pytest.raises(DataError, match="too few samples to split by class"):
        load("har", root(folder))
