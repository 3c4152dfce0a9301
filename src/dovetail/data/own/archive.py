"""An archive (``.zip``): what is in it is looked at before anything is unpacked, and goes away again afterwards."""

from __future__ import annotations

import io
import lzma
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from ...errors import DataError, DovetailError
from ..sources import cache_folder
from .kinds import kind_by_ending
from .progress import shown
from .wording import listed

MOST_FILES = 1_000_000
MOST_UNPACKED = 2**36
"""Bytes of all files together."""

_UNSUSPICIOUS = 2**30
"""Bytes that any archive may unpack to."""

_MOST_PACKED = 100
"""How many times larger than the archive its files may be; pictures and tables come to a tenth of that."""

_MOST_IN_LIST = 2**27
"""Bytes of the list of files, which is read into memory."""

_ROOM = 2**28
"""Bytes that are left free on the disk."""


@contextmanager
def opened_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a ``.zip`` or ``.npz`` file once its list of files says that it is harmless.

    Raises
    ------
    DataError
        For one that is damaged, encrypted, far too large when unpacked, or leads out of its folder: now, or while it
        is being read.
    """
    try:
        with _Guarded(path) as file, _listed_in(file) as archive:
            _check(path, archive.infolist(), path.stat().st_size)
            yield archive
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, struct.error, ValueError) as error:
        raise DataError(f"{path} is damaged, or no zip archive ({error}); fetch or pack it again") from error
    except NotImplementedError as error:
        raise DataError(
            f"{path} is packed in a way that is not read ({error}); pack it as plain zip"
        ) from error
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error


def _listed_in(file: IO[bytes]) -> zipfile.ZipFile:
    """Return an archive with its list of files."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        raise
    except Exception as error:  # numbers in a damaged list are not looked at before they are used
        raise zipfile.BadZipFile(str(error)) from error
    if not all(info.filename for info in archive.infolist()):
        raise zipfile.BadZipFile("a file without a name")
    return archive


class Unpacked(NamedTuple):
    """What was in an archive.

    Attributes
    ----------
    place : Path
        The file with a table, texts or arrays, or the folder with pictures.
    root : Path
        The folder that it was unpacked into.
    archive : Path
        Where it comes from.
    """

    place: Path
    root: Path
    archive: Path

    def named(self, text: str) -> str:
        """Return a text with the archive in place of the folder, which nobody has seen."""
        return text.replace(str(self.root), str(self.archive))


@contextmanager
def unpacked(path: Path) -> Iterator[Unpacked]:
    """Unpack the data in an archive, and take it away again at the end.

    Raises
    ------
    DataError
        As `opened_archive`; and for an archive without data, or with several of which one is to be chosen.
    """
    folder = cache_folder("unpacked")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(dir=folder)
    except OSError as error:
        raise DataError(
            f"cannot unpack {path} into {folder} ({error.strerror or error}); set $DOVETAIL_CACHE to a folder that you "
            "can write to"
        ) from error
    with temporary as name:
        inside = Unpacked(Path(name), Path(name), path)
        try:
            yield inside._replace(place=_unpack(path, inside.root))
        except DovetailError as error:
            raise type(error)(inside.named(str(error))) from error


def _unpack(path: Path, root: Path) -> Path:
    """Unpack pictures, or the file with data, into a folder; return which of it is the data."""
    with opened_archive(path) as archive:
        files = _chosen(path, archive.infolist())
        size = sum(info.file_size for info in files)
        free = shutil.disk_usage(root).free
        if size + _ROOM > free:
            raise DataError(
                f"{path} unpacks to {size / 2**30:,.1f} GiB, and {root.parent} has room for {free / 2**30:,.1f}; set "
                "$DOVETAIL_CACHE to a folder with more room"
            )
        for info in shown(files, f"unpacking {path.name}"):
            place = root.joinpath(info.filename)
            with archive.open(info) as packed, _new_file(place, path) as out:
                shutil.copyfileobj(packed, out, 2**20)
    # Of arrays beside each other any one finds the others.
    return root if kind_by_ending(files[0].filename) == "picture" else root.joinpath(files[0].filename)


@contextmanager
def _new_file(place: Path, archive: Path) -> Iterator[IO[bytes]]:
    """Open a new file, so that nothing is written through what an archive itself has put there."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as out:
            yield out
    except FileExistsError:
        raise DataError(
            f"{archive} holds {place} twice; unpack it yourself, and name what is in it"
        ) from None
    except OSError as error:
        raise DataError(f"cannot unpack {place} ({error.strerror or error}); unpack it yourself") from error


def _chosen(path: Path, infos: Sequence[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Return the files to unpack: all pictures if there are any, else the one file with data, or arrays."""
    by_kind: dict[str, list[zipfile.ZipInfo]] = {}
    for info in infos:
        if _is_data(info):
            by_kind.setdefault(str(kind_by_ending(info.filename)), []).append(info)
    if "picture" in by_kind:
        return by_kind["picture"]
    # Beside a table or arrays, texts are what people have to say about them.
    found = [*by_kind.get("table", []), *by_kind.get("arrays", [])] or by_kind.get("texts", [])
    if not found:
        raise DataError(
            f"{path} holds no data that is read; it holds {listed(info.filename for info in infos)}"
        )
    if len(found) > 1 and not all(info.filename.lower().endswith(".npy") for info in found):
        names = listed(info.filename for info in found)
        raise DataError(f"{path} holds several files with data ({names}); unpack it, and name one of them")
    return found


def _is_data(info: zipfile.ZipInfo) -> bool:
    parts = PurePosixPath(info.filename).parts
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    return (
        not info.is_dir() and not hidden and not _is_link(info) and kind_by_ending(info.filename) is not None
    )


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


def _check(path: Path, infos: Sequence[zipfile.ZipInfo], packed: int) -> None:
    """Refuse an archive by its list of files; of no file more is unpacked than the list says."""
    if len(infos) > MOST_FILES:
        raise DataError(
            f"{path} holds {len(infos):,} files, and {MOST_FILES:,} are the most; unpack it in parts"
        )
    size = sum(info.file_size for info in infos)
    if size > min(MOST_UNPACKED, max(_UNSUSPICIOUS, _MOST_PACKED * packed)):
        raise DataError(
            f"{path} has {packed:,} bytes and would unpack to {size:,}, far more than data does; unpack it yourself if "
            "you trust it, and name what is in it"
        )
    for info in infos:
        name = PurePosixPath(info.filename)
        if name.is_absolute() or ".." in name.parts or "\\" in info.filename or ":" in info.filename[:2]:
            raise DataError(
                f"{path} holds a file that leads out of its folder ({info.filename!r:.80}); do not unpack it"
            )
        if info.flag_bits & 1:
            raise DataError(f"{path} is encrypted; unpack it yourself, and name what is in it")
        if kind_by_ending(info.filename) == "archive" and not info.is_dir():
            raise DataError(
                f"{path} holds another archive ({info.filename!r:.80}); unpack it yourself, and name that"
            )


class _Guarded(io.FileIO):
    """A file of which nobody reads so much at once that memory is filled."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes."""
        if size is not None and size > _MOST_IN_LIST:
            raise zipfile.BadZipFile(f"a list of files of {size:,} bytes")
        return super().read(-1 if size is None else size)
