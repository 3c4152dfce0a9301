"""Reading data of one's own: by what a file or folder holds."""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

import dovetail as dt
from dovetail.data.own.kinds import kind_by_ending, kind_of
from dovetail.data.preparation import Numbers, Table, Words
from dovetail.errors import DataError, DovetailError, SpecError
from dovetail.nets import NetSpec
from dovetail.specialists import Blueprint

WINE = load_wine(as_frame=True).frame.assign(
    kind=lambda frame: np.array(["red", "white", "rosé"])[frame.target]
)
WINE = WINE.drop(columns="target")
SAYINGS = [
    {
        "text": f"{'turn the light on' if row % 2 else 'what is the weather'} in room {row}",
        "intent": "ab"[row % 2],
    }
    for row in range(40)
]


@pytest.fixture
def wine(tmp_path: Path) -> Path:
    WINE.to_csv(tmp_path / "wine.csv", index=False)
    return tmp_path / "wine.csv"


def test_a_table_is_what_from_frame_makes_of_it(wine: Path, tmp_path: Path) -> None:
    data = dt.read(wine)
    assert isinstance(data.preparation, Table)
    assert (data.name, data.classes) == ("wine", ("red", "rosé", "white"))
    assert data.options == {"file": "wine.csv", "seed": 0}
    assert data.fingerprint == dt.Dataset.from_frame(pd.read_csv(wine), "kind").fingerprint
    WINE.to_csv(tmp_path / "wine.TSV", sep="\t", index=False)
    assert dt.read(str(tmp_path / "wine.TSV"), "kind").fingerprint == data.fingerprint


def test_parquet_is_a_table_too(wine: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    WINE.to_parquet(tmp_path / "wine.parquet")
    assert dt.read(tmp_path / "wine.parquet").fingerprint == dt.read(wine).fingerprint


def test_what_was_asked_for_is_done_and_kept(wine: Path) -> None:
    data = dt.read(wine, "kind", (8, 1, 1), seed=4, name="my wine")
    assert [len(split) for split in data.splits.values()] == [142, 18, 18]
    assert data.name == "my wine"
    assert data.options == {"file": "wine.csv", "target": "kind", "split": (8, 1, 1), "seed": 4}
    assert data.fingerprint != dt.read(wine, "kind", (8, 1, 1), seed=5).fingerprint


def test_a_column_may_say_the_split(wine: Path) -> None:
    WINE.assign(fold=np.where(np.arange(178) % 5, "train", "test")).to_csv(wine, index=False)
    data = dt.read(wine, "kind", "fold")
    assert len(data.test) == 36
    assert "fold" not in [column.name for column in data.columns]


def test_texts_in_lines_and_in_tables(tmp_path: Path) -> None:
    (tmp_path / "say.jsonl").write_text("\n".join(map(json.dumps, SAYINGS)))
    pd.DataFrame(SAYINGS).to_csv(tmp_path / "say.csv", index=False)
    (tmp_path / "say.json").write_text(json.dumps(SAYINGS))
    found = [dt.read(tmp_path / name) for name in ("say.jsonl", "say.csv", "say.json")]
    assert all(isinstance(data.preparation, Words) for data in found)
    assert len({data.fingerprint for data in found}) == 1
    assert found[0].classes == ("a", "b")


def test_texts_without_labels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "say.txt").write_text("turn the light on\nwhat is the weather\n")
    with pytest.raises(DataError, match=r"say\.txt holds texts without labels; write a line for each"):
        dt.read(tmp_path / "say.txt")


@pytest.mark.parametrize("delimiter", ["|", ";", "\t"])
def test_a_text_file_that_is_a_table(wine: Path, tmp_path: Path, delimiter: str) -> None:
    WINE.to_csv(tmp_path / "wine.txt", index=False, sep=delimiter)
    assert dt.read(tmp_path / "wine.txt", "kind").fingerprint == dt.read(wine, "kind").fingerprint


