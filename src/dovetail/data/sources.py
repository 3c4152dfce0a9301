"""Sources of a data set's files: a folder of the user's, the cache, or a checked download."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ..errors import DataError

_RETRIES = 1
"""After a connection that broke off, or a file whose hash was wrong."""


@dataclass(frozen=True)
class Download:
    """A file on the network and the SHA-256 its bytes must have."""

    url: str
    sha256: str

    @property
    def file(self) -> str:
        """The name it is saved under."""
        return unquote(self.url.rsplit("/", 1)[1])


@dataclass(frozen=True)
class Source:
    """The official files of a data set.

    Attributes
    ----------
    files : tuple of str
        What must be there for the data set to be complete, under the official names.
    downloads : tuple of Download
        The files themselves, or one archive that holds them.
    archive_folder : str
        Folder that the archive unpacks to; empty where the files are downloaded as they are.
    """

    files: tuple[str, ...]
    downloads: tuple[Download, ...]
    archive_folder: str = ""

    def complete_in(self, folder: Path) -> Path | None:
        """Return the folder with all files: this one, or the archive's folder inside it."""
        try:
            for place in (folder, folder / self.archive_folder):
                if all((place / file).is_file() for file in self.files):
                    return place
        except OSError as error:
            raise DataError(f"cannot look into {folder} ({error.strerror}); make it readable") from error
        return None


def find(name: str, source: Source, root: str | Path | None = None) -> Path | None:
    """Return the folder with all files of a data set, or None: the user's first, then the cache."""
    own = cache = None
    with suppress(DataError):  # a data folder that is not there holds nothing; loading from it says so
        own = _own_folder(name, root)
    with suppress(DataError):  # nor does a cache for which there is no place
        cache = cache_folder(name)
    return (own and source.complete_in(own)) or (cache and source.complete_in(cache))


def open_source(name: str, source: Source, root: str | Path | None = None) -> Path:
    """Return the folder to read a data set from; download what is in neither the user's folder nor the cache.

    Files in the user's folder are taken as they are, since people compress anew: their content is checked
    when it is read. Files that Dovetail downloaded earlier must still have the official hash.
    """
    own = _own_folder(name, root)
    if own and (found := source.complete_in(own)):
        return found
    if not (cached := source.complete_in(cache_folder(name))):
        return fetch(name, source, root)
    if not source.archive_folder:
        for download in source.downloads:
            _check_hash(cached / download.file, download, f"delete it, or run: dovetail data get {name}")
    return cached


def fetch(name: str, source: Source, root: str | Path | None = None) -> Path:
    """Return the folder with a data set's files, after downloading those that are missing or altered."""
    own = _own_folder(name, root)
    if own and (found := source.complete_in(own)):
        return found
    cache = cache_folder(name)
    by_hand = _by_hand(source, own or cache)
    try:
        if not (source.archive_folder and source.complete_in(cache)):
            for download in source.downloads:
                _retrieve(source, download, cache, by_hand)
    except OSError as error:
        raise DataError(
            f"cannot write to the cache folder {cache} ({error}); set $DOVETAIL_CACHE to a folder that you "
            f"can write to, or {by_hand}"
        ) from error
    found = source.complete_in(cache)
    if found is None:
        raise DataError(f"{name}: {', '.join(source.files)} not all in {cache} after the download; {by_hand}")
    return found


def _retrieve(source: Source, download: Download, cache: Path, by_hand: str) -> None:
    """Download into the cache unless it is there already: a file, or those in an archive, which is then removed.

    What is not there whole is not there at all: pooch moves a file to its name once its hash is right, and an
    archive's folder is renamed once all of its files are in it.
    """
    pooch = _pooch()
    pooch.get_logger().setLevel("WARNING")  # the bar says it already
    bar = DownloadProgress(download.file)
    store = pooch.create(
        path=cache,
        base_url="",
        registry={download.file: f"sha256:{download.sha256}"},
        urls={download.file: download.url},
        retry_if_failed=_RETRIES,
    )
    unpacked = cache / f"unpacking-{secrets.token_hex(4)}"
    unpack = None
    if source.archive_folder:
        members = [f"{source.archive_folder}/{file}" for file in source.files]
        unpack = (pooch.Unzip if download.file.endswith(".zip") else pooch.Untar)(members, unpacked.name)
    try:
        store.fetch(download.file, unpack, pooch.HTTPDownloader(progressbar=bar))
        if unpack:
            # Another process may have unpacked the same archive meanwhile; what it put there is just as good.
            if not source.complete_in(cache):
                shutil.rmtree(cache / source.archive_folder, ignore_errors=True)
                (unpacked / source.archive_folder).rename(cache / source.archive_folder)
            (cache / download.file).unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and not _is_of_network(error):
            raise
        raise DataError(
            f"could not download {download.url} ({_reason(error)}), and nothing was kept; try again later, or without "
            f"a network, {by_hand}"
        ) from error
    finally:
        bar.close()
        shutil.rmtree(unpacked, ignore_errors=True)


