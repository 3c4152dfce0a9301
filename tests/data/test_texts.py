"""Texts: files of them, their words as features, and what becomes of them as a data set."""

from __future__ import annotations

import io
import json
import os
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
from dovetail.data.own import json_text, text_items
from dovetail.data.own.texts import read_texts, texts_content
from dovetail.data.preparation import Numbers, Words, read_preparation, words
from dovetail.errors import DataError, FileFormatError, SpecError

CLINC = Path(os.environ.get("DOVETAIL_DATA", "../shared/data")) / "clinc150" / "data_full.json"

COMMANDS = ["turn it up", "louder please", "turn the light on", "light off", "good night"]
INTENTS = ["volume", "volume", "light", "light", "greeting"]


def dataset(sentences: Any, labels: Any, **options: Any) -> Dataset:
    return Dataset.from_content("talk", texts_content(sentences, labels, name="talk", **options))


# Words


def test_features_are_those_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    draw = np.random.default_rng(0)
    known = [f"w{number}" for number in range(60)] + ["Straße", "naïve", "x", "2024"]
    train = [" ".join(draw.choice(known, draw.integers(1, 12))) for _ in range(200)]
    prepared = Words.fitted(train, draw.integers(0, 4, 200), most=90)
    theirs = TfidfVectorizer(
        vocabulary=prepared.words,
        ngram_range=(1, 2),
        token_pattern=r"\w+",
        lowercase=False,
        preprocessor=str.casefold,
        dtype=np.float64,
    ).fit(train)
    new = [*train, "STRASSE naïve, w1 w2!", "nothing known", ""]
    features = prepared(new)
    assert features.dtype == torch.float32
    np.testing.assert_allclose(features, theirs.transform(new).toarray(), atol=1e-6)
    np.testing.assert_allclose(prepared.weights, theirs.idf_, rtol=1e-12)
    assert features[-2:].abs().sum() == 0


def test_words_are_the_most_frequent_and_pairs_the_most_telling() -> None:
    train = ["turn on light", "turn on lamp", "turn off light", "turn off lamp", "rare"]
    # "turn on" and "turn off" tell the classes, "turn" does not; of pairs, those of one text do not count.
    prepared = Words.fitted(train, np.array([0, 0, 1, 1, 0]), most=8)
    assert prepared.words == ("turn", "lamp", "light", "off", "on", "rare", "turn off", "turn on")
    assert prepared.counts == (4, 2, 2, 2, 2, 1, 2, 2)
    assert prepared.texts == 5
    few = Words.fitted(train, np.array([0, 0, 1, 1, 0]), most=5)
    assert few.words == ("turn", "lamp", "light", "off", "turn off")
    alike = Words.fitted(train * 2, np.zeros(10, np.int64), most=2)
    assert alike.words == ("turn", "lamp")


def test_letters_of_all_scripts_make_words() -> None:
    prepared = Words.fitted(["ΣΊΣΥΦΟΣ", "天气 好", "ﬁne"])
    assert set(prepared.words) == {"σίσυφοσ", "天", "气", "好", "fine"}
    assert words.terms("天气")[2:] == ["天 气"]
    assert prepared(["σίσυφος"]).sum() == 1


def test_words_that_are_no_words_are_passed_over() -> None:
    prepared = Words.fitted(["a" * 101 + " short", "short \ud800 again"])
    assert prepared.words == ("short", "again")
    json.dumps(prepared.model_dump(mode="json")).encode()
    for train in (["", "…"], ["a" * 101]):
        with pytest.raises(DataError, match="words"):
            Words.fitted(train)


