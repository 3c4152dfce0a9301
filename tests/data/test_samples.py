"""Samples to answer for: from files, folders and streams."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dovetail as dt
from dovetail.data import Preparation, Samples, read_samples
from dovetail.data.preparation import Numbers, Pictures
from dovetail.errors import DataError

ROWS = pd.DataFrame(
    {
        "width": np.random.default_rng(0).normal(size=40).round(3),
        "colour": ["red", "blue", None, "red"] * 10,
        "kind": ["cat", "dog"] * 20,
    }
)
TABLE = dt.Dataset.from_frame(ROWS, "kind").preparation
WORDS = dt.Dataset.from_frame(
    pd.DataFrame({"text": [f"turn the light on {row}" for row in range(20)], "intent": ["a", "b"] * 10}),
    "intent",
).preparation


def test_a_table_with_and_without_its_classes(tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "with.csv", index=False)
    ROWS.drop(columns="kind").to_csv(tmp_path / "without.csv", index=False)
    found, bare = (read_samples(tmp_path / name, TABLE) for name in ("with.csv", "without.csv"))
    assert found.labels == tuple(ROWS.kind)
    assert bare.labels is None
    assert found.names == tuple(str(number) for number in range(1, 41))
    assert TABLE is not None
    wanted = TABLE(ROWS)
    for samples in (found, bare, read_samples(io.BytesIO((tmp_path / "without.csv").read_bytes()), TABLE)):
        np.testing.assert_allclose(TABLE(samples.raw), wanted)


def test_texts_in_lines_json_and_tables(tmp_path: Path) -> None:
    texts, labels = ["turn it on", "it rains, I think"], ["light", "weather"]
    (tmp_path / "a.txt").write_text("\n".join(texts))
    (tmp_path / "a.jsonl").write_text(
        "\n".join(json.dumps({"text": t, "intent": k}) for t, k in zip(texts, labels, strict=True))
    )
    pd.DataFrame({"text": texts, "intent": labels}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"text": texts}).to_csv(tmp_path / "b.csv", index=False)
    for name, has_labels in (("a.txt", False), ("a.jsonl", True), ("a.csv", True), ("b.csv", False)):
        samples = read_samples(tmp_path / name, WORDS)
        assert samples.raw == texts
        assert samples.names == ("1", "2")
        assert samples.labels == (tuple(labels) if has_labels else None)
    stream = io.BytesIO((tmp_path / "a.jsonl").read_bytes())
    assert read_samples(stream, WORDS) == Samples(texts, ("1", "2"), tuple(labels))
    assert read_samples(io.StringIO("turn it on\n"), WORDS).raw == ["turn it on"]


def test_arrays_with_and_without_labels(tmp_path: Path) -> None:
    x = np.arange(12.0).reshape(6, 2)
    np.savez(tmp_path / "a.npz", x=x, y=np.array(list("ababab")))
    np.savez(tmp_path / "b.npz", embedded=x)
    np.savez(tmp_path / "c.npz", x_train=x, y_train=x[:, 0], x_test=x[:3], y_test=[7, 8, 7])
    np.save(tmp_path / "d.npy", x)
    for preparation in (Numbers(raw_shape=(2,)), None):
        found = [read_samples(tmp_path / name, preparation) for name in ("a.npz", "b.npz", "c.npz", "d.npy")]
        assert [samples.labels for samples in found] == [tuple("ababab"), None, ("7", "8", "7"), None]
        for samples in found:
            np.testing.assert_array_equal(samples.raw, x[: len(samples.names)])


def test_tables_for_parts_that_take_arrays(tmp_path: Path) -> None:
    frame = pd.DataFrame({"b": [1, 2], "label": ["x", "y"], "a": [3, 4]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    named = Numbers(raw_shape=(2,), names=("a", "b"))
    found = read_samples(tmp_path / "a.csv", named)
    assert (found.raw.tolist(), found.labels) == ([[3, 1], [4, 2]], ("x", "y"))
    found = read_samples(tmp_path / "a.csv", Numbers(raw_shape=(2,)))
    assert (found.raw.tolist(), found.labels) == ([[1, 3], [2, 4]], ("x", "y"))
    assert read_samples(io.StringIO("a,b,c,d\n1,2,3,4\n"), Numbers(raw_shape=(2, 2))).raw.tolist() == [
        [[1, 2], [3, 4]]
    ]
    assert read_samples(io.StringIO("a,b\n1,2\n"), None).raw.tolist() == [[1, 2]]
    with pytest.raises(DataError, match=r"has 3 columns \('b', 'label', 'a'\), and samples have 5 numbers"):
        read_samples(tmp_path / "a.csv", Numbers(raw_shape=(5,)))
    with pytest.raises(DataError, match="holds 'x', which is no number"):
        read_samples(tmp_path / "a.csv", Numbers(raw_shape=(3,)))


def test_pictures_alone_in_folders_archives_and_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = pytest.importorskip("PIL.Image")
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    for number in range(4):
        path = tmp_path / "photos" / ("cat" if number % 2 else "dog") / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        image.new("RGB", (20, 10), (60 * number, 0, 0)).save(path)
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as packed:
        for path in sorted((tmp_path / "photos").rglob("*.png")):
            packed.write(path, path.relative_to(tmp_path))
    preparation = Pictures(size=(4, 4), channels=3)
    folder, archive = (read_samples(tmp_path / name, preparation) for name in ("photos", "photos.zip"))
    assert folder.names == ("cat/1.png", "cat/3.png", "dog/0.png", "dog/2.png")
    assert folder.labels == archive.labels == ("cat", "cat", "dog", "dog")
    assert [name.removeprefix("photos/") for name in archive.names] == list(folder.names)
    np.testing.assert_allclose(preparation(archive.raw), preparation(folder.raw))
    assert list((tmp_path / "cache" / "unpacked").iterdir()) == []
    assert read_samples(tmp_path / "photos" / "cat", preparation).labels is None
    one = tmp_path / "photos" / "cat" / "1.png"
    for source, name in ((one, "1.png"), (io.BytesIO(one.read_bytes()), "1")):
        samples = read_samples(source, preparation)
        assert samples.names == (name,)
        np.testing.assert_allclose(preparation(samples.raw), preparation([one]))


def test_an_archive_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    with zipfile.ZipFile(tmp_path / "rows.zip", "w") as packed:
        packed.writestr("rows.csv", ROWS.to_csv(index=False))
    assert read_samples(tmp_path / "rows.zip", TABLE).labels == tuple(ROWS.kind)


NUMBERS, PICTURES = Numbers(raw_shape=(2,)), Pictures(size=(4, 4), channels=3)


@pytest.mark.parametrize(
    ("source", "preparation", "message"),
    [
        ("nope.csv", TABLE, "there is no file or folder"),
        ("a.txt", TABLE, "a.txt is texts, and this part takes samples of another kind: 2 columns"),
        ("a.txt", NUMBERS, "is texts"),
        ("a.txt", None, "rows of numbers"),
        (".", WORDS, "is a folder"),
        (".", PICTURES, "a folder, but not one of pictures"),
        ("a.csv", PICTURES, "is a table, and this part takes samples of another kind: colour pictures"),
        ("a.npz", WORDS, "is arrays"),
        (io.BytesIO(b""), TABLE, "empty"),
        (io.BytesIO(b""), WORDS, "the input holds no texts"),
        (io.BytesIO(b""), PICTURES, "nothing came from the input"),
    ],
)
def test_samples_of_another_kind_are_refused(
    tmp_path: Path, source: Any, preparation: Preparation | None, message: str
) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    np.savez(tmp_path / "a.npz", x=np.zeros((2, 2)))
    with pytest.raises(DataError, match=message):
        read_samples(tmp_path / source if isinstance(source, str) else source, preparation)


def test_a_first_line_of_values_is_no_line_of_names() -> None:
    wanted = Numbers(raw_shape=(3,))
    with pytest.raises(DataError, match="first line of the input holds values"):
        read_samples(io.BytesIO(b"1,2,3\n4,5,6\n"), wanted)
    # What pandas writes for an array.
    assert read_samples(io.BytesIO(b"0,1,2\n4,5,6\n"), wanted).raw.tolist() == [[4.0, 5.0, 6.0]]
