"""CLINC150, sentences to an assistant and what they want, from the official JSON file."""

from __future__ import annotations

from typing import Any, Literal

import torch

from ...errors import DataError
from ..content import Content
from ..files import Files, damaged, read_bytes
from ..own.json_text import parsed
from ..preparation.texts import Texts
from ..registry import register
from ..sources import Download, Source
from ..split import Split

_FILE = "data_full.json"
_SPLITS = ("train", "val", "test")
_SENTENCES = {
    "train": 15_000, "val": 3_000, "test": 4_500, "oos_train": 100, "oos_val": 100, "oos_test": 1_000,
}  # fmt: skip
"""In each list of the file; ``oos`` are those out of scope."""
_OUT_OF_SCOPE = "out of scope"
_SOURCE = Source(
    (_FILE,),
    (
        Download(
            "https://raw.githubusercontent.com/clinc/oos-eval/master/data/data_full.json",
            "36923c3705a59e08fe9c3883d8bc2dd966ef93e22cb78ac41171782a698d56e0",
        ),
    ),
)

Sentences = list[tuple[str, str]]
"""Each with its intent."""


@register("clinc150", kind="files", source=_SOURCE)
def clinc150(files: Files, *, oos: Literal["none", "unknown", "class"] = "none") -> Content:
    """22,500 sentences to an assistant, each with one of 150 intents (CLINC150).

    The official splits are kept. They are texts as they are, which a trunk reads. 1,200 more sentences are out of
    scope: they want none of the 150. ``oos="unknown"`` has those of validation and test as a class of their own, of
    which nothing is in training, so that scores tell how they are refused; ``oos="class"`` has those of training too.
    """
    path = files.folder / _FILE
    try:
        content = parsed(read_bytes(path).decode("utf-8"), str(path))
    except (UnicodeDecodeError, DataError) as error:
        raise damaged(path, "is no JSON") from error
    if not isinstance(content, dict) or not all(isinstance(content.get(name), list) for name in _SENTENCES):
        raise damaged(path, f"does not hold the lists {', '.join(_SENTENCES)}")
    lists = {name: _sentences(files, name, content[name]) for name in _SENTENCES}
    classes = sorted({intent for _, intent in lists["train"]})
    if oos != "none":
        for name in _SPLITS if oos == "class" else _SPLITS[1:]:
            lists[name] += [(text, _OUT_OF_SCOPE) for text, _ in lists[f"oos_{name}"]]
        classes.append(_OUT_OF_SCOPE)
    number = {intent: place for place, intent in enumerate(classes)}
    texts = Texts.fitted([text for text, _ in lists["train"]])
    splits = []
    for name in _SPLITS:
        odd = next((intent for _, intent in lists[name] if intent not in number), None)
        if odd is not None:
            raise damaged(path, f"has {odd[:80]!r} in {name!r}, an intent without training sentences")
        y = torch.tensor([number[intent] for _, intent in lists[name]], dtype=torch.int64)
        splits.append(Split(texts([text for text, _ in lists[name]]), y))
    return Content(splits, tuple(classes), preparation=texts)


def _sentences(files: Files, name: str, items: list[Any]) -> Sentences:
    """Return one list of the file."""
    path = files.folder / _FILE
    for number, item in enumerate(items, 1):
        pair: list[Any] = item if isinstance(item, list) and len(item) == 2 else [None, None]
        # Intents are names that a terminal may show; sentences may hold anything.
        if not (all(isinstance(one, str) for one in pair) and pair[1].isascii() and pair[1].isprintable()):
            raise damaged(
                path, f"has {str(item)[:80]!r} as item {number} of {name!r}, no sentence and intent"
            )
    files.check_count(path, f"sentences in {name!r}", len(items), _SENTENCES[name])
    return [(text, intent) for text, intent in items]