def test_sentences_with_commas_are_no_table(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Well, yes\nNo, not now\n")
    with pytest.raises(DataError, match="holds texts without labels"):
        dt.read(tmp_path / "a.txt")


def test_what_other_ways_of_naming_data_are_called_in_python(
    wine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    for text, call in (
        ("wine.csv:target=kind", "dovetail.read('wine.csv', target='kind')"),
        ("wine.csv:split=8/1/1,seed=3", "dovetail.read('wine.csv', split=(8.0, 1.0, 1.0), seed=3)"),
        ("wine.csv:target=", "dovetail.read('wine.csv', target=...)"),
        ("photos:size=24x32", "dovetail.read('photos', size=(24, 32))"),
    ):
        with pytest.raises(DataError, match="options after a colon are for the command line") as raised:
            dt.read(text)
        assert str(raised.value).endswith(call)
        with pytest.raises(SpecError, match="load takes names, and this is a file or folder") as unknown:
            dt.load(text)
        assert str(unknown.value).endswith(call)
    for path in ("wine.csv", Path("wine.csv"), "./wine.csv"):
        with pytest.raises(SpecError, match=r"write dovetail.read\('(\./)?wine.csv', target=\.\.\.\)$"):
            dt.load(path)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"data set of that name is dovetail.load\('digits'\)"):
        dt.read("digits")
    (tmp_path / "digits").mkdir()
    with pytest.raises(DataError, match="not one of pictures"):
        dt.read("digits")  # what is there comes first
    with pytest.raises(SpecError, match="has no sizes"):
        dt.load("digits:5")
    with pytest.raises(SpecError, match=r"unknown data set 'nowhere.csv'"):
        dt.load("nowhere.csv:" + ":" * 900)


def test_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=WINE.to_numpy()[:, :-1].astype(float), y=WINE.kind.to_numpy(dtype="U5"))
    data = dt.read(tmp_path / "a.npz")
    assert isinstance(data.preparation, Numbers)
    assert data.classes == ("red", "rosé", "white")


def test_new_samples_are_prepared_as_others_were(wine: Path, tmp_path: Path) -> None:
    data = dt.read(wine)
    part = WINE[WINE.kind != "red"].iloc[::-1]
    part[part.columns[::-1]].to_csv(tmp_path / "new.csv", index=False)
    new = dt.read(tmp_path / "new.csv", "kind", like=data)
    assert (new.classes, new.preparation) == (data.classes, data.preparation)
    assert set(new.train.y.tolist()) == {1, 2}
    assert data.preparation is not None
    wanted = data.preparation(part.drop(columns="kind"))
    found = np.concatenate([split.x.numpy() for split in new.splits.values()])
    np.testing.assert_allclose(np.sort(found, 0), np.sort(wanted.numpy(), 0))
    again = dt.read(wine, like=data)
    assert again.fingerprint == data.fingerprint  # the same file is split the same way
    with pytest.raises(DataError, match="loaded by name"):
        dt.read(wine, like=dt.load("digits"))


def test_what_parts_are_made_by_is_enough_to_read_for_them(wine: Path) -> None:
    data = dt.read(wine)
    plan = Blueprint(NetSpec.parse("mlp:8"), data.input_shape, data.classes, 5.0, data.preparation)
    assert dt.read(wine, like=plan).fingerprint == data.fingerprint


