"""Files are written whole or not at all; what stands in the way is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.errors import DovetailError
from dovetail.io.write import write_whole


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/a.txt", "there is no folder"),
        ("a" * 300, "File name too long"),
        ("a" * 300 + "/b", "File name too long"),
        ("a\0b", "null (byte|character)"),
        ("folder", "it is a folder"),
    ],
)
def test_what_cannot_be_written_is_said_and_leaves_nothing(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(DovetailError, match=f"cannot write .*{reason}"):
        write_whole(tmp_path / name, lambda path: path.write_text("all of it"))
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
