"""Official files: read so that whatever is wrong with one is reported with its path and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError

MOST_BYTES = 2**28
"""Of a file, also unpacked: several times as many as any official one has."""


@dataclass(frozen=True)
class Files:
    """The official files of a data set.

    Attributes
    ----------
    folder : Path
        Where they are.
    shortened : bool
        Whether files with other numbers of samples than the official ones will do.
    """

    folder: Path
    shortened: bool = False

    def check_count(self, path: Path, what: str, found: int, official: int) -> None:
        """Refuse a file of the right form that was cut short, or stands under another file's name."""
        if not self.shortened and found != official:
            raise damaged(path, f"holds {found:,} {what}, but the official file {official:,}")


def damaged(path: Path, problem: str) -> DataError:
    """Return the error for a file that does not hold what the official one holds.

    Examples
    --------
    >>> print(damaged(Path("yeast.data"), "is empty"))
    yeast.data is empty: it was altered or truncated. Delete it and fetch the official file again
    """
    way_out = "Delete it and fetch the official file again"
    return DataError(f"{path} {problem}: it was altered or truncated. {way_out}")


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes; a file that is empty, far too large or cannot be read is a ``DataError``."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error}); check that you may read it") from error
    if len(content) > MOST_BYTES:
        raise damaged(path, f"has more than {MOST_BYTES:,} bytes")
    if not content:
        raise damaged(path, "is empty")
    return content


def read_lines(path: Path) -> list[str]:
    """Return a text file's lines, without empty ones; anything but plain ASCII text is a ``DataError``."""
    try:
        text = read_bytes(path).decode("ascii")
    except UnicodeDecodeError as error:
        raise damaged(path, f"is not plain text (byte {error.start})") from error
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise damaged(path, "holds no lines")
    return lines
