"""Texts: sentences or longer ones, each with its class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from ...errors import DataError
from ..content import Content
from ..preparation import Texts as RawTexts
from ..preparation import Words
from ..split import Split
from .json_text import parsed, whole_text
from .labels import Labels, class_labels
from .like import Like, ids_like, preparation_of
from .missing import labelled
from .official import SPLIT_NAMES, split_number, three_rows
from .rows import prepared_rows
from .text_items import TextItems, Texts
from .text_lines import TextLines
from .wording import listed


def read_texts(source: str | Path | IO[Any], target: str | None = None) -> Texts:
    r"""Return the texts in a file: ``.jsonl``, ``.json``, or ``.txt`` with one text a line.

    A line of ``.jsonl`` is an object with a text and a label, ``{"text": "turn it up", "intent": "volume"}``, a list of
    both, ``["turn it up", "volume"]``, or only a text. An object may say its ``"split"``, too. ``.json`` holds a list
    of these, or such a list for each split; lists such as ``"oos_train"`` beside ``"train"`` are parts of it. A stream
    may have any of these in its lines: those that begin with ``{`` or ``[`` are taken as JSON. Empty lines are passed
    over.

    Parameters
    ----------
    source : path or open file
        A file, or a stream of text or bytes.
    target : str, optional
        The field that holds the class; by default the one that is called so.

    Raises
    ------
    DataError
        For lines that are none of these, naming file, line and what is wrong.

    Examples
    --------
    >>> import io
    >>> read_texts(io.StringIO('["turn it up", "volume"]\n["good night", "greeting"]\n')).labels
    ['volume', 'greeting']
    """
    ending = Path(source).suffix.lower() if isinstance(source, str | Path) else ""
    with TextLines(source) as lines:
        items = TextItems(lines.name, target)
        if ending == ".json":
            whole = whole_text(lines, "write it as .jsonl, a text in each line")
            items.add_all(parsed(whole, lines.name))
        else:
            for number, line in enumerate(lines, 1):
                text = line.strip()
                if text:
                    as_json = ending == ".jsonl" or (ending != ".txt" and text[0] in "{[")
                    where = f"line {number:,}"
                    items.add(parsed(text, f"{lines.name}: {where}") if as_json else text, where)
        return items.texts()


def texts_content(
    texts: Sequence[str],
    labels: object,
    *,
    split: Sequence[float] | None = None,
    splits: Sequence[str] | None = None,
    like: Like | None = None,
    raw: bool = False,
    seed: int = 0,
    name: str = "texts",
    notes: tuple[str, ...] = (),
) -> Content:
    """Return texts with a class each as a data set of their words, or of the texts as they are.

    Texts without a class, and those that are missing, are left out and counted.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    labels : array or sequence
        A class for each.
    split : tuple of float, optional
        Shares of train, val and test; by default 64, 16 and 20 %.
    splits : sequence of str, optional
        The official split of each text, ``"train"``, ``"val"`` or ``"test"``.
    like : Dataset, Specialist or Composite, optional
        Prepare texts as those of this one were, with its class list.
    raw : bool
        Keep texts as they are, for a trunk.
    seed : int
        What splits are drawn from.
    name : str
        What to call the data in messages.
    notes : tuple of str
        What was noticed in reading them.

    Examples
    --------
    >>> content = texts_content(["turn it up", "louder", "good night", "hello"] * 5, ["volume", "greeting"] * 10)
    >>> content.classes, content.preparation.describe()
    (('greeting', 'volume'), 'texts as 7 words and 3 pairs of words, weighted by how rare they are (tf-idf)')
    """
    every: list[Any] = labels.tolist() if hasattr(labels, "tolist") else list(cast(Sequence[Any], labels))
    there, more = _there(texts, every, splits, name)
    chosen, own = [texts[place] for place in there], [every[place] for place in there]
    found = class_labels(own) if like is None else Labels(ids_like(own, like), like.classes)
    official = None if splits is None else _official([splits[place] for place in there], name)
    places, drawn = three_rows(found.ids, official, shares=split, seed=seed, name=name)
    preparation: Words | RawTexts
    if like is not None:
        preparation = _preparation_of(like, name)
    elif raw:
        preparation = RawTexts.fitted([chosen[place] for place in places[0]])
    else:
        preparation = Words.fitted([chosen[place] for place in places[0]], found.ids[places[0]])
    made: dict[int, Split] = {}
    for some in places:
        if id(some) not in made:  # a split may stand in for another
            own_texts = [chosen[place] for place in some]
            made[id(some)] = Split(prepared_rows(preparation, own_texts), torch.from_numpy(found.ids[some]))
    return Content(
        [made[id(some)] for some in places],
        found.classes,
        "classes",
        preparation,
        (*notes, *more, *found.notes, *drawn),
    )


def _there(
    texts: Sequence[Any], labels: list[Any], splits: Sequence[str] | None, name: str
) -> tuple[list[int], tuple[str, ...]]:
    """Return the places of texts that are there and have a class, with notes of how many are not."""
    for others, what in ((labels, "labels"), (splits, "splits")):
        if others is not None and len(others) != len(texts):
            raise DataError(f"{name}: {len(texts):,} texts and {len(others):,} {what}; each text needs one")
    if not texts:
        raise DataError(f"{name}: there are no texts")
    with_label, notes = labelled(labels, name, "texts")
    there = []
    for place in with_label.tolist():
        text = texts[place]
        if isinstance(text, str):
            if text.strip():
                there.append(place)
        elif not (text is None or text is pd.NA or text != text):
            raise DataError(f"{name}: text {place + 1:,} is no text but {text!r:.40}")
    empty = len(with_label) - len(there)
    if not there:
        raise DataError(f"{name}: all texts are empty")
    return there, (
        *notes,
        f"{empty:,} of {len(texts):,} texts are empty and are left out",
    ) if empty else notes


def _official(splits: list[str], name: str) -> NDArray[np.int64]:
    """Return 0, 1 or 2 for each text of train, val and test."""
    numbers = [split_number(split) for split in splits]
    if None in numbers:
        odd = splits[numbers.index(None)]
        raise DataError(f"{name}: {odd!r:.40} is no split; splits are {listed(SPLIT_NAMES, most=10)}")
    return np.array(numbers, dtype=np.int64)


def _preparation_of(like: Like, name: str) -> Words | RawTexts:
    preparation = preparation_of(like)
    if not isinstance(preparation, Words | RawTexts):
        raise DataError(f"{name}: these are texts, and it takes something else: {preparation.describe()}")
    return preparation
