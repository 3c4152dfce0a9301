"""Columns of a table: what they are taken for, and the features that they become."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dovetail.data.preparation import Table, read_preparation
from dovetail.data.preparation import table as table_file
from dovetail.data.preparation.table import as_frame, decided_columns
from dovetail.errors import DataError, FileFormatError

MANY = 60


def kinds(values: Any, **more: Any) -> tuple[str, str]:
    """Return what a column is taken for beside one of numbers, and why it is not used."""
    frame = pd.DataFrame({"it": values, "other": np.linspace(0.5, 1, len(values)), **more})
    column = Table.fitted(frame).columns[0]
    return column.kind, getattr(column, "why", "")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, 2.5, None], "number"),
        ([3, 1, 2, 3], "number"),
        (["1", " 2.5", "1e3"], "number"),
        (["1", "?", "2", "NA", ""], "number"),
        (["1", "2", "four"], "levels"),
        (["007", "12", "3"], "levels"),
        (["0.5", "0", "-0.25"], "number"),
        (["1_000", "2", "3"], "levels"),
        (["12345678901234567890", "12345678901234567891"], "levels"),
        (["NA", "FR", "DE"], "levels"),
        (["-", "?"], "levels"),
        (["true", "False", ""], "truth"),
        ([True, False, None], "truth"),
        (["yes", "no", "no"], "levels"),
        (["2024-01-31", "2024-02-29T12:00", "NA"], "date"),
        ([date(2024, 1, 31), None, date(2024, 2, 1)], "date"),
        (["31.01.2024", "01.02.2024", "31.01.2024"], "levels"),
        (pd.to_datetime(["2024-01-31", "2025-01-31"]), "date"),
        (pd.to_timedelta([1, 2], unit="D"), "number"),
        (pd.Categorical([3, 1, 3]), "levels"),
        (pd.array([1, None, 3], dtype="Int64"), "number"),
        (pd.array([True, None, False], dtype="boolean"), "truth"),
        (pd.array(["a", None, "b"], dtype="string"), "levels"),
        ([1 + 2j, 2j], "levels"),
    ],
)
def test_what_a_column_is_taken_for(values: Any, kind: str) -> None:
    assert kinds(values)[0] == kind


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([7, 7, 7], "the value is always the same"),
        (["a", "a", "a "], "the value is always the same"),
        (["7", "7.0"] * MANY, "the value is always the same"),
        ([7.0, np.inf] * MANY, "the value is always the same"),
        (
            [10**17 + 7 * number % MANY for number in range(MANY)],
            "its values differ too little for their size",
        ),
        ([str(10**17 + number % 2) for number in range(MANY)], "its values differ too little for their size"),
        (pd.array([10**17, 10**17 + 1, None], dtype="Int64"), "its values differ too little for their size"),
        ([1.0, 1.0 + 1e-14], "its values differ too little for their size"),
        ([1e17, None, 1e17], "its values are too large to be told apart as numbers, if they differ"),
        ([True, True], "the value is always the same"),
        ([None, np.nan, None], "all values are missing"),
        (["", " ", None], "all values are missing"),
        ([f"name{number}" for number in range(MANY)], "nearly every row has a value of its own"),
        (["turn the light on", "what time is it"] * 2, ""),
        ([f"it is {number} o'clock now" for number in range(MANY)], "texts are read only"),
        (range(1, MANY), "it only numbers the rows"),
        ([*range(20), *range(25, 40)], "it only numbers the rows"),
    ],
)
def test_columns_that_say_nothing_are_not_used(values: Any, why: str) -> None:
    kind, reason = kinds(list(values))
    assert reason.startswith(why)
    assert (kind == "unused") == bool(why)


def test_shuffled_row_numbers_are_told_by_their_name() -> None:
    numbers = np.random.default_rng(0).permutation(MANY)
    other = np.linspace(0, 1, MANY)
    table = Table.fitted(pd.DataFrame({"Id": numbers, "order_id": numbers, "size": numbers, "other": other}))
    assert [column.kind for column in table.columns] == ["unused", "unused", "number", "number"]


def test_features_are_those_of_scikit_learn() -> None:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    draw = np.random.default_rng(1)
    width = draw.normal(5, 30, 200)
    width[draw.random(200) < 0.2] = np.nan
    frame = pd.DataFrame(
        {
            "width": width,
            "count": draw.integers(0, 9, 200),
            "colour": draw.choice(["red", "green", "blue"], 200),
        }
    )
    train, test = np.arange(120), np.arange(120, 200)
    table = Table.fitted(frame, train)
    levels = [name.partition("=")[2] for name in table.feature_names[2:]]
    theirs = ColumnTransformer(
        [
            (
                "numbers",
                make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
                ["width", "count"],
            ),
            ("levels", OneHotEncoder(categories=[levels], sparse_output=False), ["colour"]),
        ]
    ).fit(frame.iloc[train])
    for rows in (train, test):
        np.testing.assert_allclose(
            table(frame.iloc[rows]), theirs.transform(frame.iloc[rows]), rtol=1e-5, atol=1e-6
        )
    assert levels == frame.colour.iloc[train].value_counts().index.tolist()


def test_values_of_each_kind() -> None:
    frame = pd.DataFrame(
        {
            "width": [1.0, None, 3.0, 5.0],
            "day": ["1970-01-01", "1970-01-03", "", "1970-01-03"],
            "member": ["TRUE", "false", None, "false"],
            "colour": ["red", "blue", None, "red"],
        }
    )
    table = Table.fitted(frame)
    assert table.feature_names == ("width", "day", "member", "colour=red", "colour=blue", "colour (missing)")
    features = table(frame)
    assert features.dtype == torch.float32
    widths, days = np.array([1.0, 3, 3, 5]), np.array([0.0, 2, 2, 2])
    for column, wanted in enumerate([widths, days]):
        np.testing.assert_allclose(features[:, column], (wanted - wanted.mean()) / wanted.std(), atol=1e-6)
    assert features[:, 2].tolist() == [1, 0, 0, 0]
    assert features[:, 3:].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_statistics_are_those_of_training_rows_alone() -> None:
    frame = pd.DataFrame({"width": [1.0, 2, 3, 1000], "colour": ["red", "blue", "red", "green"]})
    of_three = Table.fitted(frame, np.arange(3))
    assert of_three == Table.fitted(frame.iloc[:3])
    # A level of no training row is all zeros.
    assert of_three(frame)[3, 1:].tolist() == [0, 0]


def test_rare_levels_share_a_feature() -> None:
    values = [f"c{number}" for number in range(55) for _ in range(55 - number)]
    table = Table.fitted({"code": values})
    assert len(table.feature_names) == 51
    assert table.feature_names[0] == "code=c0"
    assert table.feature_names[-1] == "code (other)"
    found = table({"code": ["c49", "c50", "never seen", None]})
    assert found.argmax(1)[:3].tolist() == [49, 50, 50]
    assert found.sum(1).tolist() == [1, 1, 1, 0]


def test_odd_texts_among_numbers_are_missing_and_others_are_refused() -> None:
    values = [*map(str, range(100)), "too small", "n/a"]
    table = Table.fitted({"dose": values})
    assert table.columns[0].kind == "number"
    assert "column 'dose': 'too small' count as missing values" in table.notes
    missing = table({"dose": ["too small", "?", "", None, "49.5"]})
    assert (missing == missing[4]).all()
    with pytest.raises(DataError, match="row 2: column 'dose' holds 'too big', which is no number"):
        table({"dose": ["1", "too big"]})


def test_raw_rows_of_all_kinds_and_orders_are_the_same() -> None:
    frame = pd.DataFrame({"width": [1.0, 2.5, 4.0], "colour": ["red", "blue", "red"]})
    table = Table.fitted(frame)
    wanted = table(frame)
    for raw in (
        frame[["colour", "width"]].assign(more="x"),
        frame.to_dict("list"),
        frame.to_dict("records"),
        {"colour": ["red", "blue", "red"], "width": ["1", " 2.5", "4.0"]},
        frame.set_axis([" width", "colour "], axis=1),
        frame.astype({"colour": "category"}),
        frame.to_numpy().tolist(),
        frame.to_numpy(),
        [tuple(row) for row in frame.to_numpy().tolist()],
    ):
        assert torch.equal(table(raw), wanted)
    assert table(frame.iloc[:0]).shape == (0, 3)


def test_rows_without_names_hold_all_columns_in_their_order() -> None:
    frame = pd.DataFrame({"same": [7, 7, 7], "width": [1.0, 2.5, 4.0], "height": [3, 1, 2]})
    table = Table.fitted(frame)
    wanted = table(frame)
    for raw in (frame.to_numpy(), torch.tensor(frame.to_numpy()), frame.to_numpy().tolist()):
        assert torch.equal(table(raw), wanted)
    with pytest.raises(DataError, match="row 1 has 2 values, and there are 3 columns"):
        table(frame[["width", "height"]].to_numpy())


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (
            {"colour": ["red"]},
            "the table has no column 'width', which was there in training; it has 'colour'",
        ),
        ([], "no columns 'width', 'colour', which were there in training; it has none at all"),
        ({"width": ["wide"], "colour": ["red"]}, "row 1: column 'width' holds 'wide', which is no number"),
        ({"width": [[1.0]], "colour": ["red"]}, "row 1: column 'width' holds a value of type list"),
        ({"width": [1e300], "colour": ["red"]}, r"\Z"),
        ({"width": [1], "colour": ["red", "blue"]}, "not a table .*same length"),
        ({"width": 1, "colour": "red"}, "a single row is a list of one dict"),
        (
            np.zeros((2, 2)),
            "an array of float64 has no texts, and there are columns of texts: 'colour'; .* DataFrame",
        ),
        (torch.zeros(2, 3), "array of float32 has no texts, .* as a split, data.test, not as its x"),
        (pd.Series({"width": 1.0, "colour": "red"}), r"got Series; a single row is frame.iloc\[\[0\]\]"),
        ([1.0, "red"], r"got list; a single row is \[row\]"),
        (np.zeros(2), r"got ndarray; a single row is \[row\]"),
        (
            [[1.0, "red"], [2.0]],
            "row 2 has 1 values, and there are 2 columns: 'width', 'colour'; a DataFrame",
        ),
        ("wine.csv", "got str"),
        (pd.DataFrame([[1, 2]], columns=["width", "width"]), "two columns are called 'width'"),
        (pd.DataFrame([[1]], columns=["w" * 201]), "the name of a column has 201 characters"),
    ],
)
def test_what_is_no_such_row_is_refused(raw: Any, message: str) -> None:
    table = Table.fitted({"width": [1.0, 2.0, 4.0], "colour": ["red", "blue", "red"]})
    if message == r"\Z":  # infinite for float32, so missing
        assert torch.isfinite(table(raw)).all()
        return
    with pytest.raises(DataError, match=message):
        table(raw)


def test_values_far_beyond_training_are_refused_by_row() -> None:
    table = Table.fitted({"width": [1e-30, 2e-30, 4e-30]})
    with pytest.raises(DataError, match=r"row 2: column 'width' holds 1e\+10, which is too large"):
        table({"width": [1e-30, 1e10]})


def test_a_part_of_a_table_names_rows_as_the_whole() -> None:
    table = Table.fitted({"width": [1.0, 2.0, 4.0]})
    rows = pd.DataFrame({"width": ["1", "2", "wide", "4"]})
    with pytest.raises(DataError, match="row 3: column 'width'"):
        table(rows.iloc[[3, 2]])
    with pytest.raises(DataError, match="row 'third': column 'width'"):
        table(rows.set_axis(["first", "second", "third", "fourth"]))


def test_a_table_without_anything_to_use_says_why() -> None:
    with pytest.raises(DataError, match=r"no column can be used: size \(the value is always the same\)"):
        Table.fitted({"size": [1, 1, 1]})
    with pytest.raises(DataError, match="no column can be used: there is none"):
        Table.fitted(pd.DataFrame(index=range(3)))


def test_more_features_than_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_file, "MOST_FEATURES", 5)
    with pytest.raises(DataError, match="2 columns come to 6 features; 5 are the most"):
        Table.fitted({"a": ["x", "y", "z", "x"], "b": ["x", "y", "z", "x"]})


def test_describe_counts_columns_by_kind() -> None:
    frame = pd.DataFrame(
        {
            "id": range(20),
            "a": [0.5, 1.5] * 10,
            "b": [1, 2] * 10,
            "c": ["x", "y"] * 10,
            "d": [True, False] * 10,
            "e": ["2024-01-01", "2024-01-02"] * 10,
        }
    )
    assert Table.fitted(frame).describe() == (
        "6 columns: 2 numbers, 1 date, 1 truth value, 1 of levels (c); unused: id (it only numbers the rows)"
    )
    assert Table.fitted(frame[["a"]]).describe() == "1 column: 1 number"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": []}, "columns"),
        ({"columns": [{"kind": "unused", "name": "a", "why": "b"}]}, "0 features"),
        ({"columns": [{"kind": "number", "name": "a", "fill": 0, "shift": 0, "scale": 0}]}, "scale"),
        (
            {"columns": [{"kind": "number", "name": "a", "fill": 0, "shift": float("nan"), "scale": 1}]},
            "shift",
        ),
        (
            {"columns": [{"kind": "levels", "name": "a", "levels": ["x", "x"]}]},
            "a level of 'a' is there twice",
        ),
        ({"columns": [{"kind": "levels", "name": "a", "levels": ["x" * 201]}]}, "200 characters"),
        ({"columns": [{"kind": "levels", "name": "a", "levels": list(map(str, range(51)))}]}, "at most 50"),
        ({"columns": [{"kind": "code", "name": "a"}]}, "columns"),
        ({"columns": [{"kind": "truth", "name": "a", "fill": 2}]}, "fill"),
        ({"more": 1}, "more"),
    ],
)
def test_altered_tables_are_refused(change: dict[str, Any], message: str) -> None:
    content = Table.fitted({"width": [1.0, 2.0]}).model_dump(mode="json") | change
    with pytest.raises(FileFormatError, match=message):
        read_preparation(content)


def test_two_columns_of_a_name_are_refused_in_files() -> None:
    content = Table.fitted({"width": [1.0, 2.0]}).model_dump(mode="json")
    content["columns"] *= 2
    with pytest.raises(FileFormatError, match="two columns are called 'width'"):
        read_preparation(content)


ODD = st.sampled_from(
    [None, "", "NA", "?", "1", "2.5", "007", "red", "true", "2024-01-31", "\ud800", "9" * 400]
)
VALUES = st.sampled_from(
    [
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.dates(),
        st.datetimes(),
        st.binary(max_size=4),
    ]
)


@st.composite
def columns(draw: st.DrawFn, rows: int) -> list[Any]:
    """Return values of one kind or of several."""
    kinds = [ODD, *draw(st.lists(VALUES, max_size=2))]
    return draw(st.lists(st.one_of(*kinds), min_size=rows, max_size=rows))


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    rows = draw(st.integers(1, 30))
    first, second = draw(columns(rows)), draw(columns(rows))
    try:
        other = pd.Series(second)
    except UnicodeEncodeError:  # pandas with pyarrow refuses halves of characters, but among objects
        other = pd.Series(second, dtype=object)
    return pd.DataFrame({"a": pd.Series(first, dtype=object), "b": other})


def features_of(table: Table, frame: pd.DataFrame) -> torch.Tensor | str:
    try:
        return table(frame)
    except DataError as error:
        return str(error)


@given(tables())
def test_any_values_become_finite_features_or_a_clear_error(frame: pd.DataFrame) -> None:
    train = np.arange(0, len(frame), 2)
    if all(kind == "unused" for kind in (column.kind for column in decided_columns(as_frame(frame), train))):
        with pytest.raises(DataError, match="no column can be used"):
            Table.fitted(frame, train)
        return
    table = Table.fitted(frame, train)
    again = read_preparation(json.loads(json.dumps(table.model_dump(mode="json"))))
    assert again == table
    assert again.digest == table.digest
    features = features_of(table, frame)
    if isinstance(features, str):
        assert "too large" in features
        return
    assert features.shape == (len(frame), len(table.feature_names))
    assert torch.isfinite(features).all()
    assert torch.equal(again(frame), features)
    # Rows do not depend on those beside them.
    assert torch.equal(table(frame.iloc[:1]), features[:1])
