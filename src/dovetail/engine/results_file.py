"""``results.jsonl``: one line for each finished unit, written once and never changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..errors import FileFormatError, explained
from ..io.fields import take
from ..recipes import Finished, Unit
from ..recipes.unit import canonical
from .folder_files import open_own

NAME = "results.jsonl"
_DAMAGED = (
    AttributeError, FileFormatError, KeyError, OverflowError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""What reading a line ends with that no unit has written."""


def read_results(path: Path) -> dict[str, Finished]:
    """Return the finished units of a file by key; a last line that was cut off does not count.

    Raises
    ------
    FileFormatError
        If another line is damaged.
    """
    found: dict[str, Finished] = {}
    for number, line in enumerate(_whole_lines(path), 1):
        try:
            content = json.loads(line)
            row = take(content, "row", dict)
            if not row:  # it would count as done with nothing in it
                raise ValueError("an empty row")
            found[take(content, "key", str)] = Finished(
                Unit(take(content, "work", str), take(content, "settings", dict)), row, float(content["seconds"]),
                content["device"], content["dovetail"], content.get("commit", ""),
            )  # fmt: skip
        except _DAMAGED as error:
            raise FileFormatError(
                f"line {number} of {path} is damaged; delete that line, and its unit will be done again"
            ) from error
    return found


def add_results(path: Path, finished: Iterable[Finished]) -> None:
    """Add finished units; when this returns, they are on the disk.

    Raises
    ------
    DovetailError
        If the file cannot be written.
    """
    lines = [
        canonical(
            {
                "key": one.unit.key,
                "work": one.unit.work,
                "settings": one.unit.settings,
                "row": one.row,
                "seconds": one.seconds,
                "device": one.device,
                "dovetail": one.version,
                "commit": one.commit,
            }
        )
        for one in finished
    ]
    if not lines:
        return
    with explained(f"cannot write {path}"), open_own(path, "a") as file:
        file.write("".join(line + "\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())


def mend(path: Path) -> None:
    """Cut off a last line that a power cut or a kill has left unfinished, so that the next one starts a line.

    Raises
    ------
    DovetailError
        If the file cannot be written.
    """
    if path.exists():
        whole = sum(len(line) + 1 for line in _whole_lines(path))
        with explained(f"cannot write {path}"):
            if whole < path.stat().st_size:
                with open_own(path, "r+b") as file:
                    file.truncate(whole)


def _whole_lines(path: Path) -> list[bytes]:
    with explained(f"cannot read {path}"), suppress(FileNotFoundError), open_own(path, "rb") as file:
        content: bytes = file.read()
        return content.split(b"\n")[:-1]
    return []
