"""Data sets from arrays in memory, and from data sets of torch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from torch.utils.data import ConcatDataset, DataLoader, IterableDataset, Subset, TensorDataset

from dovetail import Dataset
from dovetail.data.own import rows
from dovetail.data.preparation import Numbers
from dovetail.errors import DataError, DovetailError, DovetailWarning, SpecError

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["red", "white", "rosé"])[Y]


def raw_rows(data: Dataset) -> np.ndarray:
    """Return all samples of a data set as they were before they were scaled."""
    assert isinstance(data.preparation, Numbers)
    x = torch.cat([split.x for split in data.splits.values()]).double().numpy()
    found: np.ndarray = x * np.array(data.preparation.scale) + np.array(data.preparation.shift)
    return found


def test_samples_are_scaled_by_what_trains_and_none_is_lost() -> None:
    data = Dataset.from_arrays(X, NAMES, name="wine")
    assert data.classes == ("red", "rosé", "white")
    assert [len(split) for split in data.splits.values()] == [114, 28, 36]
    raw = raw_rows(data)
    np.testing.assert_allclose(np.sort(raw, axis=0), np.sort(X, axis=0), rtol=1e-4)
    scaler = StandardScaler().fit(raw[: len(data.train)])
    np.testing.assert_allclose(data.test.x, scaler.transform(raw[-len(data.test) :]), atol=1e-4)
    assert data.preparation is not None
    np.testing.assert_allclose(data.preparation(X), scaler.transform(X), atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_samples_that_are_not_finite_are_counted_in_all_splits_and_the_first_is_named(dtype: Any) -> None:
    x = np.zeros((50, 3), dtype)
    for row, column, value in ((45, 1, np.nan), (46, 0, np.inf), (49, 2, -np.inf), (49, 1, np.nan)):
        x[row, column] = value
    y = ["a", "b"] * 25
    message = (
        "3 of 50 samples hold NaN, infinity, or numbers too large for float32, the first in row 45, column 1"
    )
    for seed in range(3):
        with pytest.raises(DataError, match=f"{message}, counted from 0"):
            Dataset.from_arrays(x, y, seed=seed)
    with pytest.raises(DataError, match=rf"{message} \('ash'\)"):
        Dataset.from_arrays(x, y, features=["hue", "ash", "age"])
    with pytest.raises(DataError, match=r"6 of 100 samples hold NaN.* the first in row 45, column 1 \('v'\)"):
        Dataset.from_arrays(pd.DataFrame(x, columns=["u", "v", "w"]), y, test=(x, y))
    pictures = np.zeros((20, 6, 6, 3), dtype)
    pictures[4, 1, 2, 0] = np.nan
    with pytest.raises(DataError, match=r"1 of 20 samples .* in row 4, place \(1, 2, 0\)"):
        Dataset.from_arrays(pictures, y[:20])
    scaling = Numbers.fitted(x[:40], "none", names=("hue", "ash", "age"))
    with pytest.raises(DataError, match=r"3 of 10 samples hold NaN.* in row 5, column 1 \('ash'\)"):
        scaling(x[40:])


def test_numbers_too_large_for_float32_are_named() -> None:
    x = np.ones((20, 2))
    x[3, 1] = 1e39
    with pytest.raises(DataError, match=r"1 of 20 samples .* in row 3, column 1"):
        Dataset.from_arrays(x, ["a", "b"] * 10)
    with pytest.raises(DataError, match="too large for float32 once they are scaled"):
        Numbers(raw_shape=(2,), scale=(1e-30,))(np.full((1, 2), 1e20))


def test_each_sample_keeps_its_label() -> None:
    x = np.arange(300.0).reshape(100, 3)
    data = Dataset.from_arrays(x, x[:, 0] % 7, scale="none", seed=3)
    for split in data.splits.values():
        assert [int(data.classes[number]) for number in split.y] == (split.x[:, 0] % 7).int().tolist()


FORMS: list[Callable[[], tuple[Any, Any]]] = [
    lambda: (X, NAMES),
    lambda: (X.tolist(), NAMES.tolist()),
    lambda: (torch.tensor(X), NAMES.tolist()),
    lambda: (pd.DataFrame(X), pd.Series(NAMES)),
    lambda: (pd.DataFrame(X), pd.Categorical(NAMES)),
    lambda: (X.astype(object), NAMES.astype(object)),
    lambda: (X.astype(">f8"), NAMES),
    lambda: (np.asfortranarray(X), NAMES),
]


@pytest.mark.parametrize("form", FORMS)
def test_any_form_gives_the_same(form: Callable[[], tuple[Any, Any]]) -> None:
    x, y = form()
    found, wanted = Dataset.from_arrays(x, y), Dataset.from_arrays(X, NAMES)
    assert found.classes == wanted.classes
    torch.testing.assert_close(found.test.x, wanted.test.x)
    assert torch.equal(found.test.y, wanted.test.y)


def test_a_seed_gives_the_same_again_and_another_one_others() -> None:
    first, again, other = (Dataset.from_arrays(X, Y, seed=seed) for seed in (1, 1, 2))
    assert first.fingerprint == again.fingerprint != other.fingerprint


def test_splits_that_are_given_are_kept() -> None:
    test = (X[:50], Y[:50])
    data = Dataset.from_arrays(X[50:], Y[50:], test=test)
    assert data.preparation is not None
    torch.testing.assert_close(data.test.x, data.preparation(X[:50]))
    assert data.test.y.tolist() == Y[:50].tolist()
    assert len(data.train) + len(data.val) == 128
    data = Dataset.from_arrays(X[50:], Y[50:], val=test, test=(X[:9], Y[:9]))
    assert [len(split) for split in data.splits.values()] == [128, 50, 9]


def test_without_shares_other_samples_stand_in_and_notes_say_so() -> None:
    data = Dataset.from_arrays(X, Y, split=(1, 0, 0))
    assert data.val is data.train
    assert data.test is data.train
    assert len(data.notes) == 2
    data = Dataset.from_arrays(X, Y, split=(1, 0, 0), val=(X[:5], Y[:5]))
    assert data.test is data.val
    assert len(data.val) == 5


def test_pictures_as_arrays_have_their_channels_first() -> None:
    pictures = np.random.default_rng(0).integers(0, 256, (30, 8, 9, 3), dtype=np.uint8)
    data = Dataset.from_arrays(pictures, np.arange(30) % 3)
    assert data.input_shape == (3, 8, 9)
    assert 0 <= float(data.train.x.min()) < 0.1 < 0.9 < float(data.train.x.max()) <= 1


def test_features_and_classes_have_names() -> None:
    frame = pd.DataFrame(X[:, :2], columns=["alcohol", "ash"])
    data = Dataset.from_arrays(frame, Y, classes=["a", "b", "c"])
    assert data.preparation is not None
    assert data.preparation.feature_names == ("alcohol", "ash")
    assert data.classes == ("a", "b", "c")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dataset.from_arrays(X, Y[:-1]), "178 samples and 177 labels"),
        (lambda: Dataset.from_arrays(X[:0], Y[:0]), "no samples"),
        (lambda: Dataset.from_arrays(X[:, 0], Y), r"samples\[:, None\]"),
        (lambda: Dataset.from_arrays(sparse.csr_array(X), Y), "toarray"),
        (lambda: Dataset.from_arrays(pd.DataFrame({"a": ["x"] * 178}), Y), "from_frame"),
        (lambda: Dataset.from_arrays(np.where(X > 1000, np.nan, X), Y), "samples hold NaN"),
        (lambda: Dataset.from_arrays(X, Y, test=(X[:, 1:], Y)), "side by side"),
        (lambda: Dataset.from_arrays(X, X[:, 0]), "measured values"),
        (lambda: Dataset.from_arrays(X, Y, scale="max"), "unknown scale 'max'"),  # type: ignore[arg-type]
        (lambda: Dataset.from_arrays(X, Y, split=(1, 2)), "split is the shares"),  # type: ignore[arg-type]
        (lambda: Dataset.from_arrays(X, Y, features="ash"), "features are names"),
        (lambda: Dataset.from_arrays(X, Y, features=["ash"]), "1 names"),
        (lambda: Dataset.from_arrays(np.zeros((4, 200_000)), [0, 1, 0, 1]), "200,000 numbers"),
        (lambda: Dataset.from_arrays(X + 1j, Y), "complex"),
    ],
)
def test_what_cannot_be_used_is_refused(make: Callable[[], Dataset], message: str) -> None:
    with pytest.raises((DataError, SpecError), match=message):
        make()


def test_large_data_is_kept_in_a_file_that_goes_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    wanted = Dataset.from_arrays(X, Y)
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    monkeypatch.setattr(rows, "MOST_IN_MEMORY", 1000)
    monkeypatch.setattr(rows, "_AT_ONCE", 100)
    found = Dataset.from_arrays(X, Y)
    assert found.fingerprint == wanted.fingerprint
    assert (tmp_path / "rows").is_dir()
    assert list((tmp_path / "rows").iterdir()) == []
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("DOVETAIL_CACHE", str(file))
    with pytest.raises(DataError, match=r"cannot keep .* of samples in .*set \$DOVETAIL_CACHE"):
        Dataset.from_arrays(X, Y)


# Data sets of torch


class Named(torch.utils.data.Dataset[Any]):
    """Items as somebody's data set has them."""

    classes: tuple[str, ...] = ("a", "b", "c")

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, row: int) -> Any:
        return self.items[row]


