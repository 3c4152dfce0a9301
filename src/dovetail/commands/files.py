"""Files that commands are given, and that they write.

Folders stand for the files in them, weights of other programs are told apart, and nothing that is there is replaced
without being asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FileFormatError, explained
from ..io.lock import take_lock
from ..io.plain import open_plain
from ..io.write import check_place, in_the_way

if TYPE_CHECKING:
    from ..specialists import Composite, Specialist, Sums

ENDING = ".safetensors"


def files_in(paths: Iterable[Path]) -> list[Path]:
    """Return files as they are, and for each folder the ``.safetensors`` files in it, by name.

    Raises
    ------
    FileFormatError
        For a folder without any.

    Examples
    --------
    >>> [file.name for file in files_in([Path("three.safetensors"), Path("eight.safetensors")])]
    ['three.safetensors', 'eight.safetensors']
    """
    return [file for path in paths for file in (_in_folder(path) if path.is_dir() else [path])]


def _in_folder(folder: Path) -> list[Path]:
    try:
        found = sorted(file for file in folder.iterdir() if file.suffix == ENDING and not file.is_dir())
    except OSError as error:
        raise FileFormatError(f"cannot read the folder {folder}: {error.strerror or error}") from error
    if not found:
        raise FileFormatError(
            f"the folder {folder} holds no {ENDING} files; dovetail train DATA -o {folder} puts specialists into it"
        )
    return found


@contextmanager
def working_in(folder: Path | None) -> Iterator[None]:
    """Make a folder and keep others from working in it; None for no folder.

    Raises
    ------
    DovetailError
        When another process is working there.
    """
    from ..specialists.files import make_folder

    if folder is None:
        yield
        return
    with explained(f"cannot write into the folder {folder}", "choose another"):
        lock = take_lock(make_folder(folder))
    with lock:
        yield


def check_free(path: Path, *, force: bool) -> None:
    """Refuse, before any work is done, a file that cannot be written, or whose place another has already.

    Examples
    --------
    >>> check_free(Path(__file__), force=False)
    Traceback (most recent call last):
    dovetail.errors.DovetailError: ...files.py is in the way; replace it (--force), or choose another name
    """
    check_place(path)
    if path.exists() and not force:
        raise in_the_way(path)


def open_parts(paths: Iterable[Path]) -> list[Specialist | Composite | Sums]:
    """Open files of specialists, composites and sums; a folder stands for all that are in it.

    Raises
    ------
    FileFormatError
        That says what a file is, where it is something else.
    """
    from ..specialists.files import open_part

    parts: list[Specialist | Composite | Sums] = []
    for path in files_in(paths):
        try:
            parts.append(open_part(path))
        except FileFormatError:
            _refuse_data(path)
            refuse_weights(path, "parts come from dovetail train and dovetail sums")
            raise
    return parts


def _refuse_data(path: Path) -> None:
    """Say of a file of data that it is one, and that parts come first; nothing of others."""
    from ..data.own.kinds import kind_by_ending

    if path.is_file() and kind_by_ending(path.name) is not None:
        raise FileFormatError(
            f"{path} is data, and a file of parts, or a folder of such, is wanted here; dovetail train {path} -o "
            "parts/ trains parts on it"
        )


def refuse_weights(path: Path, instead: str) -> None:
    """Say of a file with weights of an ordinary network what it is, and what can be done with it; nothing of others.

    Parameters
    ----------
    path : Path
        What could not be opened.
    instead : str
        Where what was wanted comes from.

    Raises
    ------
    FileFormatError
        For such a file, and for one of whole Python objects, which are never loaded.
    """
    from ..io.checkpoint import is_safetensors, load_checkpoint
    from ..io.header import read_header

    if not path.is_file() or not (is_safetensors(path) or _is_torch(path)):
        return
    if is_safetensors(path) and read_header(path):
        return  # one of ours; what is wrong with it has been said
    names = list(load_checkpoint(path))
    raise FileFormatError(
        f"{path} holds the weights of an ordinary network (a state dict of {len(names)} tensors, the first is "
        f"{names[0]!r:.60}); dovetail audit {path} and dovetail modules {path} look into it; {instead}"
    )


def _is_torch(path: Path) -> bool:
    """Whether a file may be one of `torch.save`, by its first bytes: an archive, or a pickle as it once was."""
    with open_plain(path) as file:
        return file.read(2) in (b"PK", b"\x80\x02")
