"""Files of arrays: ``.npz`` with samples and labels in it, or ``.npy`` files of both beside each other."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError, unknown_name
from ..content import Content
from .archive import opened_archive
from .arrays import arrays_content
from .like import Like
from .official import SPLIT_NAMES, split_number
from .rows import empty_rows
from .splitting import USUAL
from .wording import listed

_SAMPLES = (
    "x",
    "data",
    "samples",
    "inputs",
    "features",
    "images",
    "embeddings",
    "sample",
    "input",
    "image",
    "img",
)
_LABELS = ("y", "labels", "label", "targets", "target", "class")
_CLASSES = ("classes", "class_names", "target_names", "label_names")
_FEATURES = ("feature_names", "columns")
_SPLITS = "|".join(sorted(SPLIT_NAMES, key=len, reverse=True))

_MAPPED_FROM = 2**26
"""Bytes of a ``.npy`` file that is mapped into memory rather than read."""

_MOST_IN_HEADER = 2**16
_AT_ONCE = 2**24


class Arrays(NamedTuple):
    """Arrays as files have them.

    Attributes
    ----------
    x, y : list of array or None
        Samples and labels of train, val and test; None where there are none. What is of no split is in the first place.
    classes, features : list of str or None
        Names of classes and features, where they are there too.
    asked : int
        The place of the samples that the file was named for; the last ones of a file that holds several.
    """

    x: list[NDArray[Any] | None]
    y: list[NDArray[Any] | None]
    classes: list[str] | None = None
    features: list[str] | None = None
    asked: int = 0


def array_file_content(
    path: Path,
    target: str | None = None,
    *,
    split: tuple[float, float, float] | None = None,
    like: Like | None = None,
    seed: int = 0,
    name: str = "arrays",
) -> Content:
    """Return what a file of arrays holds as a data set; see `read_arrays` and `arrays_content`."""
    arrays = read_arrays(path, target)
    pairs = list(zip(arrays.x, arrays.y, strict=True))
    for x, y in pairs:
        if x is not None and y is None:
            raise DataError(
                f"{path} holds samples, but no labels; put them into an array y, or into a file y.npy beside it, or "
                "name them with target="
            )
    (x, y), val, test = pairs
    if x is None:
        raise DataError(f"{path} holds samples to test on, but none to train on")
    return arrays_content(
        x,
        y,
        val=None if val[0] is None else val,
        test=None if test[0] is None else test,
        classes=arrays.classes,
        features=arrays.features,
        split=USUAL if split is None else split,
        seed=seed,
        name=name,
        like=like,
    )


def read_arrays(path: Path, target: str | None = None) -> Arrays:
    """Return samples and labels from a file.

    They are found by the names of the arrays, or for ``.npy`` of the files in the same folder: ``x`` and ``y``,
    ``data`` and ``target``, ``images`` and ``labels``, and so on; with ``train``, ``val`` or ``test`` before or after,
    they are these splits (``X_train``, ``test_labels``).

    Parameters
    ----------
    path : Path
        The file; of ``.npy`` the one with the samples.
    target : str, optional
        The name of the array that holds the labels.

    Raises
    ------
    DataError
        For a file that is damaged or cut short, objects in place of numbers, and arrays that nobody can tell apart.
    """
    if path.suffix.lower() == ".npy":
        return _beside(path, target)
    with opened_archive(path) as archive:
        members = {name.removesuffix(".npy"): name for name in archive.namelist() if name.endswith(".npy")}
        if {"indices", "indptr", "data"} <= members.keys():
            raise DataError(
                f"{path} holds a sparse matrix; save matrix.toarray() beside the labels with numpy.savez"
            )

        def load(name: str) -> NDArray[Any]:
            with archive.open(members[name]) as file:
                return _unpacked(
                    file, archive.getinfo(members[name]).file_size, f"array {name!r:.80} of {path}"
                )

        roles = {name: role_of(name) for name in members}
        x, y = _told_apart(path, roles if target is None else _with_target(path, roles, target))
        if not any(x) and len(members) == 2:
            x, y = _by_shape({name: load(name) for name in members})
        if not any(x) and not any(y) and len(members) == 1:
            x[0] = next(iter(members))
        if not any(x):
            raise DataError(
                f"{path} holds {listed(members)}, and none of these is called as samples are; call them x and y, or "
                "x_train, y_train, x_test, y_test"
            )
        asked = max(number for number in range(3) if x[number] is not None)
        return _loaded(x, y, load, members)._replace(asked=asked)


def _beside(path: Path, target: str | None) -> Arrays:
    """Return what is in a file with samples and in others of its folder that belong to it."""
    try:
        found = [file for file in path.parent.iterdir() if file.suffix.lower() == ".npy" and file.is_file()]
        files = {file.stem: file for file in found}
    except OSError:  # a folder that one may not look into
        files = {}
    files[path.stem] = path
    roles = {name: role_of(name) for name in files}
    mine = roles[path.stem] or Role(True, None, " ".join(_words(path.stem)))
    if not mine.is_x:
        theirs = [name for name, role in roles.items() if role == mine._replace(is_x=True)]
        if len(theirs) == 1:
            return _beside(files[theirs[0]], target)
        raise DataError(
            f"{path} is called as labels are; name the file with the samples, such as x.npy beside y.npy"
        )
    roles[path.stem] = mine
    # Labels are called after their samples (wine_labels.npy), or only labels.npy.
    own = any(role and not role.is_x and role.rest == mine.rest for role in roles.values())
    chosen = {
        name: role._replace(rest="")
        for name, role in roles.items()
        if role and role.rest == (mine.rest if role.is_x or own else "")
    }
    if target is not None:
        target = target.removesuffix(".npy")
        if target not in files:
            raise unknown_name(f"file beside {path}", f"{target}.npy", [f"{name}.npy" for name in files])
        chosen = {path.stem: mine._replace(rest=""), target: Role(False, mine.split, "")}
    chosen = {
        name: role
        for name, role in chosen.items()
        if (role.split is None) == (mine.split is None)
        and (role[:2] != mine[:2] or len(_words(name)) == len(_words(path.stem)))
    }
    x, y = _told_apart(path.parent, chosen)
    return _loaded(x, y, lambda name: _mapped(files[name]), ())._replace(asked=x.index(path.stem))


Names = list[str | None]


class Role(NamedTuple):
    """What an array is, by its name: samples or labels, of which split, and what else the name says."""

    is_x: bool
    split: int | None
    rest: str


def role_of(name: str) -> Role | None:
    """Return what an array is by its name; None where that does not tell.

    One name may hold words for both, as labels are called after their samples: ``samples_labels``, ``data_y``.

    Examples
    --------
    >>> role_of("X_train"), role_of("testLabels"), role_of("wine_y").rest, role_of("species")
    (Role(is_x=True, split=0, rest=''), Role(is_x=False, split=2, rest=''), 'wine', None)
    >>> role_of("samples_labels")
    Role(is_x=False, split=None, rest='')
    """
    words = _words(name)
    numbers = [number for word in words if (number := split_number(word)) is not None]
    roles = [word for word in words if word in _SAMPLES or word in _LABELS]
    if not roles or len(numbers) > 1:
        return None
    rest = " ".join(word for word in words if split_number(word) is None and word not in roles)
    return Role(not any(word in _LABELS for word in roles), numbers[0] if numbers else None, rest)


def _words(name: str) -> list[str]:
    """Return the words in a name: of ``X_train``, ``XTrain`` and ``xtrain`` the same."""
    words = [word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W_]+", name)]
    if len(words) == 1:
        return re.sub(rf"^({_SPLITS})(?=.)|(?<=.)({_SPLITS})$", r" \g<0> ", words[0]).split()
    return words


def _with_target(path: Path, roles: Mapping[str, Role | None], target: str) -> dict[str, Role | None]:
    """Return which array holds samples, where somebody has said which holds the labels."""
    if target not in roles:
        raise unknown_name(f"array in {path}", target, roles)
    others = [name for name in roles if name != target]
    called_so = [name for name in others if (role := roles[name]) and role.is_x and not role.rest]
    found = called_so or others
    if len(found) != 1:
        raise DataError(f"{path}: which array holds the samples of {target!r}? There are {listed(found)}")
    return {found[0]: Role(True, None, ""), target: Role(False, None, "")}


def _told_apart(where: Path, roles: Mapping[str, Role | None]) -> tuple[Names, Names]:
    """Return the names of samples and labels of each split."""
    x, y = Names([None] * 3), Names([None] * 3)
    for name, role in sorted(roles.items(), key=lambda entry: len(_words(entry[0]))):
        if role is None or role.rest:
            continue
        names, number = x if role.is_x else y, role.split or 0
        found = names[number]
        if found is not None and len(_words(found)) < len(_words(name)):
            continue  # of image and image_embeddings the shorter name
        if found is not None:
            raise DataError(
                f"{where} holds {found!r} and {name!r}, which are both called as "
                f"{'samples' if role.is_x else 'labels'} are; name the labels with target=, or keep one of them"
            )
        names[number] = name
    return x, y


def _by_shape(arrays: Mapping[str, NDArray[Any]]) -> tuple[Names, Names]:
    """Return which of two arrays are samples: the one with rows of numbers."""
    (first, a), (second, b) = arrays.items()
    if a.ndim > 1 and b.ndim == 1:
        return [first, None, None], [second, None, None]
    if b.ndim > 1 and a.ndim == 1:
        return [second, None, None], [first, None, None]
    return [None] * 3, [None] * 3


def _loaded(x: Names, y: Names, load: Callable[[str], NDArray[Any]], others: Collection[str]) -> Arrays:
    def texts(names: Sequence[str]) -> list[str] | None:
        found = next((load(name) for name in names if name in others), None)
        return None if found is None else [str(name) for name in found.reshape(-1).tolist()]

    return Arrays(
        [None if name is None else load(name) for name in x],
        [None if name is None else load(name) for name in y],
        texts(_CLASSES),
        texts(_FEATURES),
    )


def _mapped(path: Path) -> NDArray[Any]:
    """Return the array in a ``.npy`` file; a large one is mapped into memory."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            header = _header(file, size, str(path))
            if header.bytes < _MAPPED_FROM:
                return _filled(file, header, str(path))
            order: Literal["F", "C"] = "F" if header.fortran else "C"
            return np.memmap(file, header.dtype, "r", file.tell(), header.shape, order)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error