def test_tensors_of_torch_are_taken_as_arrays() -> None:
    x, y = torch.tensor(X).float(), torch.tensor(Y)
    wanted = Dataset.from_arrays(x, y)
    assert Dataset.from_torch(TensorDataset(x, y)).fingerprint == wanted.fingerprint
    pairs = list(zip(x, y, strict=True))
    named = Dataset.from_torch(Named(pairs))
    assert torch.equal(named.test.x, wanted.test.x)
    assert named.classes == ("a", "b", "c")
    parts: list[Any] = [Subset(Named(pairs), range(178)), ConcatDataset([Named(pairs[:9]), Named(pairs[9:])])]
    for part in parts:
        assert Dataset.from_torch(part).fingerprint == named.fingerprint
    dicts = Named([{"image": x, "label": int(y)} for x, y in pairs])
    assert Dataset.from_torch(dicts).fingerprint == named.fingerprint


def test_splits_of_torch_are_kept() -> None:
    x, y = torch.tensor(X).float(), torch.tensor(Y)
    whole = TensorDataset(x, y)
    data = Dataset.from_torch(Subset(whole, range(100)), test=Subset(whole, range(100, 178)))
    assert data.preparation is not None
    torch.testing.assert_close(data.test.x, data.preparation(x[100:]))
    assert data.test.y.tolist() == Y[100:].tolist()