def test_what_is_read_of_long_training_texts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_MOST_READ", 100)
    train = [f"word{number % 10} here" for number in range(1000)]
    prepared = Words.fitted(train)
    assert 5 <= prepared.texts <= 10
    assert "here" in prepared.words
    assert Words.fitted(["a long text " * 100, "b"]).texts == 1


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("turn it up", r"texts are a list of texts, not str; a single text is \[text\]"),
        (7, "not int"),
        ([*COMMANDS, None], "text 6 is no text but None"),
        (np.zeros(2), r"text 1 is no text but 0\.0"),
        ([["turn"]], r"text 1 is no text but \['turn'\]"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(raw: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Words.fitted(COMMANDS)(raw)


def test_lists_of_texts_of_all_kinds() -> None:
    prepared = Words.fitted(COMMANDS)
    wanted = prepared(COMMANDS)
    for raw in (tuple(COMMANDS), np.array(COMMANDS), pd.Series(COMMANDS), np.array(COMMANDS, dtype=object)):
        assert torch.equal(prepared(raw), wanted)
    assert prepared([]).shape == (0, len(prepared.words))


@given(st.lists(st.text(max_size=30), min_size=1, max_size=12), st.lists(st.text(max_size=30), max_size=5))
def test_any_texts_become_rows_of_length_one_or_zeros(train: list[str], new: list[str]) -> None:
    if not any(words.terms(text) for text in train):
        with pytest.raises(DataError, match="there are no words"):
            Words.fitted(train)
        return
    prepared = Words.fitted(train, np.arange(len(train)) % 3)
    assert read_preparation(json.loads(json.dumps(prepared.model_dump(mode="json")))) == prepared
    lengths = prepared([*train, *new]).norm(dim=1)
    assert ((lengths - 1).abs().lt(1e-5) | lengths.eq(0)).all()
    assert [bool(length) for length in lengths[: len(train)]] == [bool(words.terms(text)) for text in train]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": []}, "words"),
        ({"words": ["a", "a"]}, "a word is there twice"),
        ({"words": ["a" * 101, "b"]}, "100 characters"),
        ({"counts": [1]}, "1 counts up to 1 for 2 words"),
        ({"counts": [1, 9]}, "2 counts up to 9 for 2 words"),
        ({"counts": [1, 0]}, "counts"),
        ({"texts": 0}, "texts"),
    ],
)
def test_altered_words_are_refused(change: dict[str, Any], message: str) -> None:
    content = {"kind": "words", "words": ["a", "b"], "counts": [1, 2], "texts": 3}
    assert isinstance(read_preparation(content), Words)
    with pytest.raises(FileFormatError, match=message):
        read_preparation(content | change)


# Files


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        (".jsonl", '{"text": "turn it up", "intent": "volume"}\n\n{"intent": "light", "text": "lamp"}\n'),
        (".jsonl", '["turn it up", "volume"]\r\n["lamp", "light"]'),
        (
            ".jsonl",
            '{"id": 3, "said": "turn it up", "label": "volume"}\n{"id": 4, "said": "lamp", "label": "light"}\n',
        ),
        (".jsonl", '{"said": "turn it up", "what": "volume"}\n{"said": "lamp", "what": "light"}\n'),
        (".json", '[["turn it up", "volume"],\n["lamp", "light"]]'),
        (".json", '[{"text": "turn it up", "label": "volume"}, ["lamp", "light"]]'),
    ],
)
def test_texts_and_labels_are_found(tmp_path: Path, ending: str, text: str) -> None:
    path = tmp_path / f"talk{ending}"
    path.write_text(text)
    target = "what" if '"what"' in text else None
    found = read_texts(path, target)
    assert found[:3] == (["turn it up", "lamp"], ["volume", "light"], None)
    assert [note.split(";")[0] for note in found.notes] == ["the texts are those in field 'said'"] * (
        '"id"' in text
    )
    if ending == ".jsonl":
        assert read_texts(io.StringIO(text), target) == read_texts(io.BytesIO(text.encode()), target)
        assert read_texts(io.StringIO(text), target).labels == ["volume", "light"]


