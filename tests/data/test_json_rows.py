"""Rows as JSON: the same as in a table, and as a list of dicts that a part takes in Python."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dt
from dovetail.data import read_samples
from dovetail.data.own import json_rows, json_text
from dovetail.data.own.json_rows import read_json_rows
from dovetail.data.own.text_lines import TextLines
from dovetail.data.preparation import Numbers, Preparation, Table
from dovetail.errors import DataError

ROWS = pd.DataFrame(
    {
        "width": np.random.default_rng(0).normal(size=40).round(3),
        "colour": ["red", "blue", None, "red"] * 10,
        "kind": ["cat", "dog"] * 20,
    }
)
TABLE = dt.Dataset.from_frame(ROWS, "kind").preparation
INPUTS = ROWS.drop(columns="kind")
LINES = INPUTS.to_json(orient="records", lines=True)
LISTS = "".join(json.dumps(row) + "\n" for row in INPUTS.replace({np.nan: None}).to_numpy().tolist())


def samples_of(text: str, preparation: Preparation | None) -> Any:
    return read_samples(io.BytesIO(text.encode()), preparation)


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        f"\n{LINES}\n\n",
        LISTS,
        f"[{','.join(LISTS.splitlines())}]",
        INPUTS.to_json(orient="records"),
        INPUTS.to_json(orient="records", indent=2),
        "\n".join(json.dumps(json.loads(line), indent=1) for line in LINES.splitlines()),
    ],
)
def test_objects_and_lists_are_rows_of_a_table(text: str) -> None:
    assert TABLE is not None
    samples = samples_of(text, TABLE)
    assert samples.names == tuple(str(number) for number in range(1, 41))
    assert samples.labels is None
    np.testing.assert_array_equal(TABLE(samples.raw), TABLE(INPUTS))


def test_classes_beside_them_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    ROWS.to_json(path, orient="records", lines=True)
    assert read_samples(path, TABLE).labels == tuple(ROWS.kind)
    path = tmp_path / "rows.json"
    ROWS.rename(columns={"kind": "answer"}).to_json(path, orient="records", indent=2)
    assert read_samples(path, TABLE, target="answer").labels == tuple(ROWS.kind)


def test_what_an_object_leaves_out_is_missing() -> None:
    assert TABLE is not None
    found = samples_of('{"width": 1, "other": [1]}\n{"colour": null, "width": "2"}\n{"colour": "red"}', TABLE)
    wanted = [{"width": 1}, {"width": 2}, {"colour": "red"}]
    np.testing.assert_array_equal(TABLE(found.raw), TABLE(wanted))


def test_lists_of_numbers_have_the_shape_of_samples() -> None:
    x = np.arange(24.0).reshape(3, 2, 4)
    for preparation, wanted in ((Numbers(raw_shape=(2, 4)), x), (Numbers(raw_shape=(8,)), x.reshape(3, 8))):
        for rows in (x.tolist(), x.reshape(3, 8).tolist()):
            lines = "\n".join(map(json.dumps, rows))
            np.testing.assert_array_equal(samples_of(lines, preparation).raw, wanted)
            np.testing.assert_array_equal(samples_of(json.dumps(rows), preparation).raw, wanted)
            np.testing.assert_array_equal(samples_of(lines, None).raw, x.reshape(3, 8))
    named = Numbers(raw_shape=(2,), names=("a", "b"))
    assert samples_of('{"b": 1, "a": true}', named).raw.tolist() == [[1, 1]]


NUMBERS = Numbers(raw_shape=(2,))


@pytest.mark.parametrize(
    ("text", "preparation", "message"),
    [
        ('{"width": 1', TABLE, "the input is no JSON .*line 1 column"),
        ('{"width": 1}\n{"width" 2}', TABLE, "no JSON .*line 2"),
        ("[1, 2]\nwidth,colour", NUMBERS, "no JSON .*line 2"),
        (
            '{"width": 1}\n[1, "red"]',
            TABLE,
            "row 2 is not like the first: rows are all objects, or all lists",
        ),
        ("[1, 2]\n7", NUMBERS, "row 2 is 7; a row is an object"),
        ("[]", TABLE, "holds no rows"),
        ("{}", TABLE, "objects without fields"),
        ("[1]", TABLE, "row 1 has 1 values, and there are 2 columns: 'width', 'colour'; an object"),
        ("[1, 2]\n[1]", NUMBERS, "row 2 has 1 values, and a sample has 2"),
        ("[1, 2]\n[1]", None, "row 2 has 1 values, and a sample has 2"),
        ('[1, "two"]', NUMBERS, "row 1 holds 'two' in place of a number"),
        ("[1, {}]", NUMBERS, "row 1 holds {} in place of a number"),
        (f"[1, 1{'0' * 400}]", NUMBERS, "too large"),
        (f"[1, 1{'0' * 5000}]", NUMBERS, "no JSON"),
        ("[" * 100_000, NUMBERS, "no JSON"),
        ('{"width": "wide"}', Numbers(raw_shape=(1,), names=("width",)), "holds 'wide', which is no number"),
        ('{"width": [1], "colour": "red"}', TABLE, "holds a value of type list"),
    ],
)
def test_what_is_no_row_is_refused(text: str, preparation: Preparation | None, message: str) -> None:
    with pytest.raises(DataError, match=message):
        (preparation or NUMBERS)(samples_of(text, preparation).raw)


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_rows, "_MOST_VALUES", 3)
    with pytest.raises(DataError, match="2 different fields in 2 objects"):
        samples_of('{"width": 1}\n{"colour": 2}', TABLE)
    monkeypatch.setattr(json_text, "MOST_JSON", 10)
    with pytest.raises(DataError, match="more than 10 characters; send the rows in parts"):
        samples_of(LINES, TABLE)


def test_names_of_columns_in_brackets_are_csv() -> None:
    assert samples_of("[a],[b]\n1,2\n", None).raw.tolist() == [[1, 2]]


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(-9, 9), st.text("ab[{,\n\"'é", max_size=3)
)


@settings(max_examples=60)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=6), st.booleans())
def test_rows_are_those_that_were_written(pairs: list[tuple[Any, Any]], in_one: bool) -> None:
    rows = [{"u": u, "v": v} for u, v in pairs]
    text = json.dumps(rows) if in_one else "\n".join(map(json.dumps, rows))
    with TextLines(io.StringIO(text)) as lines:
        found = read_json_rows(lines, None)
    assert isinstance(found, pd.DataFrame)
    pd.testing.assert_frame_equal(found, pd.DataFrame({name: [row[name] for row in rows] for name in "uv"}))
    prepared = Table.fitted(pd.DataFrame({"u": ["a", "b"], "v": ["a", "b"]}))
    lists = "\n".join(map(json.dumps, pairs))
    np.testing.assert_array_equal(prepared(samples_of(lists, prepared).raw), prepared(rows))


def test_rows_are_a_table_to_train_on(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "width": [1.5, 2.0, None, 4.0] * 6,
            "colour": ["red", "blue", "red", None] * 6,
            "kind": ["cat", "dog", "cat", "dog"] * 6,
        }
    )
    frame.to_csv(tmp_path / "pets.csv", index=False)
    frame.to_json(tmp_path / "pets.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "pets.json", orient="records", indent=2)
    wanted = dt.read(tmp_path / "pets.csv", "kind")
    for name in ("pets.jsonl", "pets.json"):
        data = dt.read(tmp_path / name, "kind")
        assert data.fingerprint == wanted.fingerprint
        assert data.preparation == wanted.preparation
        assert dt.read(tmp_path / name).classes == ("cat", "dog")
        assert dt.read(tmp_path / name, like=data).fingerprint == wanted.fingerprint


@pytest.mark.parametrize(
    ("lines", "prepared"),
    [
        (['{"text": "turn it up %d", "label": "a"}', '{"text": "hello there %d", "label": "b"}'], "texts"),
        (
            ['{"id": %d, "said": "turn it up", "label": "a"}', '{"id": %d, "said": "hello", "label": "b"}'],
            "texts",
        ),
        (['["turn it up %d", "a"]', '["hello there %d", "b"]'], "texts"),
        (['{"one": "turn it up now %d", "two": "a"}', '{"one": "hello out there %d", "two": "b"}'], "texts"),
        (['{"width": %d, "label": "a"}', '{"width": 2.5%d, "label": "b"}'], "1 column: 1 number"),
    ],
)
def test_texts_are_told_from_rows(tmp_path: Path, lines: list[str], prepared: str) -> None:
    (tmp_path / "some.jsonl").write_text("\n".join(line % n for n in range(20) for line in lines))
    preparation = dt.read(tmp_path / "some.jsonl").preparation
    assert preparation is not None
    assert preparation.describe().startswith(prepared)


def test_rows_that_are_no_table_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"width": 3, "height": 4, "kind": "cat"}\n[3, 4, "cat"]\n')
    with pytest.raises(DataError, match=r"rows.jsonl: row 2 is not like the first"):
        dt.read(path, "kind")
    path.write_text("[3, 4, 5]\n")
    with pytest.raises(DataError, match=r"rows.jsonl: line 1 is a list of 3, not of a text and its label"):
        dt.read(path, "kind")
