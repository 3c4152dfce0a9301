"""CLINC150 from a small file in the official form."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dovetail as dt
from dovetail.data.preparation.texts import texts_of
from dovetail.errors import DataError

load = partial(dt.load, shortened=True)

CONTENT: dict[str, Any] = {
    "oos_val": [["how tall is a hill", "oos"]],
    "val": [["louder please", "volume"], ["hi", "greeting"]],
    "train": [["turn it up", "volume"], ["good night", "greeting"], ["grüß dich", "greeting"]],
    "oos_test": [["who won", "oos"], ["why is it dark", "oos"]],
    "test": [["quieter", "volume"]],
    "oos_train": [["what is a quark", "oos"]],
}


def write(root: Path, content: object) -> Path:
    """Write a file into a data folder, and return the folder."""
    (root / "clinc150").mkdir()
    (root / "clinc150" / "data_full.json").write_text(json.dumps(content), "utf-8")
    return root


def test_sentences_keep_their_splits_and_intents(tmp_path: Path) -> None:
    data = load("clinc150", write(tmp_path, CONTENT))
    assert data.classes == ("greeting", "volume")
    for name, split in data.splits.items():
        found = [
            [text, data.classes[number]]
            for text, number in zip(texts_of(split.x), split.y.tolist(), strict=True)
        ]
        assert found == CONTENT[name]
    assert data.preparation is not None
    assert data.preparation(["quieter"]).equal(data.test.x)


@pytest.mark.parametrize(("oos", "trained"), [("unknown", 0), ("class", 1)])
def test_what_is_out_of_scope_is_a_class_of_its_own(tmp_path: Path, oos: str, trained: int) -> None:
    data = load("clinc150", write(tmp_path, CONTENT), oos=oos)
    assert data.classes == ("greeting", "volume", "out of scope")
    counts = {name: split.y.bincount(minlength=3).tolist()[2] for name, split in data.splits.items()}
    assert counts == {"train": trained, "val": 1, "test": 2}
    assert texts_of(data.test.x) == ["quieter", "who won", "why is it dark"]


def test_only_a_trunk_reads_them(tmp_path: Path) -> None:
    data = load("clinc150", write(tmp_path, CONTENT))
    with pytest.raises(DataError, match="only a trunk reads"):
        dt.train_specialists(data, "mlp:4")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"oos_test": None}, "does not hold the lists"),
        ({"val": [["hi"]]}, "item 1 of 'val'"),
        ({"val": [["hi", 3]]}, "item 1 of 'val'"),
        ({"val": [["hi", "\x1b[2J"]]}, "item 1 of 'val'"),
        ({"test": [["sing", "music"]]}, "'music' in 'test', an intent without training sentences"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load("clinc150", write(tmp_path, CONTENT | changes))


def test_a_file_of_another_size_is_refused_unless_asked_for(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="3 sentences in 'train', but the official file 15,000"):
        dt.load("clinc150", write(tmp_path, CONTENT))


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [])
    with pytest.raises(DataError, match="does not hold the lists"):
        load("clinc150", tmp_path)
    (tmp_path / "clinc150" / "data_full.json").write_bytes(b'{"train": "\xff"}')
    with pytest.raises(DataError, match="is no JSON"):
        load("clinc150", tmp_path)