def _unpacked(file: IO[bytes], size: int, name: str) -> NDArray[Any]:
    """Return an array out of an archive."""
    return _filled(file, _header(file, size, name), name)


class _Header(NamedTuple):
    """What the header of an array says."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]

    @property
    def bytes(self) -> int:
        """How many the array has."""
        return math.prod(self.shape) * self.dtype.itemsize


def _header(file: IO[bytes], size: int, name: str) -> _Header:
    """Return the header of an array, checked before there is memory for it; the file then stands behind it."""
    begun = io.BytesIO(file.read(_MOST_IN_HEADER))
    try:
        header = _Header(*_READERS[np.lib.format.read_magic(begun)](begun))
    except Exception as error:  # headers are Python expressions, and can be wrong in every way
        raise DataError(f"{name} is no array that numpy has saved, or damaged; save it again") from error
    file.seek(begun.tell())
    if header.dtype.hasobject:
        raise DataError(
            f"{name} holds Python objects, which are never opened because they can run code; save numbers, and labels "
            "as texts with labels.astype(str)"
        )
    if not header.bytes:
        raise DataError(f"{name} is empty")
    there = size - begun.tell()
    if min(header.shape, default=0) < 0 or there < header.bytes:
        shape = " × ".join(map(str, header.shape))
        raise DataError(
            f"{name} is cut short: {shape} numbers of type {header.dtype} take {header.bytes:,} bytes, and there are "
            f"{there:,}; fetch or save it again"
        )
    return header


_READERS: dict[tuple[int, int], Callable[[IO[bytes]], tuple[Any, ...]]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def _filled(file: IO[bytes], header: _Header, name: str) -> NDArray[Any]:
    """Return an array, read a piece at a time."""
    array = empty_rows((math.prod(header.shape),), header.dtype)
    raw = array.view(np.uint8)
    for start in range(0, len(raw), _AT_ONCE):
        piece = file.read(min(_AT_ONCE, len(raw) - start))
        if len(piece) < min(_AT_ONCE, len(raw) - start):
            raise DataError(f"{name} is cut short; fetch or save it again")
        raw[start : start + len(piece)] = np.frombuffer(piece, np.uint8)
    return array.reshape(header.shape[::-1]).T if header.fortran else array.reshape(header.shape)
