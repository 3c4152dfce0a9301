"""Text lines of a file or a stream, one at a time, none longer than memory holds."""

from __future__ import annotations

import codecs
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, cast

from ...errors import DataError

MOST_BYTES = 2**31
"""Of a file or stream of text."""

MOST_CHARACTERS = 2**24
"""Bytes of a line; a file without line ends is no text."""

_KEPT_IN_MEMORY = 2**26
"""Bytes of a stream; what is longer goes into a temporary file."""

_AT_ONCE = 2**20
_OTHER_UNICODE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TextLines:
    r"""The lines of a file or stream of UTF-8 text, which can be gone through more than once.

    Attributes
    ----------
    name : str
        What messages call it.

    Examples
    --------
    >>> import io
    >>> with TextLines(io.StringIO("a,b\n1,2")) as lines:
    ...     list(lines), len(list(lines))
    (['a,b\n', '1,2'], 2)
    """

    def __init__(self, source: str | Path | IO[Any]) -> None:
        with ExitStack() as opened:
            if isinstance(source, str | Path):
                self.name = str(source)
                self._file = opened.enter_context(self._opened(Path(source)))
            else:
                name = getattr(source, "name", None)  # of a stream without a file, it is a number
                self.name = name if isinstance(name, str) else "the input"
                self._file = opened.enter_context(self._new_file())
                self._copy(source)
            self._closing = opened.pop_all()

    def __enter__(self) -> TextLines:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def __iter__(self) -> Iterator[str]:
        """Yield each line with its end."""
        try:
            self._file.seek(0)
            number = 0
            while line := self._file.readline(MOST_CHARACTERS):
                number += 1
                if number == 1:
                    self._check_start(line)
                    line = line.removeprefix(codecs.BOM_UTF8)
                if len(line) == MOST_CHARACTERS and not line.endswith(b"\n"):
                    raise self.wrong(
                        number, f"is longer than {MOST_CHARACTERS:,} bytes, so this is no such file"
                    )
                try:
                    yield line.decode()
                except UnicodeDecodeError as error:
                    raise self.wrong(
                        number,
                        f"is not UTF-8 (byte {error.start + 1}: {line[error.start]:#x}); save the file as UTF-8",
                    ) from None
        except OSError as error:
            raise DataError(f"{self.name} cannot be read ({error.strerror or error})") from error

    def wrong(self, number: int, what: str) -> DataError:
        """Return the error for a line, counted from 1, and what is wrong with it."""
        return DataError(f"{self.name}: line {number:,} {what}")

    def _check_start(self, line: bytes) -> None:
        if line.startswith(_OTHER_UNICODE):
            raise DataError(f"{self.name} is text in UTF-16, as some programs save it; save it as UTF-8")
        if line.startswith(b"PK\3\4"):
            raise DataError(
                f"{self.name} is no text but an archive or a workbook; save a sheet of it as .csv"
            )

    def _opened(self, path: Path) -> IO[bytes]:
        try:
            if not path.is_file():
                raise DataError(f"there is no file {path}; check the path")
            if path.stat().st_size > MOST_BYTES:
                raise self._too_large()
            return path.open("rb")
        except (OSError, ValueError) as error:  # a ValueError for bytes of 0 in a path
            raise DataError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error})") from error

    def _new_file(self) -> IO[bytes]:
        """Return a file for a stream, which can be read only once."""
        return cast(IO[bytes], tempfile.SpooledTemporaryFile(_KEPT_IN_MEMORY))

    def _copy(self, stream: IO[Any]) -> None:
        if not hasattr(stream, "read"):
            raise DataError(f"texts are read from a path or an open file, not {type(stream).__name__}")
        size = 0
        try:
            while some := stream.read(_AT_ONCE):
                # What a terminal could not decode is kept as it was, and found when it is read.
                some = some.encode(errors="surrogateescape") if isinstance(some, str) else some
                size += len(some)
                if size > MOST_BYTES:
                    raise self._too_large()
                self._file.write(some)
        except UnicodeDecodeError as error:
            raise DataError(f"{self.name} is not UTF-8 ({error.reason}); save it as UTF-8") from None
        except OSError as error:
            raise DataError(f"{self.name} cannot be read ({error.strerror or error})") from error

    def _too_large(self) -> DataError:
        return DataError(
            f"{self.name} has more than {MOST_BYTES / 2**30:g} GiB of text; read it in parts, or make arrays of it "
            "(.npy), which may be larger than memory"
        )
