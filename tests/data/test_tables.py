"""Tables: files with rows of fields, and what becomes of them as a data set."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dovetail.data.dataset import Dataset
from dovetail.data.own import csv_file, parquet_file, text_lines
from dovetail.data.own.tables import frame_content, read_table, target_column
from dovetail.data.preparation import Numbers, Pictures, Table, Words
from dovetail.data.preparation.values import BLANKS
from dovetail.errors import DataError, SpecError


def table_of(text: str | bytes, *, tabs: bool = False) -> pd.DataFrame:
    return read_table(io.BytesIO(text if isinstance(text, bytes) else text.encode()), tabs=tabs)


def columns_of(text: str | bytes) -> dict[str, list[Any]]:
    return {str(name): values for name, values in table_of(text).to_dict("list").items()}


def dataset(frame: pd.DataFrame, target: str | None = None, **options: Any) -> Dataset:
    return Dataset.from_content("table", frame_content(frame, target, name="table", **options))


def pets(rows: int = 60) -> pd.DataFrame:
    """Return a table of two classes with a number, a level and the number of the row."""
    draw = np.random.default_rng(0)
    kind = draw.choice(["cat", "dog"], rows)
    weight = draw.normal(size=rows) + np.where(kind == "dog", 20, 4)
    return pd.DataFrame(
        {"id": range(rows), "weight": weight, "coat": draw.choice(["long", "short"], rows), "kind": kind}
    )


def changed(frame: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    return frame.assign(**columns)


# Files


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,b\n1,x\n2,y\n", {"a": [1, 2], "b": ["x", "y"]}),
        ("a;b\n1,5;x\n2;y, z\n", {"a": [1.5, 2.0], "b": ["x", "y, z"]}),
        ("a\tb\n1\tx,y\n", {"a": [1], "b": ["x,y"]}),
        ("a\r\n1\r\n2\r\n", {"a": [1, 2]}),
        ("\ufeffa,b\n1,2", {"a": [1], "b": [2]}),
        ('"a, b"," c "\n"x\ny","say ""no"""\n', {"a, b": ["x\ny"], "c": ['say "no"']}),
        ("a\n007\n12\n", {"a": ["007", "12"]}),
        ("a\nTrue\nfalse\n", {"a": ["True", "false"]}),
        ("a\nNA\nFR\n", {"a": ["NA", "FR"]}),
        ("a\n2024-01-31\n", {"a": ["2024-01-31"]}),
        ("a\n1_000\n", {"a": ["1_000"]}),
        ("a\n١٢\n", {"a": ["١٢"]}),
        ("a\n1.50\nv2\n", {"a": ["1.50", "v2"]}),
        ("a\ninfinity\n", {"a": ["infinity"]}),
        ("a\n12345678901234567890\n", {"a": ["12345678901234567890"]}),
        ("a\n123456789012345678\n", {"a": [123456789012345678]}),
        (",a,\n1,2,\n3,4,\n", {"column 1": [1, 3], "a": [2, 4]}),
        ("\n\na,b\n\n1,2\n\n\n", {"a": [1], "b": [2]}),
        ("2019,2020\n1,2\n", {"2019": [1], "2020": [2]}),
        ("text\nthis; that\n", {"text": ["this; that"]}),
    ],
)
def test_fields_are_read_as_they_are_written(text: str, columns: dict[str, list[Any]]) -> None:
    assert columns_of(text) == columns


def test_blanks_are_missing_among_numbers_and_texts_among_texts() -> None:
    frame = table_of("a,b,c\n1,x,-\n?,NA,\nNA,,n/a\n 2 ,y,\n")
    np.testing.assert_array_equal(frame["a"], [1, np.nan, np.nan, 2])
    assert frame["b"].tolist() == ["x", "NA", None, "y"]
    assert frame["c"].isna().all()


