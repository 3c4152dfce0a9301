"""What is in a zip archive, which a file of PyTorch is, told without reading what is in it."""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path

from ...errors import FileFormatError

_MOST_DIRECTORY_BYTES = 4 * 2**20
"""Of the list of entries at the end: some forty thousand tensors. Python takes a second for that many."""

# The format's last two records, and where each says how long the list of entries is.
_END, _END_SIGN, _END_LENGTH = 22, b"PK\x05\x06", struct.Struct("<12xL")
_LARGE, _LARGE_SIGN, _LARGE_LENGTH = 56, b"PK\x06\x06", struct.Struct("<40xQ")
_BETWEEN = 20
"""Bytes of a record between the two, which says where the first is."""
_LONGEST_COMMENT = 2**16


def unpacked_bytes(path: Path) -> int | None:
    """Return how many bytes an archive unpacks to; None for a file that is none.

    Raises
    ------
    FileFormatError
        When the archive is damaged, or has far more entries than a network has tensors.
    """
    if not zipfile.is_zipfile(path):
        return None
    if _directory_bytes(path) > _MOST_DIRECTORY_BYTES:
        raise FileFormatError(f"{path.name!r} has more entries than a network has tensors")
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        raise FileFormatError(f"{path.name!r} is damaged or cut short ({str(error)[:100]})") from error


def _directory_bytes(path: Path) -> int:
    """Return how long an archive's list of entries is, by whichever of its last records says more."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _LARGE - _BETWEEN - _END - _LONGEST_COMMENT))
        tail = file.read()
    end = len(tail) - _END if tail[-_END:].startswith(_END_SIGN) else tail.rfind(_END_SIGN)
    (length,) = _END_LENGTH.unpack_from(tail, end)
    large = end - _BETWEEN - _LARGE  # of archives with more than the short record can say
    if large >= 0 and tail.startswith(_LARGE_SIGN, large):
        length = max(length, _LARGE_LENGTH.unpack_from(tail, large)[0])
    return int(length)
