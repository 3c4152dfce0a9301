"""Headers: what a ``.safetensors`` file of ours says about itself, read without its tensors."""

from __future__ import annotations

from pathlib import Path

from ..errors import FileFormatError
from .fields import parse, refuse_newer

KEY = "dovetail"
"""The entry of a file's metadata that is ours; its value is a JSON object with a ``schema``."""
_SCHEMAS = ("dovetail/2", "dovetail.sums/1", "dovetail.sculpture/1")
"""Of parts, of sums and of sculpted networks: the newest that this version reads."""


def read_header(path: Path) -> dict[str, object]:
    """Return what Dovetail has put into a file; empty for a file of someone else.

    Raises
    ------
    FileFormatError
        When it is no safetensors file, is cut short, cannot be read, or needs a newer version.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get(KEY)
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