def test_what_a_column_holds_may_show_far_down() -> None:
    rows = 25_000
    frame = table_of("a,b,c\n" + "1.50,2,\n" * rows + "x,2.5,y\n")
    assert frame["a"].tolist() == ["1.50"] * rows + ["x"]
    assert frame["b"].dtype == np.float64
    assert frame["c"].tolist() == [None] * rows + ["y"]


def test_levels_are_read_as_texts_where_all_are_numbers() -> None:
    trained = Table.fitted(table_of("version,size\n" + "1.50,1\n2.0,2\nnew,5\n" * 4))
    assert trained.level_names == {"version"}
    new = read_table(io.StringIO("size,version\n1,1.50\n1,2.0\n"), texts=trained.level_names)
    assert new["version"].tolist() == ["1.50", "2.0"]
    names = [trained.feature_names[place] for place in trained(new)[:, :3].argmax(1)]
    assert names == ["version=1.50", "version=2.0"]


def test_numbers_are_those_of_pandas() -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"a": draw.normal(size=5000) * 1e-7, "b": draw.integers(-(10**12), 10**12, 5000)})
    frame["c"] = np.where(draw.random(5000) < 0.5, frame["a"].round(9), np.nan)
    text = frame.to_csv(index=False)
    pd.testing.assert_frame_equal(table_of(text), pd.read_csv(io.StringIO(text)), check_exact=True)
    pd.testing.assert_frame_equal(table_of(text), frame, check_exact=True)


FIELDS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["", "NA", "?", "-", "007", "1e5", "+3", " 4", "\n", '"', ",", ";", "\t", "|", "true"]),
)


@given(st.data(), st.integers(1, 4), st.sampled_from(",;\t|"))
def test_nothing_that_is_written_is_lost(data: st.DataObject, width: int, delimiter: str) -> None:
    rows = data.draw(st.lists(st.lists(FIELDS, min_size=width, max_size=width), min_size=1, max_size=25))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([[f"c{number}" for number in range(width)], *rows])
    frame = table_of(text.getvalue())
    assert frame.shape == (len(rows), width)
    for place, written in enumerate(zip(*rows, strict=True)):
        column = frame.iloc[:, place]
        if column.dtype == object:
            assert column.tolist() == [field or None for field in written]
            continue
        for field, number in zip(written, column, strict=True):
            if np.isnan(number):
                assert field.strip().casefold() in BLANKS
            else:
                assert float(field.replace(",", "." if delimiter == ";" else ",")) == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "the input is empty"),
        (b"\n\n", "the input is empty"),
        (b"a,b\n", "holds the names of columns, and no line of values"),
        (
            b"a,b\n1,2\n\n1,2,3\n",
            "line 4 has 3 fields, and the line of names 2; a field with ',' in it stands in",
        ),
        (b'a,b\n"1\n2",3\n4\n', "line 4 has 1 field, and the line of names 2; .* was the file cut short"),
        (
            b"a,b\n1\n2,3\n",
            "line 2 has 1 field, and the line of names 2; each row has a field for every name",
        ),
        (b"a,b,a\n1,2,3\n", "2 columns are called 'a'"),
        (b"5.1,3.5,Iris\n4.9,3.0,Iris\n", r"line 1 holds values \(5.1\), not the names of columns"),
        (b'a,b\n1,"x"y\n', "line 2 is no row of fields: ',' expected after '\"'; a quote inside of quotes"),
        (b'a,b\n1,"x\n', "line 2 is no row of fields: unexpected end of data"),
        (b'a,b\n1,"x\n' + b"y,2\n" * 50_000, "line 2 .* more than 131,072 characters; is a quote not closed"),
        (b"a,b\r1,2\r", "lines end with a carriage return alone"),
        ("a,b\n1,é\n".encode("latin-1"), r"line 2 is not UTF-8 \(byte 3: 0xe9\); save the file as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "is text in UTF-16"),
        (b"PK\3\4 and more", "is no text but an archive or a workbook"),
        (b"a,b\n" + b"x" * (2**24 + 1), "line 2 is longer than 16,777,216 bytes"),
        (b"c," * 100_001 + b"c\n", "has 100,002 columns, and 100,000 are the most"),
    ],
)
def test_what_is_no_table_is_refused_by_line(text: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        table_of(text)


def test_files_are_named_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "wine.csv"
    with pytest.raises(DataError, match=f"there is no file {path}"):
        read_table(path)
    path.write_text("a,b\n1\n")
    with pytest.raises(DataError, match=f"{path}: line 2 has 1 field"):
        read_table(path)
    with path.open("wb") as file:
        file.truncate(2**40)  # of holes, so it takes no room
    with pytest.raises(DataError, match=f"{path} has more than 2 GiB"):
        read_table(path)
    with pytest.raises(DataError, match="not int"):
        read_table(5)  # type: ignore[arg-type]


def test_a_row_may_not_go_on_and_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "MOST_CHARACTERS", 1000)
    assert len(table_of('a,b\n"x\n",y\n' * 300)) == 599
    with pytest.raises(DataError, match="line 2 starts a row of more than 1,000 characters"):
        table_of("a,b\n" + '"x\n",' * 300)