def test_paths_of_the_user_and_names_that_are_no_utf8(
    wine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert dt.read("~/wine.csv").name == "wine"
    odd = os.fsencode(tmp_path) + b"/caf\xe9.csv"
    try:
        os.link(wine, odd)
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    data = dt.read(os.fsdecode(odd))
    assert (data.name, data.options["file"]) == ("caf�", "caf�.csv")


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("nope.csv", {}, DataError, r"there is no file or folder .*nope\.csv; check the path"),
        ("a\0b.csv", {}, DataError, "cannot look at"),
        ("x" * 300 + ".csv", {}, DataError, "File name too long"),
        (
            "wine.xlsx",
            {},
            DataError,
            r"wine\.xlsx is of a kind that is not read \(\.xlsx\): save the sheet as \.csv",
        ),
        ("wine.pkl", {}, DataError, "never opened, because they can run code"),
        ("wine.tar.gz", {}, DataError, "unpack it first"),
        ("wine", {}, DataError, r"\(no ending\): files are told by their ending: \.csv, "),
        ("empty.csv", {}, DataError, r"empty\.csv"),
        ("folder.csv", {}, DataError, r"folder\.csv is a folder, but not one of pictures: it holds nothing"),
        ("pipe.csv", {}, DataError, "a pipe, a socket or a device; write what comes from it into a file"),
        ("socket.csv", {}, DataError, "a pipe, a socket or a device"),
        ("one.png", {}, DataError, r"one\.png is one picture; name the folder"),
        ("wine.csv", {"target": "knd"}, SpecError, "unknown column 'knd'; did you mean 'kind'"),
        ("wine.csv", {"size": 8}, SpecError, "size= is for pictures"),
        ("wine.csv", {"split": (1, 2)}, SpecError, "split is the shares"),
        ("wine.csv", {"split": "fold"}, SpecError, "'fold'"),
        ("folder.csv", {"target": "kind"}, SpecError, "is a folder, whose folders are the classes"),
        ("a.npz", {"split": "fold"}, SpecError, "split='fold' names the column of a table"),
    ],
)
def test_what_cannot_be_read_is_refused(
    wine: Path, tmp_path: Path, name: str, options: dict[str, Any], error: type[DovetailError], message: str
) -> None:
    for file in ("wine.xlsx", "wine.pkl", "wine.tar.gz", "wine", "empty.csv", "one.png", "a.npz"):
        (tmp_path / file).touch()
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    if name == "socket.csv":
        try:
            socket.socket(socket.AF_UNIX).bind(str(tmp_path / "socket.csv"))
        except OSError:
            pytest.skip("the path is too long for a socket")
    with pytest.raises(error, match=message):
        dt.read(tmp_path / name, **options)


@pytest.mark.parametrize("path", ["", ".", Path()])
def test_nothing_is_no_path(path: str | Path) -> None:
    with pytest.raises(DataError, match="no file or folder was named"):
        dt.read(path)


def test_a_folder_that_cannot_be_written_to_is_read(wine: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert len(dt.read(wine).train) == 114
    finally:
        tmp_path.chmod(0o700)


def test_kinds_are_told_by_endings_in_any_letters(tmp_path: Path) -> None:
    assert [kind_by_ending(name) for name in ("a.JPG", "b.Zip", "c.d.npy", "csv", ".csv")] == [
        "picture", "archive", "arrays", None, None,
    ]  # fmt: skip
    assert kind_of(tmp_path) == "folder"


def files_to_damage() -> dict[str, bytes]:
    """Return small files of all kinds."""
    x, y = np.arange(40.0).reshape(20, 2) % 7, np.arange(20) % 2
    files: dict[str, bytes] = {
        "t.csv": pd.DataFrame(x).assign(kind=list("ab") * 10).to_csv(index=False).encode()
    }
    files["s.jsonl"] = "\n".join(json.dumps(one) for one in SAYINGS).encode()
    for name, save in (("a.npz", np.savez), ("b.npz", np.savez_compressed), ("c.npy", np.save)):
        buffer = io.BytesIO()
        arguments: dict[str, Any] = {"arr": x} if save is np.save else {"x": x, "y": y}
        save(buffer, **arguments)
        files[name] = buffer.getvalue()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("in/t.csv", files["t.csv"])
    return files | {"z.zip": buffer.getvalue()}


FILES = files_to_damage()
DAMAGE = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.binary(max_size=6), st.integers(0, 9)), max_size=5
)


@settings(max_examples=150)
@given(st.sampled_from(sorted(FILES)), DAMAGE)
def test_damaged_files_are_read_or_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, name: str, damage: list[tuple[float, bytes, int]]
) -> None:
    content = FILES[name]
    for place, new, removed in damage:
        at = int(place * len(content))
        content = content[:at] + new + content[at + removed :]
    folder = tmp_path_factory.getbasetemp()
    np.save(folder / "c_labels.npy", np.arange(20) % 2)
    (folder / name).write_bytes(content)
    with contextlib.suppress(DovetailError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas' about dates of other forms
        data = dt.read(folder / name)
        assert all(len(split) for split in data.splits.values())
