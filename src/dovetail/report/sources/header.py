"""What a ``.safetensors`` file says about itself, read without its tensors."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ...errors import FileFormatError


def read_header(path: Path) -> dict[str, object]:
    """Return the manifest that Dovetail has put into a file; empty for a file of someone else.

    Raises
    ------
    FileFormatError
        When it is no safetensors file, is cut short, or cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get("dovetail", "{}")
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror or error}") from error
    except SafetensorError as error:
        raise FileFormatError(f"{path} is not a safetensors file, or is cut short ({error})") from None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise FileFormatError(f"{path} has a manifest that is not JSON: it was altered or damaged") from None
    return content if isinstance(content, dict) else {}


def tensor_files(folder: Path) -> list[Path]:
    """Return a folder's ``.safetensors`` files, by name with numbers in their order."""
    return sorted((path for path in folder.glob("*.safetensors") if path.is_file()), key=_by_number)


def _by_number(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name)]