def test_texts_alone(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text("turn it up\n\n  [lamp\n")
    assert read_texts(path) == (["turn it up", "[lamp"], None, None, ())
    assert read_texts(io.StringIO('turn it up\n["lamp"]\n{"text": "off"}\n')).texts == [
        "turn it up",
        "lamp",
        "off",
    ]
    path = path.with_suffix(".jsonl")
    path.write_text('"turn it up"\n["lamp", null]\n')
    assert read_texts(path) == (["turn it up", "lamp"], None, None, ())


def test_splits_of_files(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(
        json.dumps({"oos_train": [["hm", "oos"]], "validation": [["lamp", "light"]], "train": [["up", "v"]]})
    )
    found = read_texts(path)
    assert found.texts == ["hm", "lamp", "up"]
    assert found.splits is not None
    assert [name[:3] for name in found.splits] == ["tra", "val", "tra"]
    assert found.notes == ("read as parts of the splits they are named for: 'oos_train'",)
    path = path.with_suffix(".jsonl")
    path.write_text(
        '{"text": "a", "label": "b", "split": "Dev"}\n{"text": "c", "label": "d", "split": "test"}\n'
    )
    assert read_texts(path).splits == ["val", "test"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", "", "holds no texts"),
        ("a.jsonl", '["a", "b"]\n{"text": \n', "line 2 is no JSON"),
        ("a.jsonl", '["a", "b", "c"]\n', "line 1 is a list of 3, not of a text and its label; write"),
        ("a.jsonl", "[]\n", "line 1 is a list of 0"),
        ("a.jsonl", "7\n", "line 1 has 7 in place of a text"),
        ("a.jsonl", '{"text": 7, "label": "b"}\n', "line 1 has 7 in place of a text"),
        ("a.jsonl", '{"text": "a", "label": ["b"]}\n', r"line 1 has \['b'\] in place of a label"),
        ("a.jsonl", '{"a": "x", "b": "y", "c": "z"}\n', "line 1 has the fields 'a', 'b', 'c'; call the one"),
        (
            "a.jsonl",
            '{"text": "x", "label": "y"}\n{"label": "y"}\n',
            "line 2 has no field 'text', but 'label'",
        ),
        (
            "a.jsonl",
            '{"text": "x", "split": "left", "label": "y"}\n',
            "line 1 says split 'left'; splits are 'train'",
        ),
        (
            "a.jsonl",
            '{"text": "x", "split": "train", "label": "y"}\n["x", "y"]',
            "1 of 2 texts do not say their split",
        ),
        ("a.jsonl", "9" * 5000, "line 1 is no JSON"),
        ("a.json", "[" * 100_000, "is no JSON"),
        ("a.json", "7", "holds neither a list of texts nor one for each split"),
        ("a.json", "{}", "holds an object with nothing; a list of texts is expected for each split"),
        ("a.json", '{"train": [], "extra": []}', "holds an object with 'train', 'extra'"),
        ("a.json", '{"train": {"a": 1}}', "holds an object with 'train'"),
        ("a.json", '{"train": [["a", "b"], 7]}', "train, item 2 has 7 in place of a text"),
    ],
)
def test_what_is_no_file_of_texts_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match=f"{path}.*{message}"):
        read_texts(path)


def test_fields_that_are_asked_for_must_be_there() -> None:
    with pytest.raises(SpecError, match="unknown field 'intend'; did you mean 'intent'"):
        read_texts(io.StringIO('{"text": "x", "intent": "y"}'), "intend")
    with pytest.raises(DataError, match="has no fields, so none can be called 'intent'"):
        read_texts(io.StringIO('["x", "y"]'), "intent")


def test_files_of_texts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_items, "MOST_TEXTS", 3)
    with pytest.raises(DataError, match="holds more than 3 texts"):
        read_texts(io.StringIO("a\n" * 4))
    monkeypatch.setattr(json_text, "MOST_JSON", 10)
    path = tmp_path / "a.json"
    path.write_text('["a long text"]')
    with pytest.raises(DataError, match=r"has more than 10 characters; write it as \.jsonl"):
        read_texts(path)


# Data sets