class Targets(Named):
    """A data set as torchvision has them, that counts how often it is asked."""

    asked = 0

    def __init__(self, items: list[Any]) -> None:
        super().__init__(items)
        self.targets = [label for _, label in items]

    def __getitem__(self, row: int) -> Any:
        self.asked += 1
        return self.items[row]


def test_pictures_of_torch_are_brought_to_one_size() -> None:
    image = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(0)
    sizes = [(20, 30) if number % 3 else (31, 24) for number in range(30)]
    pictures = [image.fromarray(random.integers(0, 256, (*size, 3), dtype=np.uint8)) for size in sizes]
    items = Targets([(picture, number % 3) for number, picture in enumerate(pictures)])
    data = Dataset.from_torch(items, size=16)
    assert data.input_shape == (3, 16, 16)
    assert data.classes == ("a", "b", "c")
    assert items.asked < 3 * len(items)  # never for labels alone
    data = Dataset.from_torch(items, val=Named(items.items[:6]))
    assert [len(split) for split in data.splits.values()] == [23, 6, 7]
    assert data.val.y.tolist() == [0, 1, 2, 0, 1, 2]


def test_a_changed_label_is_asked_for() -> None:
    items = Targets([(torch.zeros(2) + number, number % 2) for number in range(20)])
    items.target_transform = None  # type: ignore[attr-defined]
    assert Dataset.from_torch(items).classes == ("a", "b", "c")


class Stream(IterableDataset[Any]):
    """Items that come one after the other."""

    def __iter__(self) -> Iterator[Any]:
        yield torch.zeros(2), 0


def broken(row: int) -> Any:
    raise OSError("disk is gone")


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (Stream(), "cannot be asked for by number"),
        (DataLoader(TensorDataset(torch.zeros(2, 2))), r"hand over its \.dataset"),
        (Named([]), "the train data is empty"),
        (Named([1, 2]), "a int; a pair of a sample and its label is needed"),
        (Named([(1, 2, 3)]), "3 values"),
        (Named([{"a": 1}]), "dicts of 'a'"),
        (
            Named([(torch.zeros(2), 0), (torch.zeros(3), 1)]),
            r"sample 1 of the train data is float32 of shape \(3,\)",
        ),
        (Named([([[1], [1, 2]], 0)]), "not list"),
        (SimpleNamespace(), "cannot be asked for"),
    ],
)
def test_what_is_no_data_set_of_torch_is_refused(items: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Dataset.from_torch(items)


def test_an_item_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    items = Named([(torch.zeros(2), 0)])
    monkeypatch.setattr(Named, "__getitem__", lambda self, row: broken(row))
    with pytest.raises(DovetailError, match="item 0 of the train data failed: OSError: disk is gone"):
        Dataset.from_torch(items)


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (1, "1 sample is too few for validation and test samples of their own"),
        (2, "2 samples are too few for validation and test samples"),
        (3, "3 samples are too few for test samples"),
    ],
)
def test_splits_that_share_samples_for_want_of_more_are_told(count: int, says: str) -> None:
    x, y = np.arange(2.0 * count).reshape(count, 2), ["cat", "dog", "cat"][:count]
    with pytest.warns(DovetailWarning, match=f"{says}.*give more samples, or val= and test="):
        Dataset.from_arrays(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Dataset.from_arrays(x, y, split=(1.0, 0.0, 0.0))  # left out on purpose
        Dataset.from_arrays(x, y, val=(x, y), test=(x, y))
        Dataset.from_arrays(np.arange(40.0).reshape(20, 2), ["cat", "dog"] * 10)