def _is_of_network(error: OSError) -> bool:
    import requests

    return isinstance(error, requests.exceptions.RequestException)


def _reason(error: Exception) -> str:
    """Return why a download failed in a few words; a failed connection's own message is a nest of objects."""
    import requests

    if isinstance(error, requests.exceptions.ConnectionError | requests.exceptions.Timeout):
        return "no connection to the server"
    return str(error).partition(" Deleted download")[0]  # pooch on a wrong hash: it has been deleted


def _check_hash(path: Path, download: Download, way_out: str) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error}); {way_out}") from error
    if found != download.sha256:
        raise DataError(
            f"{path} was altered or truncated: expected sha256 {download.sha256}, found {found}; {way_out}"
        )


def _own_folder(name: str, root: str | Path | None) -> Path | None:
    given = root or os.environ.get("DOVETAIL_DATA")
    if not given:
        return None
    folder = expand_user(given)
    try:
        if folder.is_dir():
            return folder / name
        problem = (
            "is not a folder; name one" if folder.exists() else "does not exist; create it, or name another"
        )
    except OSError as error:
        problem = f"cannot be looked into ({error.strerror}); make it readable, or name another"
    raise DataError(f"the data folder {folder} ({'root' if root else '$DOVETAIL_DATA'}) {problem}")


def cache_folder(name: str) -> Path:
    """Return the folder in the cache under a name: ``$DOVETAIL_CACHE``, or what the system has for caches.

    Raises
    ------
    DataError
        When there is neither.
    """
    given = os.environ.get("DOVETAIL_CACHE") or _system_cache()
    return expand_user(given) / name


def _system_cache() -> Path:
    """Return the folder of ours among the caches of the user, who need not have a home."""
    place = None
    with suppress(RuntimeError):  # newer versions of what pooch asks say so, older ones return "~/.cache"
        place = Path(_pooch().os_cache("dovetail"))
    if place is None or not place.is_absolute():
        raise DataError(
            "there is no folder for the cache, because you have no home folder ($HOME is not set); set $DOVETAIL_CACHE "
            "to a folder that you can write to, and $DOVETAIL_DATA to one with the data that you have"
        )
    return place


def expand_user(folder: str | Path) -> Path:
    """Return a folder with ``~`` as the user's own; one of a user who does not exist stays, to be not found.

    Examples
    --------
    >>> expand_user("~nobody-of-this-name/data").name
    'data'
    """
    return Path(os.path.expanduser(folder))  # noqa: PTH111 (Path.expanduser fails for such a user)


def _pooch() -> ModuleType:
    try:
        import pooch
    except ImportError as error:
        raise DataError(
            "downloading data needs the package pooch, which is not installed; install it, or set both "
            "$DOVETAIL_DATA (your data) and $DOVETAIL_CACHE (an empty folder will do)"
        ) from error
    module: ModuleType = pooch
    return module


def _by_hand(source: Source, folder: Path) -> str:
    url = source.downloads[0].url
    if source.archive_folder:
        first = folder / source.archive_folder / source.files[0]
        return f"fetch {url} by hand and unpack it so that {first} exists"
    put = f"in {folder}, or in $DOVETAIL_DATA/{folder.name}"
    if len(source.downloads) == 1:
        return f"fetch {url} by hand and put it {put}"
    # All official files of a set lie side by side.
    return f"fetch {', '.join(source.files)} by hand from {url.rpartition('/')[0]}/ and put them {put}"


class DownloadProgress:
    """What pooch expects of a progress bar: it sets ``total``, then calls ``update``, ``reset`` and ``close``."""

    def __init__(self, title: str) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=None)
        self._bar.start()

    @property
    def total(self) -> float | None:
        """Size of the file in bytes, when it is known."""
        return self._bar.tasks[0].total

    @total.setter
    def total(self, size: int) -> None:
        self._bar.update(self._task, total=size)

    def update(self, size: int) -> None:
        """Count bytes that have arrived."""
        self._bar.advance(self._task, size)

    def reset(self) -> None:
        """Start counting again; pooch does so before it closes."""
        self._bar.update(self._task, completed=0)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()
