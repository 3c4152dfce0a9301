"""The repository, as the tests of what is made from it compare with."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/dovetail"


def package_files(folder: Path = PACKAGE) -> set[str]:
    """Return the files of a copy of the package, without what Python has compiled."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
