"""Items of a file of texts: objects, lists or texts alone, turned into texts with labels and splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...errors import DataError, unknown_name
from .official import SPLIT_NAMES, split_number
from .wording import listed

_TEXTS = (
    "text",
    "texts",
    "sentence",
    "utterance",
    "query",
    "question",
    "content",
    "document",
    "message",
    "review",
)
_LABELS = ("label", "labels", "intent", "class", "target", "category", "y")
_SPLIT = "split"
_NUMBERS_OF_TEXTS = ("id", "idx", "index", "uid", "guid", "number")

MOST_TEXTS = 10_000_000


class Texts(NamedTuple):
    """Texts as a file has them.

    Attributes
    ----------
    texts : list of str
        The texts.
    labels : list or None
        The class of each; None where the file has none.
    splits : list of str or None
        ``"train"``, ``"val"`` or ``"test"`` for each, where the file says so.
    notes : tuple of str
        What was noticed.
    """

    texts: list[str]
    labels: list[Any] | None = None
    splits: list[str] | None = None
    notes: tuple[str, ...] = ()


class TextItems:
    """Texts, labels and splits as they are met; what a file's objects call them is taken from the first.

    Parameters
    ----------
    name : str
        What messages call the file.
    target : str, optional
        The field that holds the class; by default the one that is called so.

    Examples
    --------
    >>> items = TextItems("commands.jsonl")
    >>> items.add({"text": "turn it up", "intent": "volume"}, "line 1")
    >>> items.add(["good night", "greeting"], "line 2")
    >>> items.texts().labels
    ['volume', 'greeting']
    """

    def __init__(self, name: str, target: str | None = None) -> None:
        self._name = name
        self._target = target
        self._texts: list[str] = []
        self._labels: list[Any] = []
        self._splits: list[str | None] = []
        self._parts: list[str] = []
        self._fields: tuple[str, str | None] | None = None
        self._unused: tuple[str, ...] = ()

    def add_all(self, content: Any) -> None:
        """Take what a ``.json`` file holds."""
        if isinstance(content, Mapping):
            of_splits = {key: _split_in(key) for key in content}
            odd = [
                key for key, split in of_splits.items() if split is None or not isinstance(content[key], list)
            ]
            if odd or not content:
                raise DataError(
                    f"{self._name} holds an object with {listed(content)}; a list of texts is expected for each split "
                    f"({listed(SPLIT_NAMES, most=10)})"
                )
            self._parts = [key for key in content if split_number(key) is None]
            for key, split in of_splits.items():
                self._add_list(content[key], split, f"{key}, ")
        elif isinstance(content, list):
            self._add_list(content, None, "")
        else:
            raise DataError(f"{self._name} holds neither a list of texts nor one for each split")

    def _add_list(self, items: list[Any], split: str | None, where: str) -> None:
        for number, item in enumerate(items, 1):
            self.add(item, f"{where}item {number:,}", split)

    def add(self, item: Any, where: str, split: str | None = None) -> None:
        """Take one text with its label, as an object, a list or alone."""
        label = None
        if isinstance(item, Mapping):
            text, label, split = self._of_object(item, where, split)
        elif isinstance(item, list):
            if not 1 <= len(item) <= 2:
                raise self._wrong(where, f"is a list of {len(item)}, not of a text and its label")
            text, label = (*item, None)[:2]
        else:
            text = item
        if text is not None and not isinstance(text, str):
            raise self._wrong(where, f"has {text!r:.40} in place of a text")
        if isinstance(label, list | dict):
            raise self._wrong(where, f"has {label!r:.40} in place of a label; each text has one class")
        if len(self._texts) == MOST_TEXTS:
            raise DataError(f"{self._name} holds more than {MOST_TEXTS:,} texts; read it in parts")
        self._texts.append(text or "")
        self._labels.append(label)
        self._splits.append(split)

    def texts(self) -> Texts:
        """Return what was met."""
        if not self._texts:
            raise DataError(f"{self._name} holds no texts")
        if self._target is not None and self._fields is None:
            raise DataError(f"{self._name} has no fields, so none can be called {self._target!r:.80}")
        said = [split for split in self._splits if split is not None]
        if said and len(said) < len(self._splits):
            raise DataError(
                f"{self._name}: {len(self._splits) - len(said):,} of {len(self._splits):,} texts do not say their "
                "split, and the others do"
            )
        notes: tuple[str, ...] = (
            (f"read as parts of the splits they are named for: {listed(self._parts)}",) if self._parts else ()
        )
        if self._unused and self._fields is not None:
            notes += (
                f"the texts are those in field {self._fields[0]!r:.80}; {listed(self._unused)} of each object are not "
                "used. Objects of several fields are rows of a table: save them as .csv",
            )
        labels = None if all(label is None for label in self._labels) else self._labels
        return Texts(self._texts, labels, said or None, notes)

    def _of_object(
        self, item: Mapping[str, Any], where: str, split: str | None
    ) -> tuple[Any, Any, str | None]:
        if self._fields is None:
            self._fields = _fields(item, self._target, f"{self._name}: {where}")
            self._unused = tuple(name for name in item if name not in (*self._fields, _SPLIT))
        text, label = self._fields
        if text not in item:
            raise self._wrong(where, f"has no field {text!r:.40}, but {listed(item)}")
        if split is None and _SPLIT in item and label != _SPLIT:
            split = _split_in(item[_SPLIT])
            if split is None:
                raise self._wrong(
                    where, f"says split {item[_SPLIT]!r:.40}; splits are {listed(SPLIT_NAMES, most=10)}"
                )
        return item[text], None if label is None else item.get(label), split

    def _wrong(self, where: str, what: str) -> DataError:
        return DataError(
            f'{self._name}: {where} {what}; write {{"text": "turn it up", "label": "volume"}}, '
            '["turn it up", "volume"] or only a text'
        )


def _fields(item: Mapping[str, Any], target: str | None, where: str) -> tuple[str, str | None]:
    """Return the names of the fields with the text and the label."""
    if target is not None and target not in item:
        raise unknown_name("field", target, item)
    small = {name.casefold(): name for name in reversed(list(item))}
    label = target or next((small[name] for name in _LABELS if name in small), None)
    others = [name for name in item if name not in (label, _SPLIT)]
    text = next((small[name] for name in _TEXTS if small.get(name) in others), None)
    if text is None:
        texts = [name for name in others if isinstance(item[name], str)]
        if len(texts) != 1:
            raise DataError(f"{where} has the fields {listed(item)}; call the one with the text 'text'")
        text = texts[0]
    rest = [name for name in others if name != text]
    if label is None and len(rest) == 1:
        label = rest[0]
    return text, label


def is_row(item: object, target: str | None = None) -> bool:
    """Return whether an object is a row of a table, not a text with its class.

    A text is in a field that is called so, or in the only one beside class, split and number. Objects with lists or
    objects in them are neither.

    Examples
    --------
    >>> is_row({"text": "turn it up", "intent": "volume", "speaker": 3}), is_row({"id": 1, "said": "hello", "label": 2})
    (False, False)
    >>> is_row({"width": 3, "label": "cat"}), is_row({"width": 3, "colour": "red", "kind": "cat"}, "kind")
    (True, True)
    """
    if not isinstance(item, Mapping) or not item:
        return False
    if any(isinstance(value, list | Mapping) for value in item.values()):
        return False
    small = {name: name.casefold() for name in item}
    if any(name in _TEXTS for field, name in small.items() if field != target):
        return False
    others = [field for field, name in small.items() if name != _SPLIT and name not in _NUMBERS_OF_TEXTS]
    label = (
        target if target is not None else next((field for field in others if small[field] in _LABELS), None)
    )
    texts = [field for field in others if field != label and isinstance(item[field], str)]
    return len(texts) != 1 or len(others) > 2


def _split_in(key: object) -> str | None:
    """Return the split that a name says, or has among its words as "oos_train" has."""
    words = str(key).replace("-", "_").replace(" ", "_").split("_")
    found = {number for word in words if (number := split_number(word)) is not None}
    names = list(SPLIT_NAMES)
    return next((name for name in names if SPLIT_NAMES[name] in found), None) if len(found) == 1 else None
