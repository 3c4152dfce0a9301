"""Files of arrays: .npz, and .npy beside each other."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import dovetail as dt
from dovetail.data.own import array_files
from dovetail.data.own.array_files import read_arrays
from dovetail.errors import DataError, SpecError

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 4))
Y = np.arange(60) % 3
WANTED = dt.Dataset.from_arrays(X, Y).fingerprint


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ("x", "y"),
        ("X", "Y"),
        ("data", "target"),
        ("images", "labels"),
        ("features", "label"),
        ("samples", "samples_labels"),
        ("data_x", "data_y"),
        ("arr_0", "arr_1"),
        ("a", "b"),
    ],
)
def test_samples_and_labels_are_found_by_their_names(tmp_path: Path, x: str, y: str) -> None:
    arrays: dict[str, Any] = {y: Y, x: X}
    np.savez(tmp_path / "some.npz", **arrays)
    np.savez_compressed(tmp_path / "packed.npz", **arrays)
    assert dt.read(tmp_path / "some.npz").fingerprint == WANTED
    assert dt.read(tmp_path / "packed.npz").fingerprint == WANTED


@pytest.mark.parametrize(
    "names",
    [
        ("x_train", "y_train", "x_test", "y_test"),
        ("X_train", "y_train", "X_test", "y_test"),
        ("train_images", "train_labels", "test_images", "test_labels"),
        ("xtrain", "ytrain", "xtest", "ytest"),
        ("trainX", "trainY", "testX", "testY"),
        ("data_x_train", "data_y_train", "data_x_test", "data_y_test"),
    ],
)
def test_splits_are_found_by_their_names(tmp_path: Path, names: tuple[str, ...]) -> None:
    arrays: dict[str, Any] = dict(zip(names, (X[:40], Y[:40], X[40:], Y[40:, None]), strict=True))
    np.savez(tmp_path / "a.npz", **arrays)
    data = dt.read(tmp_path / "a.npz")
    assert [len(split) for split in data.splits.values()] == [32, 8, 20]
    assert data.test.y.tolist() == Y[40:].tolist()


def test_names_of_classes_and_features_and_other_arrays_may_be_there(tmp_path: Path) -> None:
    names = np.array(["red", "white", "rosé"])
    np.savez(tmp_path / "a.npz", x=X, y=Y, target_names=names, feature_names=list("abcd"), x_mean=X.mean(0))
    data = dt.read(tmp_path / "a.npz")
    assert data.classes == ("red", "white", "rosé")
    assert data.preparation is not None
    assert data.preparation.feature_names == ("a", "b", "c", "d")
    assert data.options == {"file": "a.npz", "seed": 0}
    np.savez(tmp_path / "b.npz", x=X, y=names[Y], kind=Y)
    assert dt.read(tmp_path / "b.npz", target="kind").classes == ("0", "1", "2")


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<f2", "u1", "<i8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("mapped", [True, False])
def test_arrays_are_read_as_numpy_reads_them(
    tmp_path: Path, dtype: str, order: Any, mapped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(array_files, "_MAPPED_FROM", 0 if mapped else 2**26)
    monkeypatch.setattr(array_files, "_AT_ONCE", 1000)
    array = np.array(RANDOM.integers(0, 2, (50, 3, 7)), dtype=dtype, order=order)
    np.save(tmp_path / "x.npy", array)
    np.savez_compressed(tmp_path / "a.npz", x=array)
    for name in ("x.npy", "a.npz"):
        found = read_arrays(tmp_path / name).x[0]
        assert found is not None
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, np.load(tmp_path / "x.npy"))
    assert isinstance(read_arrays(tmp_path / "x.npy").x[0], np.memmap) == mapped


@pytest.mark.parametrize(
    ("x", "y", "named"),
    [
        ("x", "y", "x"),
        ("features", "labels", "features"),
        ("wine_x", "wine_y", "wine_x"),
        ("wine", "wine_labels", "wine"),
        ("wine", "labels", "wine"),
        ("samples", "samples_labels", "samples"),
        ("samples", "samples_labels", "samples_labels"),
        ("data_x", "data_y", "data_x"),
        ("x_data", "y_data", "x_data"),
        ("image", "image_class", "image"),
    ],
)
def test_labels_lie_beside_samples(tmp_path: Path, x: str, y: str, named: str) -> None:
    np.save(tmp_path / f"{x}.npy", X)
    np.save(tmp_path / f"{y}.npy", Y)
    np.save(tmp_path / "beer_labels.npy", Y[:3])
    data = dt.read(tmp_path / f"{named}.npy")
    assert data.fingerprint == WANTED
    assert data.name == named


def test_of_several_arrays_of_samples_the_shorter_name_counts(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", image_embeddings=X[:, :2], image=X, label=Y)
    assert dt.read(tmp_path / "a.npz").fingerprint == WANTED
    np.save(tmp_path / "image.npy", X)
    np.save(tmp_path / "image_embeddings.npy", X[:, :2])
    np.save(tmp_path / "labels.npy", Y)
    assert dt.read(tmp_path / "image.npy").fingerprint == WANTED
    assert dt.read(tmp_path / "image_embeddings.npy").input_shape == (2,)


def test_splits_lie_beside_each_other(tmp_path: Path) -> None:
    for name, rows in (("train", slice(40)), ("test", slice(40, None))):
        np.save(tmp_path / f"X_{name}.npy", X[rows])
        np.save(tmp_path / f"y_{name}.npy", Y[rows])
    np.save(tmp_path / "x.npy", X[:5])
    data = dt.read(tmp_path / "X_train.npy")
    assert [len(split) for split in data.splits.values()] == [32, 8, 20]
    assert read_arrays(tmp_path / "X_test.npy").asked == 2


def test_labels_of_another_name_can_be_named(tmp_path: Path) -> None:
    np.save(tmp_path / "wine.npy", X)
    np.save(tmp_path / "kind.npy", Y)
    assert dt.read(tmp_path / "wine.npy", target="kind.npy").fingerprint == WANTED
    assert dt.read(tmp_path / "wine.npy", target="kind").fingerprint == WANTED
    with pytest.raises(SpecError, match=r"'kinds.npy'; did you mean 'kind.npy'"):
        dt.read(tmp_path / "wine.npy", target="kinds")


def header(shape: tuple[int, ...], descr: str = "<f8", text: str | None = None) -> bytes:
    content = (text or f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}}}").encode()
    content += b" " * (63 - (len(content) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(content)) + content


DAMAGED = [
    (b"", "no array that numpy has saved"),
    (b"hello", "no array that numpy has saved"),
    (b"\x80\x04\x95", "no array that numpy has saved"),
    (
        header((10, 2)) + bytes(100),
        r"cut short: 10 × 2 numbers of type float64 take 160 bytes, and there are 100",
    ),
    (header((2**40, 2**20)) + bytes(100), "cut short"),
    (header((-5, 2)) + bytes(100), "cut short|no array"),
    (header((0, 2)), "is empty"),
    (header((10**15, 10), "|S0"), "is empty"),
    (header((2, 2), "|O") + b"\x80\x04N.", "Python objects, which are never opened"),
    (header((), text="__import__('os').system('true')"), "no array that numpy has saved"),
    (header((), text="(" * 5000), "no array that numpy has saved"),
    (header((), text="{'descr': '<f8', 'shape': (3,)}"), "no array that numpy has saved"),
    (b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + b" " * 99, "no array that numpy has saved"),
    (b"\x93NUMPY\x09\x00" + bytes(99), "no array that numpy has saved"),
]


@pytest.mark.parametrize(("content", "message"), DAMAGED)
def test_damaged_arrays_are_refused_before_there_is_memory_for_them(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    np.save(tmp_path / "y.npy", Y)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", content)
        archive.write(tmp_path / "y.npy", "y.npy")
    for name in ("x.npy", "a.npz"):
        with pytest.raises(DataError, match=message) as refused:
            dt.read(tmp_path / name)
        assert name in str(refused.value)


def test_objects_are_refused_with_advice(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=X, y=np.array(["a", "b", "c"], dtype=object)[Y])
    with pytest.raises(DataError, match=r"array 'y' of .*a.npz holds Python objects.*labels.astype\(str\)"):
        dt.read(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("arrays", "target", "message"),
    [
        ({"x": X}, None, "holds samples, but no labels"),
        ({"x": X, "y": Y[:-1]}, None, "60 samples and 59 labels"),
        ({"x": X, "y": X[:, 0]}, None, "measured values"),
        ({"x": X[:, 0], "y": Y}, None, r"samples\[:, None\]"),
        ({"a": X, "b": X, "c": Y}, None, "'a', 'b', 'c', and none of these is called as samples are"),
        ({"y": Y}, None, "none of these is called as samples"),
        ({"x": X, "data": X, "y": Y}, None, "'x' and 'data', which are both called as samples"),
        ({"x_test": X, "y_test": Y}, None, "none to train on"),
        ({"x": X, "y": Y}, "z", "unknown array .* 'z'"),
        ({"a": X, "b": X, "c": Y}, "c", "which array holds the samples of 'c'"),
        ({"x": X.astype(str), "y": Y}, None, "numbers of type"),
        ({"x": np.full((60, 2), np.nan), "y": Y}, None, "hold NaN"),
        ({"x_train": X, "y_train": Y, "x_test": X[:, :2], "y_test": Y}, None, "side by side"),
    ],
)
def test_arrays_that_nobody_can_use_are_refused(
    tmp_path: Path, arrays: dict[str, Any], target: str | None, message: str
) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises((DataError, SpecError), match=message) as refused:
        dt.read(tmp_path / "a.npz", target)
    assert "a.npz" in str(refused.value)


def test_sparse_matrices_are_refused_with_advice(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(X))
    with pytest.raises(DataError, match=r"sparse matrix; save matrix\.toarray"):
        dt.read(tmp_path / "a.npz")


def test_files_cut_short_are_refused(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=X, y=Y)
    whole = (tmp_path / "a.npz").read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        (tmp_path / "a.npz").write_bytes(whole[:size])
        with pytest.raises(DataError, match="damaged, or no zip archive"):
            dt.read(tmp_path / "a.npz")
    flipped = bytearray(whole)
    flipped[200] ^= 255
    (tmp_path / "a.npz").write_bytes(flipped)
    with pytest.raises(DataError, match=r"damaged|cut short|no array"):
        dt.read(tmp_path / "a.npz")


def test_labels_alone_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", Y)
    with pytest.raises(DataError, match="is called as labels are; name the file with the samples"):
        dt.read(tmp_path / "y.npy")
    np.save(tmp_path / "x.npy", X)
    assert dt.read(tmp_path / "y.npy").fingerprint == WANTED
    (tmp_path / "y.npy").unlink()
    with pytest.raises(DataError, match=r"x.npy holds samples, but no labels"):
        dt.read(tmp_path / "x.npy")
