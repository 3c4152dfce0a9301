"""A folder of pictures: one folder inside for each class, with folders for train, val and test above them or not."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ..content import Content
from .kinds import PICTURES
from .labels import MOST_CLASSES
from .like import Like
from .official import split_number
from .pictures import Size, pictures_content
from .wording import listed, readable

_MOST_PICTURES = 5_000_000


class PictureFiles(NamedTuple):
    """The pictures in a folder.

    Attributes
    ----------
    paths : list of Path
        The files, sorted.
    labels : list of str or None
        The class folder of each; None for a folder that holds only pictures.
    official : array of int or None
        0, 1 or 2 for each, where they lie in folders for train, val and test.
    notes : tuple of str
        What was noticed.
    """

    paths: list[Path]
    labels: list[str] | None
    official: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()


def picture_folder_content(
    folder: Path,
    *,
    split: Sequence[float] | None = None,
    like: Like | None = None,
    size: Size | None = None,
    seed: int = 0,
    name: str = "pictures",
) -> Content:
    """Return what a folder of class folders holds; see `pictures_content` for what can be asked for."""
    found = list_pictures(folder)
    if found.labels is None:
        raise DataError(
            f"{folder} holds pictures, but no folders of classes; put those of each class into a folder that is called "
            "as the class is"
        )
    return pictures_content(
        found.paths,
        found.labels,
        official=found.official,
        split=split,
        like=like,
        size=size,
        seed=seed,
        name=name,
        notes=found.notes,
    )


def list_pictures(folder: Path) -> PictureFiles:
    """Return the pictures in a folder with the classes that its folders say: ``CLASS/*.jpg``, ``train/CLASS/*.jpg``.

    Folders in class folders belong to the class. Links that lead out of the folder are not followed.

    Raises
    ------
    DataError
        For a folder without pictures, naming what is in it.
    """
    try:
        return _looked_into(folder)
    except OSError as error:
        raise DataError(
            f"cannot look into {error.filename or folder} ({error.strerror}); make it readable"
        ) from error


def _looked_into(folder: Path) -> PictureFiles:
    walk = _Walk(folder)
    beside, inside = walk.pictures(folder), walk.folders(folder)
    while len(inside) == 1 and not beside and (below := walk.folders(inside[0])):
        # A folder around all others, as archives have it, is no class.
        folder, inside, beside = inside[0], below, walk.pictures(inside[0])
    splits = [one for one in inside if split_number(one.name) is not None]
    train = [one for one in splits if split_number(one.name) == 0]
    # Classes may be called so too; then their pictures lie right in them.
    if 0 < len(train) < len(splits) and all(walk.folders(one) and not walk.pictures(one) for one in train):
        if len(splits) < len(inside):
            others = (one.name for one in inside if one not in splits)
            walk.note(f"folders beside those of the splits are left out: {listed(others)}")
        return walk.official(splits)
    paths, labels = walk.classes(inside)
    if paths and beside:
        walk.note(f"pictures beside the folders of classes are left out ({len(beside):,})")
    if paths or beside:
        return PictureFiles(paths or beside, labels if paths else None, None, walk.notes())
    raise DataError(
        f"{folder} is a folder, but not one of pictures: it holds {_what_is_in(folder)}. Pictures "
        f"({', '.join(PICTURES)}) are expected in one folder for each class; a table or an array is named itself"
    )


class _Walk:
    """What is met in going through a folder, and what is passed over."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._notes: list[str] = []
        self._outside: set[str] = set()
        self._other: Counter[str] = Counter()
        self._count = 0

    def note(self, text: str) -> None:
        self._notes.append(text)

    def notes(self) -> tuple[str, ...]:
        notes = list(self._notes)
        if self._outside:
            notes.append(f"links that lead out of the folder are not followed ({len(self._outside):,})")
        if self._other:
            kinds = listed(ending or "no ending" for ending in sorted(self._other))
            notes.append(f"files that are no pictures are left out: {self._other.total():,} ({kinds})")
        return tuple(notes)

    def folders(self, folder: Path) -> list[Path]:
        """Return the folders in a folder, sorted, but hidden ones; more than there may be classes are refused."""
        found = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if not _hidden(entry.name) and entry.is_dir() and self._is_inside(entry):
                    found.append(Path(entry.path))
                    if len(found) > MOST_CLASSES:
                        raise DataError(
                            f"{folder} holds more than {MOST_CLASSES:,} folders, and each is a class; are they classes?"
                        )
        return sorted(found)

    def pictures(self, folder: Path) -> list[Path]:
        """Return the pictures right in a folder, sorted."""
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if self._is_picture(entry))

    def classes(self, folders: Sequence[Path]) -> tuple[list[Path], list[str]]:
        """Return the pictures in class folders, and the class of each."""
        paths: list[Path] = []
        labels: list[str] = []
        empty = []
        for folder in folders:
            found = sorted(self._below(folder))
            paths += found
            labels += [readable(folder.name)] * len(found)
            if not found:
                empty.append(folder.name)
        if empty and paths:
            self.note(f"folders without pictures are no classes: {listed(empty)}")
        return paths, labels

    def official(self, splits: Sequence[Path]) -> PictureFiles:
        """Return the pictures in folders for splits."""
        paths: list[Path] = []
        labels: list[str] = []
        numbers: list[int] = []
        of_split: dict[int, set[str]] = {}
        for folder in splits:
            number = split_number(folder.name) or 0
            its_paths, its_labels = self.classes(self.folders(folder))
            if not its_paths or number in of_split:
                raise DataError(
                    f"{folder} is the second folder for its split; take one of them away"
                    if its_paths
                    else f"{folder} holds no folders of classes with pictures; take it away, or sort its pictures"
                )
            paths += its_paths
            labels += its_labels
            numbers += [number] * len(its_paths)
            of_split[number] = set(its_labels)
        untrained = sorted(set().union(*of_split.values()) - of_split[0])
        if untrained:
            self.note(f"classes without pictures to train on: {listed(untrained)}")
        return PictureFiles(paths, labels, np.array(numbers, dtype=np.int64), self.notes())

    def _below(self, folder: Path) -> Iterator[Path]:
        """Yield the pictures in a folder and in those inside of it; folders that are links are not entered."""
        waiting = [folder]
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if _hidden(entry.name):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    elif self._is_picture(entry):
                        yield Path(entry.path)

    def _is_picture(self, entry: os.DirEntry[str]) -> bool:
        if _hidden(entry.name) or not entry.is_file():
            return False
        ending = Path(entry.name).suffix.lower()
        if ending not in PICTURES:
            self._other[ending] += 1
            return False
        if not self._is_inside(entry):
            return False
        self._count += 1
        if self._count > _MOST_PICTURES:
            raise DataError(f"{self._root} holds more than {_MOST_PICTURES:,} pictures; read it in parts")
        return True

    def _is_inside(self, entry: os.DirEntry[str]) -> bool:
        """Return whether something is no link, or one that leads to another place in the folder."""
        if not entry.is_symlink():
            return True
        path = Path(entry.path)
        place = path.resolve()
        # A link to a folder around itself would go round in circles.
        inside = place.is_relative_to(self._root) and not path.parent.resolve().is_relative_to(place)
        if not inside:
            self._outside.add(entry.path)
        return inside


def _hidden(name: str) -> bool:
    """Return whether systems put it there by themselves."""
    return name.startswith(".") or name in ("__MACOSX", "Thumbs.db")


def _what_is_in(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir() if not _hidden(path.name))
    return listed(names)
