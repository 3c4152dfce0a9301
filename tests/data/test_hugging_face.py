"""Data sets of Hugging Face: by what they have, and the real ones where the package is installed."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dovetail import Dataset
from dovetail.data.preparation import Numbers, Pictures, Table, Words
from dovetail.errors import DataError, SpecError

RANDOM = np.random.default_rng(0)


class Value:
    def __init__(self, dtype: str) -> None:
        self.dtype = dtype


class ClassLabel:
    dtype = "int64"

    def __init__(self, names: list[str]) -> None:
        self.names = names


class Image:
    dtype = "PIL.Image.Image"


class List:
    dtype = "list"


class Columns:
    """What `datasets.Dataset` has, of what is asked of it."""

    def __init__(self, columns: dict[str, list[Any]], features: dict[str, Any]) -> None:
        self.columns, self.features = columns, features

    @property
    def column_names(self) -> list[str]:
        return list(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.columns[key]
        return {name: values[key] for name, values in self.columns.items()}

    def select_columns(self, names: list[str]) -> Columns:
        return Columns({name: self.columns[name] for name in names}, self.features)

    def select(self, rows: range) -> Columns:
        return Columns(
            {name: [values[row] for row in rows] for name, values in self.columns.items()}, self.features
        )

    def to_pandas(self) -> pd.DataFrame:
        return pd.DataFrame(self.columns)


KINDS = ClassLabel(["dog", "cat", "emu"])
IDS = [row % 3 for row in range(30)]
SENTENCES = [f"it goes on {'up and up' if row % 2 else 'down and down'} {row} times" for row in range(30)]


def of_texts(rows: int = 30, labels: list[Any] | None = None) -> Columns:
    columns: dict[str, list[Any]] = {
        "sentence": SENTENCES[:rows],
        "idx": list(range(rows)),
        "label": labels or IDS[:rows],
    }
    return Columns(columns, {"sentence": Value("string"), "idx": Value("int32"), "label": KINDS})


def of_table() -> Columns:
    columns: dict[str, list[Any]] = {
        "width": RANDOM.normal(size=30).tolist(),
        "colour": ["red", "blue"] * 15,
        "kind": IDS,
    }
    return Columns(columns, {"width": Value("float64"), "colour": Value("string"), "kind": KINDS})


def of_pictures(*, decoded: bool = True) -> Columns:
    image = pytest.importorskip("PIL.Image")
    pictures: list[Any] = []
    for row in range(30):
        picture = image.new("L", (6, 5), 8 * row)
        if not decoded:
            buffer = io.BytesIO()
            picture.save(buffer, "png")
        pictures.append(picture if decoded else {"bytes": buffer.getvalue(), "path": None})
    columns = {"image": pictures, "name": [str(row) for row in range(30)], "label": IDS}
    return Columns(columns, {"image": Image(), "name": Value("string"), "label": KINDS})


@pytest.mark.parametrize("decoded", [True, False])
def test_pictures_keep_their_class(decoded: bool) -> None:
    data = Dataset.from_huggingface(of_pictures(decoded=decoded))
    assert isinstance(data.preparation, Pictures)
    assert (data.input_shape, data.classes) == ((1, 5, 6), ("dog", "cat", "emu"))
    for split in data.splits.values():
        rows = (split.x.amax((1, 2, 3)) * 255 / 8).round().int()
        assert (rows % 3).tolist() == split.y.tolist()
    assert data.notes == ("columns that are not used: 'name'",)


def test_sentences_are_texts() -> None:
    data = Dataset.from_huggingface(of_texts())
    assert isinstance(data.preparation, Words)
    assert data.classes == ("cat", "dog", "emu")
    assert "columns that are not used: 'idx'" in data.notes


def test_other_columns_are_a_table() -> None:
    data = Dataset.from_huggingface(of_table())
    assert isinstance(data.preparation, Table)
    assert sorted(data.preparation.feature_names) == ["colour=blue", "colour=red", "width"]
    assert [column.name for column in data.columns] == ["width", "colour"]


def test_lists_of_numbers_are_arrays() -> None:
    x = RANDOM.normal(size=(30, 4))
    data = Dataset.from_huggingface(Columns({"x": x.tolist(), "y": IDS}, {"x": List(), "y": Value("int64")}))
    assert isinstance(data.preparation, Numbers)
    assert data.fingerprint == Dataset.from_arrays(x, IDS).fingerprint
    ragged = Columns({"x": [[1.0], [1.0, 2.0]], "y": [0, 1]}, {"x": List(), "y": Value("int64")})
    with pytest.raises(DataError, match="rows of column 'x' are of different lengths"):
        Dataset.from_huggingface(ragged)


@pytest.mark.parametrize("make", [of_texts, of_table, of_pictures])
def test_splits_are_kept(make: Any) -> None:
    whole = make()
    data = Dataset.from_huggingface(
        {
            "train": whole,
            "validation": whole.select(range(6)),
            "test": whole.select(range(9)),
            "unsupervised": whole,
        }
    )
    assert [len(split) for split in data.splits.values()] == [30, 6, 9]
    assert data.notes[0] == "splits that are neither train, val nor test are left out: 'unsupervised'"
    names = np.array(data.classes)
    assert names[data.test.y.numpy()].tolist() == [KINDS.names[number] for number in IDS[:9]]
    one = Dataset.from_huggingface({"train": whole})
    assert one.fingerprint == Dataset.from_huggingface(whole).fingerprint


def test_a_split_without_labels_is_left_out() -> None:
    data = Dataset.from_huggingface({"train": of_texts(), "test": of_texts(9, [-1] * 9)})
    assert "the test split has no labels and is left out" in data.notes
    assert [len(split) for split in data.splits.values()] == [19, 5, 6]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ([1, 2], {}, "this is a list, not a data set of Hugging Face"),
        (Columns({"a": []}, {}), {}, "is empty"),
        ({"test": of_table(), "dev": of_table()}, {}, "no split to train on among 'test', 'dev'"),
        (of_table(), {"target": "kinds"}, "unknown column 'kinds'; did you mean 'kind'"),
        (of_table(), {"inputs": "size"}, "unknown column 'size'"),
        (Columns({"a": [1], "b": [2]}, {}), {}, r"which column holds the classes\? It has 'a', 'b'"),
        (Columns({"a": [1], "b": [2]}, {"a": KINDS, "b": KINDS}), {}, r"Several could \('a', 'b'\)"),
        (Columns({"label": IDS}, {"label": KINDS}), {}, "no column but 'label'"),
        ({"train": of_texts(9, [-1] * 9), "test": of_texts()}, {}, "the training split has no labels"),
    ],
)
def test_what_cannot_be_used_is_refused(data: Any, options: dict[str, str], message: str) -> None:
    with pytest.raises((DataError, SpecError), match=message):
        Dataset.from_huggingface(data, **options)  # type: ignore[arg-type]


def test_of_several_columns_of_sentences_one_is_chosen() -> None:
    columns: dict[str, list[Any]] = {"premise": SENTENCES, "hypothesis": SENTENCES[::-1], "label": IDS}
    data = Columns(columns, {"premise": Value("string"), "hypothesis": Value("string"), "label": KINDS})
    with pytest.raises(
        DataError, match=r"several columns of texts \('premise', 'hypothesis'\); choose one with inputs="
    ):
        Dataset.from_huggingface(data)
    assert isinstance(Dataset.from_huggingface(data, inputs="premise").preparation, Words)


def test_streamed_data_is_refused() -> None:
    class Streamed:
        features, column_names = {"label": KINDS}, ["label"]

    with pytest.raises(DataError, match="without streaming=True"):
        Dataset.from_huggingface(Streamed())


def test_the_real_ones_give_the_same() -> None:
    real = pytest.importorskip("datasets")
    for ours in (of_texts(), of_pictures(), of_table()):
        kinds: dict[str, Any] = {
            name: real.Image() if isinstance(feature, Image)
            else real.ClassLabel(names=feature.names) if isinstance(feature, ClassLabel)
            else real.Value(feature.dtype)
            for name, feature in ours.features.items()
        }  # fmt: skip
        theirs = real.Dataset.from_dict(ours.columns, features=real.Features(kinds))
        assert Dataset.from_huggingface(theirs).fingerprint == Dataset.from_huggingface(ours).fingerprint
        both = real.DatasetDict({"train": theirs, "test": theirs.select(range(9))})
        assert len(Dataset.from_huggingface(both).test) == 9
    with pytest.raises(DataError, match="streamed"):
        Dataset.from_huggingface(theirs.to_iterable_dataset())
