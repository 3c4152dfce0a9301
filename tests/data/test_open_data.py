"""DATA of the command line: known names, paths with options, functions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import dovetail as dt
from dovetail.data import open_data
from dovetail.data.open_data import is_known
from dovetail.data.preparation import Numbers, Table, Words
from dovetail.errors import DataError, DovetailError, SpecError

MODULE = """
import numpy as np, pandas as pd
import dovetail as dt

X, Y = np.random.default_rng(0).normal(size=(60, 3)), ["a", "b", "c"] * 20

def pair(): print("noise"); return X, Y
def data(): return dt.load("digits")
def frame(): return pd.DataFrame(X, columns=["u", "v", "class"]).assign(colour=["red", "blue"] * 30), Y
def texts(): return [f"it goes on {row}" for row in range(60)], Y
def three(): return 1, 2, 3
def boom(): raise ValueError("no luck")
ready = dt.Dataset.from_arrays(X, Y)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to be in, with a table, an odd name, and a module."""
    monkeypatch.chdir(tmp_path)
    rows = {"width": np.arange(60) % 7, "kind": ["a", "b", "c"] * 20, "fold": ["train", "train", "test"] * 20}
    frame = pd.DataFrame(rows)
    frame.to_csv("wine.csv", index=False)
    frame.to_csv("odd:name=1.csv", index=False)
    frame.to_csv("digits", index=False)
    Path("mymodule.py").write_text(MODULE)
    yield tmp_path
    sys.modules.pop("mymodule", None)


def test_known_names_come_before_files() -> None:
    assert open_data("digits").fingerprint == dt.load("digits").fingerprint
    assert open_data("lines:train_samples=40,test_samples=10").options["train_samples"] == 40
    with pytest.raises(DataError, match="digits is of a kind that is not read"):
        open_data("./digits")
    with pytest.raises(SpecError, match="digits takes no options"):
        open_data("digits:size=3")


def test_paths_may_have_options_after_a_colon() -> None:
    assert open_data("wine.csv:target=kind").classes == ("a", "b", "c")
    data = open_data("wine.csv: target=kind, split=fold, name=my wine")
    assert (data.name, len(data.test)) == ("my wine", 20)
    data = open_data("./wine.csv:target=kind,split=8/1/1,seed=3")
    assert [len(split) for split in data.splits.values()] == [48, 6, 6]
    assert data.options == {"file": "wine.csv", "target": "kind", "split": (8.0, 1.0, 1.0), "seed": 3}


def test_names_of_files_may_have_colons_themselves() -> None:
    assert open_data("odd:name=1.csv:target=kind,split=1/1/1").classes == ("a", "b", "c")


def test_sizes_of_pictures(here: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for number in range(6):
        path = here / "photos" / "ab"[number % 2] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        image.new("L", (20, 10)).save(path)
    assert open_data("photos:size=8").input_shape == (1, 8, 8)
    assert open_data("photos/:size=8x12").input_shape == (1, 8, 12)
    assert open_data("photos").input_shape == (1, 10, 20)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("pair", Numbers), ("frame", Table), ("texts", Words), ("ready", Numbers), ("data", None)],
)
def test_functions_return_data_or_samples_with_labels(name: str, kind: type[Any] | None) -> None:
    data = open_data(f"mymodule:{name}")
    assert data.preparation is None if kind is None else isinstance(data.preparation, kind)
    if name != "data":
        assert data.classes == ("a", "b", "c")
    if name in ("pair", "frame", "texts"):
        assert (data.name, data.options) == (name, {"function": f"mymodule:{name}"})


def test_what_functions_return_is_prepared_as_other_data_was() -> None:
    for name in ("pair", "frame", "texts"):
        data = open_data(f"mymodule:{name}")
        again = open_data(f"mymodule:{name}", like=data)
        assert again.preparation is data.preparation
        assert torch.equal(again.test.x, data.test.x)
    with pytest.raises(DataError, match="loaded by name"):
        open_data("mymodule:pair", like=dt.load("digits"))


KNOWN = "Known data sets: cifar10, clinc150, digit-xor, digits"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "digitz",
            SpecError,
            "unknown data set 'digitz'; did you mean 'digits'.* there is no file or folder 'digitz'",
        ),
        (
            "-",
            DataError,
            "standard input is read only by dovetail predict; write what comes from it into a file",
        ),
        (
            "mymodule.py",
            DataError,
            "name the function in it that returns samples and labels: module:function",
        ),
        ("wine", SpecError, r"unknown data set 'wine'; .* no file or folder 'wine'; did you mean 'wine.csv'"),
        ("wnie.csv", DataError, f"no file or folder 'wnie.csv'; did you mean 'wine.csv'\\? {KNOWN}"),
        (
            "wnie.csv:target=kind",
            DataError,
            f"no file or folder 'wnie.csv'; did you mean 'wine.csv'\\? {KNOWN}",
        ),
        ("some/where/x.csv", DataError, f"no file or folder 'some/where/x.csv'. {KNOWN}"),
        ("../photos/", DataError, "no file or folder '../photos/'"),
        ("", SpecError, "unknown data set ''"),
        (" ", SpecError, "unknown data set"),
        ("a:b:c", SpecError, "unknown data set 'a'"),
        ("x" * 5000, SpecError, "at most 1000 characters"),
        ("x" * 5000 + ".csv", DataError, "there is no file or folder"),
        ("a\0b", SpecError, "unknown data set"),
        ("wine.csv:target", SpecError, "'target' after wine.csv is no option, written name=value"),
        (
            "wine.csv:kind",
            SpecError,
            "'kind' after wine.csv is no option, written name=value, such as target=kind;",
        ),
        ("wine.csv:target=", SpecError, "is no option, .* such as target=quality"),
        ("wine.csv:target=a,b", SpecError, "'b' after wine.csv is no option, .*comma in their name"),
        ("wine.csv:traget=kind", SpecError, "unknown option of wine.csv 'traget'; did you mean 'target'"),
        ("wine.csv:target=kind,target=kind", SpecError, "option 'target' of wine.csv is given twice"),
        ("wine.csv:seed=-1", SpecError, "seed is a whole number, 0 or more; got '-1'"),
        (
            "wine.csv:size=8x",
            SpecError,
            "size is a number of pixels, or height x width, such as 24x32; got '8x'",
        ),
        ("wine.csv:target=kind,split=1/2", SpecError, "unknown column '1/2'"),
        ("mymodule.py:pair", SpecError, "names a file; a function is named by its module: mymodule:pair"),
        ("mymodule:pairs", SpecError, "'pairs'; did you mean 'pair'"),
        ("nomodule:pair", SpecError, "there is no module 'nomodule'.* and no file 'nomodule:pair'"),
        (
            "mymodule:three",
            DataError,
            "mymodule:three gives a tuple; a dovetail.Dataset is needed, or a pair",
        ),
        (
            "mymodule:boom",
            DovetailError,
            "calling 'mymodule:boom' without arguments failed: ValueError: no luck",
        ),
    ],
)
def test_what_names_nothing_is_refused_with_the_way_out(
    text: str, error: type[DovetailError], message: str
) -> None:
    with pytest.raises(error, match=message):
        open_data(text)


def test_known_names() -> None:
    assert is_known("digits")
    assert is_known("har:features=time")
    assert not is_known("./digits")
    assert not is_known("wine.csv:target=digits")