def test_memory_of_a_table_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "MOST_MEMORY", 2**16)
    numbers = "a\n" + "1\n" * 2**13
    assert len(table_of(numbers)) == 2**13
    with pytest.raises(DataError, match="would take more than"):
        table_of("b," + numbers.replace("\n1", "\n2,1"))
    with pytest.raises(DataError, match="would take more than"):
        table_of("a\n" + "\n".join(f"x{number}" for number in range(1000)))
    monkeypatch.setattr(text_lines, "MOST_BYTES", 2**10)
    with pytest.raises(DataError, match="the input has more than"):
        table_of(numbers)


def test_bars_separate_fields_as_tabs_do() -> None:
    wanted = {"a": [1, 2], "b,c": ["2,5", "x|y"]}
    assert table_of('a|b,c\n1|2,5\n2|"x|y"\n').to_dict("list") == wanted
    # Bars in fields of a table with commas.
    assert table_of("a,tags\n1,x|y\n2,z\n").to_dict("list") == {"a": [1, 2], "tags": ["x|y", "z"]}


def test_tabs_of_files_and_streams(tmp_path: Path) -> None:
    path = tmp_path / "pets.TSV"
    path.write_text("a;b\tc\n1\t2,5\n")
    for frame in (
        read_table(path),
        table_of("a;b\tc\n1\t2,5\n", tabs=True),
        read_table(io.StringIO("a;b\tc\n1\t2,5")),
    ):
        assert frame.to_dict("list") == {"a;b": [1], "c": ["2,5"]}


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"needs the package pyarrow.* save the table as \.csv"):
        read_table(tmp_path / "wine.parquet")


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "pets.parquet"
    frame = changed(pets(), day=pd.Timestamp("2024-01-31"), grown=[True, None] * 30, coat=None)
    frame.assign(kind=frame.kind.astype("category")).to_parquet(path)
    read = read_table(path)
    assert read.to_dict("list") == frame.astype({"grown": object}).to_dict("list")
    assert dataset(read, "kind").classes == ("cat", "dog")
    monkeypatch.setattr(parquet_file, "MOST_MEMORY", 1000)
    with pytest.raises(DataError, match="holds 60 rows of 6 columns, which take more than"):
        read_table(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"pets\.parquet cannot be read as a parquet file"):
        read_table(path)


# The column of classes


