"""Reading data of one's own: a file or a folder, by what it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from ...errors import DataError, SpecError, unknown_name
from ..content import Content
from ..dataset import Dataset
from ..preparation import Table
from ..registry import data_spec
from ..sources import expand_user
from .archive import unpacked
from .array_files import array_file_content
from .features_folder import features_content, is_features
from .json_rows import is_json_table
from .kinds import Kind, kind_of
from .like import Like, preparation_of
from .path_options import in_python, is_there
from .picture_folder import picture_folder_content
from .splitting import Shares, check_shares
from .tables import frame_content, is_table_text, read_table
from .texts import read_texts, texts_content
from .wording import readable

TextsAs = Literal["words", "raw"]
"""How texts are taken: as the words in them, or as they are."""


def read(
    path: str | Path,
    target: str | None = None,
    split: Sequence[float] | str | None = None,
    *,
    like: Like | None = None,
    size: int | tuple[int, int] | None = None,
    texts: TextsAs = "words",
    seed: int = 0,
    name: str | None = None,
) -> Dataset:
    """Read a file or a folder of one's own as a data set: split by class, prepared by what trains.

    What was done is the data set's ``preparation``, and parts that are trained on it take raw samples again.

    Parameters
    ----------
    path : path
        A table (``.csv``, ``.tsv``, ``.parquet``, ``.txt`` with tabs, semicolons or bars, ``.jsonl`` with an object for
        each row); texts (``.jsonl``, or a table of one column of texts); arrays (``.npz`` with x and y, or ``.npy``
        beside one with the labels); a folder of pictures, ``CLASS/*.jpg``, or ``train/CLASS/*.jpg`` with ``val`` and
        ``test`` beside it; or a ``.zip`` of one of these.
    target : str, optional
        The column of a table, or field of a line, that holds the classes; by default the one that is called so, or the
        last one if it looks like it.
    split : tuple of float or str, optional
        Shares of train, val and test, by default 64, 16 and 20 %; or, for a table, the column that says which. Splits
        that the data has are kept.
    like : Dataset, Specialist or Composite, optional
        Prepare the samples as those of this one were, with its class list, in place of learning anew from them.
    size : int or (int, int), optional
        Height and width that pictures are brought to; by default what most of them have, up to 64.
    texts : {"words", "raw"}
        Turn texts into the words that they hold, or keep them as they are, for a trunk that reads them.
    seed : int
        What the splits are drawn from.
    name : str, optional
        What to call it; by default the name of the file or folder.

    Returns
    -------
    Dataset
        Its ``options`` hold the name of the file and what was asked for.

    Raises
    ------
    DataError
        For what is not there, cannot be read, or holds nothing to train on, naming the file, what is wrong with it, and
        the way out.
    """
    place = expand_user(path)
    if like is not None:
        preparation_of(like)
    _check_spelling(path)
    named = readable(place.resolve().name or place) if kind_of(place) == "folder" else readable(place.stem)
    name = named if name is None else name
    if texts not in get_args(TextsAs):
        raise unknown_name("way to take texts", texts, get_args(TextsAs))
    asked = {
        "target": target,
        "split": split,
        "size": size,
        "texts": None if texts == "words" else texts,
        "seed": seed,
    }
    content = _content(place, Wishes(target, split, like, size, texts == "raw", seed, name))
    options: dict[str, object] = {"file": readable(place.resolve().name)}
    options |= {option: value for option, value in asked.items() if value is not None}
    return Dataset.from_content(name, content, options)


def _check_spelling(path: str | Path) -> None:
    """Refuse what is no path, but would be understood on the command line or by `load`."""
    text = str(path)
    if is_there(text):
        return
    call = in_python(text)
    if call is not None:
        raise DataError(
            f"there is no file or folder {text:.200}; options after a colon are for the command line, in Python write "
            f"{call}"
        )
    try:
        data_spec(text)
    except SpecError:
        return  # what there is instead is said where kinds of files are told
    raise DataError(
        f"there is no file or folder {text:.200}; the data set of that name is dovetail.load({text!r:.200})"
    )


class Wishes(NamedTuple):
    """What was asked for beside the path; see `read`."""

    target: str | None
    split: Sequence[float] | str | None
    like: Like | None
    size: int | tuple[int, int] | None
    raw_texts: bool
    seed: int
    name: str


def _content(path: Path, wishes: Wishes) -> Content:
    """Return what a file or folder holds."""
    kind = kind_of(path)
    if kind == "archive":
        with unpacked(path) as inside:
            content = _content(inside.place, wishes)
        return content._replace(notes=tuple(map(inside.named, content.notes)))
    if kind == "texts" and (is_table_text(path) or is_json_table(path, wishes.target)):
        kind = "table"
    if kind == "folder" and is_features(path):
        return features_content(path)
    _check(path, kind, wishes)
    try:
        return _READERS[kind](path, wishes)
    except DataError as error:
        # What is wrong with samples is said in the same words wherever they come from.
        if path.name in str(error):
            raise
        raise DataError(f"{path}: {error}") from error


def _check(path: Path, kind: Kind, wishes: Wishes) -> None:
    """Refuse what is asked of data that has no such thing."""
    if kind == "picture":
        raise DataError(
            f"{path} is one picture; name the folder that holds a folder of pictures for each class"
        )
    if wishes.target is not None and kind == "folder":
        raise SpecError(
            f"target= names a column or an array, and {path} is a folder, whose folders are the classes"
        )
    if wishes.size is not None and kind != "folder":
        raise SpecError(f"size= is for pictures, and {path} holds none")
    if isinstance(wishes.split, str) and kind != "table":
        raise SpecError(
            f"split={wishes.split!r:.80} names the column of a table; for {path} give three shares"
        )


def _table(path: Path, wishes: Wishes) -> Content:
    prepared = None if wishes.like is None else preparation_of(wishes.like)
    frame = read_table(path, texts=prepared.level_names if isinstance(prepared, Table) else ())
    return frame_content(
        frame, wishes.target, split=wishes.split, like=wishes.like, raw_texts=wishes.raw_texts, seed=wishes.seed,
        name=wishes.name,
    )  # fmt: skip


def _texts(path: Path, wishes: Wishes) -> Content:
    found = read_texts(path, wishes.target)
    if found.labels is None:
        raise DataError(
            f"{path} holds texts without labels; write a line for each such as "
            '{"text": "turn it up", "label": "volume"}, or name the field that holds the class with target='
        )
    return texts_content(
        found.texts,
        found.labels,
        split=_shares(wishes),
        splits=found.splits,
        like=wishes.like,
        raw=wishes.raw_texts,
        seed=wishes.seed,
        name=wishes.name,
        notes=found.notes,
    )


def _arrays(path: Path, wishes: Wishes) -> Content:
    return array_file_content(
        path, wishes.target, split=_shares(wishes), like=wishes.like, seed=wishes.seed, name=wishes.name
    )


def _pictures(path: Path, wishes: Wishes) -> Content:
    return picture_folder_content(
        path, split=_shares(wishes), like=wishes.like, size=wishes.size, seed=wishes.seed, name=wishes.name
    )


def _shares(wishes: Wishes) -> Shares | None:
    return None if wishes.split is None else check_shares(wishes.split)


_READERS: dict[Kind, Callable[[Path, Wishes], Content]] = {
    "table": _table,
    "texts": _texts,
    "arrays": _arrays,
    "folder": _pictures,
}
