"""CLINC150 from a small file in the official form."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

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


class _Letters(nn.Module):
    """How often each letter occurs."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(torch.eye(256))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        vectors: Tensor = self.embedding(input_ids)
        return (vectors * attention_mask[..., None]).sum(1)


def _letters(texts: list[str], **_: object) -> dict[str, Tensor]:
    ids = nn.utils.rnn.pad_sequence(
        [torch.tensor([ord(letter) % 256 for letter in text]) for text in texts], batch_first=True
    )
    return {"input_ids": ids, "attention_mask": (ids > 0).long()}


@pytest.mark.filterwarnings("ignore::dovetail.errors.TrainingWarning")
def test_parts_on_a_trunk_take_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    data = load("clinc150", write(tmp_path, CONTENT))
    trunk = dt.trunk(_Letters(), cut="output", tokenizer=_letters)
    features = trunk.features(data, progress=False)
    raw = torch.tensor([["quieter".count(chr(number)) for number in range(256)]])
    assert trunk(["quieter"]).equal(raw.float())
    team = dt.train_specialists(features, "mlp:8,dropout=0", slots=True, epochs=20, lr=0.01, progress=False)
    whole = dt.compose(team)
    given = [text for text, _ in CONTENT["train"]]
    assert whole.predict_proba(given) == pytest.approx(whole.predict_proba(features.train), abs=1e-5)


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