@pytest.mark.parametrize(
    ("columns", "target"),
    [
        ({"target": ["a", "b"], "width": [1.5, 2]}, "target"),
        ({"width": [1.5, 2], "Class ": ["a", "b"], "name": ["x", "y"]}, "Class"),
        ({"y": [1.5, 2.5], "label": [0, 1]}, "label"),
        ({"y": [0, 1], "label": [0.5, 1]}, "y"),
        ({"class": ["a"], "target": ["a"]}, "target"),
        ({"width": [1.5] * 4, "kind": ["a", "b", "a", "b"]}, "kind"),
        ({"width": [1.5] * 4, "quality": [5, 6, 5, 6]}, "quality"),
        ({"width": [1.5] * 4, "good": [True, False, True, False]}, "good"),
        ({"kind": ["a", "b", "a", "b"], "width": [1.5, 2, 3, 4]}, None),
        ({"width": [1.5] * 50, "age": [*range(25)] * 2}, None),
        ({"width": [1.5] * 4, "name": ["a", "b", "c", "d"]}, None),
        ({"width": [1.5] * 4, "name": ["a", "a", "a", "a"]}, None),
        ({"width": [1.5] * 4, "text": ["this is one text", "this is another"] * 2}, "text"),
        ({"width": [1.5] * 3, "text": ["this is one text", "this is another", "and one more"]}, None),
    ],
)
def test_the_column_of_classes_is_found(columns: dict[str, list[Any]], target: str | None) -> None:
    frame = pd.DataFrame(columns)
    if target is not None:
        assert target_column(frame) == target
        return
    with pytest.raises(DataError, match=f"which column holds the classes.* target=.*{'.*'.join(columns)}"):
        target_column(frame)


def test_a_column_that_is_asked_for_must_be_there() -> None:
    assert target_column(pets(), " coat") == "coat"
    with pytest.raises(SpecError, match="unknown column 'Kind'; did you mean 'kind'"):
        target_column(pets(), "Kind")
    with pytest.raises(DataError, match="which column holds the classes"):
        target_column(pd.DataFrame())


# Data sets


def test_a_table_becomes_a_data_set() -> None:
    data = dataset(pets())
    assert data.classes == ("cat", "dog")
    assert [len(split) for split in data.splits.values()] == [38, 10, 12]
    assert isinstance(data.preparation, Table)
    assert data.preparation.feature_names == ("weight", "coat=long", "coat=short")
    assert data.notes == (
        "the classes are those in column 'kind'; target= names another",
        "columns that are not used: id (it only numbers the rows)",
    )
    assert [(column.name, column.kind, column.missing) for column in data.columns][1:] == [
        ("weight", "number", 0),
        ("coat", "levels", 0),
    ]
    np.testing.assert_allclose(data.train.x[:, 0].mean(), 0, atol=1e-6)
    np.testing.assert_allclose(data.train.x[:, 0].std(correction=0), 1, atol=1e-6)
    # Weights tell cats from dogs, so features and labels of each row belong together.
    for split in data.splits.values():
        assert torch.equal((split.x[:, 0] > 0).long(), split.y)


def test_splits_are_by_seed_and_shares() -> None:
    first, again, other = (dataset(pets(), seed=seed) for seed in (0, 0, 1))
    assert first.fingerprint == again.fingerprint != other.fingerprint
    halves = dataset(pets(), split=(0.5, 0.5, 0))
    assert len(halves.train) == 30
    assert halves.test is halves.val
    assert any("no samples are held back" in note for note in halves.notes)


def test_a_column_may_say_the_splits() -> None:
    where = np.repeat(["train", "Validation", "test"], [40, 8, 12])
    frame = pets().assign(split=where, when=where)
    for data in (
        dataset(frame.drop(columns="when"), "kind"),
        dataset(frame.drop(columns="split"), "kind", split="when"),
    ):
        assert [len(split) for split in data.splits.values()] == [40, 8, 12]
        assert isinstance(data.preparation, Table)
        assert data.preparation == Table.fitted(pets().drop(columns="kind"), np.arange(40))
        assert data.test.y.tolist() == [("cat", "dog").index(kind) for kind in frame.kind[48:]]
    assert (
        "the splits are those in column 'split'; split= takes shares instead" in dataset(frame, "kind").notes
    )
    assert len(dataset(frame, "kind", split=(8, 1, 1)).train) == 48
    without_val = dataset(pets().assign(split=np.where(where == "test", "test", "train")))
    assert [len(split) for split in without_val.splits.values()] == [38, 10, 12]
    # A column of other values is one of levels.
    kept = dataset(pets().assign(split=["left", "right"] * 30), "kind")
    assert isinstance(kept.preparation, Table)
    assert "split=left" in kept.preparation.feature_names