def test_texts_become_a_data_set() -> None:
    data = dataset(COMMANDS * 10, INTENTS * 10)
    assert data.classes == ("greeting", "light", "volume")
    assert [len(split) for split in data.splits.values()] == [32, 8, 10]
    assert isinstance(data.preparation, Words)
    assert data.preparation.texts == 32
    for split in data.splits.values():
        light = data.preparation.words.index("light")
        assert torch.equal(split.x[:, light] > 0, split.y == 1)
    assert dataset(COMMANDS * 10, INTENTS * 10).fingerprint == data.fingerprint
    assert dataset(COMMANDS * 10, pd.Series(INTENTS * 10), seed=1).fingerprint != data.fingerprint


def test_official_splits_are_kept_and_teach_nothing() -> None:
    data = dataset(
        [*COMMANDS, "unheard of", "lamp"],
        [*INTENTS, "light", "light"],
        splits=["train"] * 5 + ["val", "test"],
    )
    assert [len(split) for split in data.splits.values()] == [5, 1, 1]
    assert isinstance(data.preparation, Words)
    assert "lamp" not in data.preparation.words
    assert data.test.x.sum() == 0
    with pytest.raises(DataError, match="talk: 'left' is no split; splits are 'train'"):
        dataset(COMMANDS, INTENTS, splits=["left"] * 5)
    with pytest.raises(DataError, match="talk: 5 texts and 2 splits"):
        dataset(COMMANDS, INTENTS, splits=["train", "val"])


def test_texts_without_a_class_or_words_are_left_out_and_counted() -> None:
    data = dataset([*COMMANDS * 4, None, " ", "hello"], [*INTENTS * 4, "light", "light", None])
    assert sum(len(split) for split in data.splits.values()) == 20
    assert "1 of 23 texts have no class and are left out" in data.notes
    assert "2 of 23 texts are empty and are left out" in data.notes
    for sentences, labels, message in (
        (COMMANDS, [None] * 5, "talk: none of 5 texts has a class"),
        (["", None], ["a", "b"], "talk: all texts are empty"),
        ([], [], "talk: there are no texts"),
        (COMMANDS, ["a"], "talk: 5 texts and 1 labels"),
        (["a", 7], ["a", "b"], "talk: text 2 is no text but 7"),
    ):
        with pytest.raises(DataError, match=message):
            dataset(sentences, labels)


def test_new_texts_are_prepared_as_the_old_ones() -> None:
    data = dataset(COMMANDS * 4, INTENTS * 4)
    new = dataset(["light please", "turn up the volume"], ["light", "volume"], like=data, split=(1, 0, 0))
    assert new.preparation == data.preparation
    assert new.classes == data.classes
    assert sorted(new.train.y.tolist()) == [1, 2]
    with pytest.raises(DataError, match="labels 'heating' are not in the class list"):
        dataset(["warmer"], ["heating"], like=data)
    numbers = SimpleNamespace(preparation=Numbers(raw_shape=(2,)), classes=data.classes)
    with pytest.raises(
        DataError, match="talk: these are texts, and it takes something else: numbers as they are"
    ):
        dataset(COMMANDS, INTENTS, like=numbers)


@pytest.mark.skipif(not CLINC.is_file(), reason="needs the official file")
def test_clinc150_is_read_with_its_splits() -> None:
    found = read_texts(CLINC)
    assert found.labels is not None
    assert found.splits is not None
    sizes = {split: found.splits.count(split) for split in set(found.splits)}
    assert sizes == {"train": 15_100, "val": 3_100, "test": 5_500}
    assert len(set(found.labels)) == 151
    assert found.labels.count("oos") == 1_200
    assert found.notes[0].endswith("'oos_val', 'oos_test', 'oos_train'")
    # A tenth is enough to see that words tell intents: chance is 0.7 %.
    some = [place for place, label in enumerate(found.labels) if label < "c"]
    data = dataset(
        [found.texts[place] for place in some],
        [found.labels[place] for place in some],
        splits=[found.splits[place] for place in some],
    )
    from sklearn.linear_model import RidgeClassifier

    model = RidgeClassifier().fit(data.train.x.numpy(), data.train.y.numpy())
    assert model.score(data.val.x.numpy(), data.val.y.numpy()) > 0.9
