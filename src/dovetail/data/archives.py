"""Taking known files out of a downloaded archive, all or nothing."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .damage import damaged


def unpack(archive: Path, folder: str, files: tuple[str, ...]) -> Path:
    """Replace a zip or tar archive by ``folder/file`` from inside it, for each of the files.

    Only the files asked for are written, under the names asked for, so no name inside an archive ever decides
    where something is written. The folder appears in one step once all files are in it.
    """
    target = archive.parent / folder
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix="unpacking-") as temporary:
        fresh = Path(temporary) / folder
        wanted = {f"{folder}/{file}": fresh / file for file in files}
        try:
            for name, content in _members(archive):
                if name in wanted:
                    path = wanted.pop(name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with path.open("wb") as file:
                        shutil.copyfileobj(content, file)
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
            raise damaged(archive, f"cannot be unpacked ({error})") from error
        if wanted:
            raise damaged(archive, f"does not hold {', '.join(wanted)}")
        # Another process may have unpacked the same archive meanwhile; what it put there is just as good.
        if not all((target / file).is_file() for file in files):
            shutil.rmtree(target, ignore_errors=True)
            fresh.rename(target)
    archive.unlink(missing_ok=True)
    return target


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the name and content of every plain file, in the order of the archive."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for entry in zipped.infolist():
                if not entry.is_dir():
                    with zipped.open(entry) as content:
                        yield entry.filename, content
    else:
        with tarfile.open(archive) as tarred:
            for member in tarred:
                if member.isfile() and (stream := tarred.extractfile(member)):
                    yield member.name, stream