@pytest.mark.parametrize(
    ("frame", "options", "error", "message"),
    [
        (pets(0), {}, DataError, "table: the table has no rows"),
        (pets()[["kind"]], {}, DataError, "there is no column beside 'kind'"),
        (
            changed(pets(), kind=None),
            {"target": "kind"},
            DataError,
            "column 'kind': none of 60 rows has a class",
        ),
        (pets(), {"target": "weight"}, DataError, "column 'weight': labels such as .* are measured values"),
        (pets(), {"split": "fold"}, SpecError, "unknown column 'fold'"),
        (pets(), {"split": "kind"}, DataError, "which is no split"),
        (
            pets(),
            {"split": "coat"},
            DataError,
            "row 1: column 'coat' holds .* which is no split; splits are 'train'",
        ),
        (
            changed(pets(), s=[*["train"] * 59, None]),
            {"split": "s", "target": "kind"},
            DataError,
            "row 60: column 's'",
        ),
        (
            pets().assign(s="test"),
            {"split": "s", "target": "kind"},
            DataError,
            "no samples are of the training split",
        ),
        (pets(), {"split": (0, 1, 1)}, SpecError, "split is the shares"),
        (pets()[["id", "kind"]], {}, DataError, r"no column can be used: id \(it only numbers the rows\)"),
        (
            changed(pets(), odd=[[1]] * 60),
            {"target": "kind"},
            DataError,
            "row 1: column 'odd' holds a value of type list",
        ),
        (
            pets().drop(columns="kind"),
            {"target": pets()["kind"]},
            SpecError,
            r"the name of a column, not the classes themselves \(a Series\); put them into the table: .*assign",
        ),
        (pets(), {"target": ["cat"] * 60}, SpecError, r"not the classes themselves \(a list\)"),
    ],
)
def test_what_cannot_be_a_data_set_is_refused(
    frame: pd.DataFrame, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        frame_content(frame, **options)


def test_rows_without_a_class_are_left_out_and_counted() -> None:
    frame = pets()
    frame.loc[[3, 7], "kind"] = [None, "  "]
    data = dataset(frame)
    assert sum(len(split) for split in data.splits.values()) == 58
    assert "2 of 60 rows have no class and are left out" in data.notes
    # Counting goes on as in the file, and so do the numbers of rows.
    assert isinstance(data.preparation, Table)
    assert data.preparation.columns[0].kind == "unused"
    frame["weight"] = frame["weight"].astype(object)
    frame.loc[59, "weight"] = "heavy"
    with pytest.raises(DataError, match="row 60: column 'weight' holds 'heavy'"):
        dataset(frame, like=data)


def test_labels_of_all_kinds_name_classes() -> None:
    for values, classes in (
        (["007", "07"], ("007", "07")),
        (["NA", "DE"], ("DE", "NA")),
        ([True, False], ("False", "True")),
        ([10, 2], ("2", "10")),
        ([1.0, np.nan], ("1",)),
        (pd.Categorical(["b", "a"]), ("a", "b")),
    ):
        frame = pd.DataFrame(
            {"class": pd.Series(values).repeat(20).to_numpy(), "width": np.linspace(0.5, 9, 40)}
        )
        assert dataset(frame).classes == classes
    assert dataset(table_of("width,class\n" + "1.5,007\n2,NA\n" * 9)).classes == ("007", "NA")
    spelled = dataset(pets().assign(kind=["cat", "Cat", "dog"] * 20))
    assert (
        "classes that differ only in spelling are taken for different ones: 'Cat' and 'cat'" in spelled.notes
    )


def test_new_rows_are_prepared_as_the_old_ones() -> None:
    data = dataset(pets())
    new = pets(20).iloc[10:].assign(more="x").drop(columns="id")
    again = dataset(new, "kind", like=data, split=(1, 0, 0))
    assert again.preparation == data.preparation
    assert again.classes == data.classes
    assert data.preparation is not None
    assert torch.equal(again.train.x.sort(0).values, data.preparation(new).sort(0).values)
    only_dogs = dataset(new[new.kind == "dog"].drop(columns="more"), like=data)
    assert only_dogs.classes == ("cat", "dog")
    assert set(only_dogs.train.y.tolist()) == {1}
    with pytest.raises(DataError, match="column 'kind': labels 'emu' are not in the class list"):
        dataset(new.assign(kind="emu"), "kind", like=data)
    with pytest.raises(DataError, match="the table has no column 'weight'"):
        dataset(new.drop(columns="weight"), "kind", like=data)
    with pytest.raises(DataError, match="loaded by name"):
        dataset(new, "kind", like=SimpleNamespace(preparation=None, classes=("cat", "dog")))


def test_a_table_may_be_for_a_part_of_arrays_with_names() -> None:
    frame = pets()
    numbers = Numbers.fitted(frame[["weight"]].to_numpy(), names=("weight",))
    like = SimpleNamespace(preparation=numbers, classes=("cat", "dog"))
    data = dataset(frame, like=like, split=(1, 0, 0))
    np.testing.assert_allclose(data.train.x.mean(), 0, atol=1e-6)
    with pytest.raises(DataError, match="there are no columns 'weight'; there are 'id'"):
        dataset(frame.drop(columns="weight"), "kind", like=like)
    pictures = SimpleNamespace(preparation=Pictures(size=(8, 8), channels=1), classes=("cat", "dog"))
    with pytest.raises(DataError, match="this is a table, and it takes something else: grey pictures"):
        dataset(frame, like=pictures)


def talk(rows: int = 40) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    words = {"volume": ["louder", "quieter", "sound"], "light": ["lamp", "dark", "bright"]}
    intents = draw.choice(list(words), rows)
    texts = [
        f"please make it {draw.choice(words[intent])} number {row}" for row, intent in enumerate(intents)
    ]
    return pd.DataFrame({"id": range(rows), "said": texts, "intent": intents})


def test_a_table_of_sentences_is_one_of_texts() -> None:
    data = dataset(talk())
    assert isinstance(data.preparation, Words)
    assert "lamp" in data.preparation.words
    assert "columns beside the texts that are not used: 'id'" in data.notes
    assert dataset(talk().drop(columns="id")).fingerprint == data.fingerprint
    again = dataset(talk()[["said", "intent"]], like=data)
    assert again.preparation == data.preparation
    with pytest.raises(DataError, match="texts are wanted, and columns of texts are 'more', 'said'"):
        dataset(talk().assign(more="x")[["more", "said", "intent"]], "intent", like=data)
    official = dataset(talk().assign(split=["train", "train", "dev", "test"] * 10))
    assert [len(split) for split in official.splits.values()] == [20, 10, 10]


def test_sentences_beside_other_columns_are_left_out() -> None:
    data = dataset(talk().assign(size=np.linspace(0, 1, 40)))
    assert isinstance(data.preparation, Table)
    assert data.preparation.feature_names == ("size",)
    assert any("said (texts are read only where they are the only column" in note for note in data.notes)


def test_features_serve_a_logistic_regression_as_those_of_scikit_learn() -> None:
    from sklearn.datasets import load_wine
    from sklearn.linear_model import LogisticRegression

    wine = load_wine(as_frame=True)
    frame = wine.frame.assign(target=np.array(wine.target_names)[wine.target])
    data = dataset(table_of(frame.to_csv(index=False)))
    assert data.classes == ("class_0", "class_1", "class_2")
    model = LogisticRegression().fit(data.train.x, data.train.y)
    assert model.score(data.test.x, data.test.y) >= 0.94
