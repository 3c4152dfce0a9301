"""Headers: what a ``.safetensors`` file of ours says about itself, read without its tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import FileFormatError
from .fields import parse, refuse_newer
from .plain import opened_tensors

KEY = "dovetail"
"""The entry of a file's metadata that is ours; its value is a JSON object with a ``schema``."""
_SCHEMAS = ("dovetail/2", "dovetail.sums/1", "dovetail.sculpture/1")
"""Of parts, of sums and of sculpted networks: the newest that this version reads."""
_MOST_CHARACTERS = 2**24
"""Of a manifest; that of a thousand specialists has about one million."""


def manifest_in(file: Any) -> str | None:
    """Return the text that Dovetail has put into an opened file; None for a file of someone else.

    Raises
    ------
    FileFormatError
        When it is longer than that of any part.
    """
    text: str | None = (file.metadata() or {}).get(KEY)
    if text is not None and len(text) > _MOST_CHARACTERS:
        raise FileFormatError(
            f"its manifest has {len(text):,} characters, and at most {_MOST_CHARACTERS:,} are read"
        )
    return text


def read_header(path: Path) -> dict[str, object]:
    """Return what Dovetail has put into a file; empty for a file of someone else.

    Raises
    ------
    FileFormatError
        When it is no safetensors file, is cut short, cannot be read, or needs a newer version.
    """
    from safetensors import SafetensorError

    try:
        with opened_tensors(path) as file:
            text = manifest_in(file)
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror or error}") from error
    except SafetensorError as error:
        raise FileFormatError(f"{path} is not a safetensors file, or is cut short ({error})") from None
    if text is None:
        return {}
    try:
        content = parse(text)
    except FileFormatError as error:
        raise FileFormatError(f"{path} has a damaged manifest: {error}") from None
    if not isinstance(content, dict):
        return {}
    try:
        for schema in _SCHEMAS:
            refuse_newer(content, schema)
    except FileFormatError as error:
        raise FileFormatError(f"{path} cannot be used: {error}") from None
    return content
