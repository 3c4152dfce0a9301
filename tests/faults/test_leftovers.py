"""What a kill leaves of a file that was being written goes when the file is written again, and not before its time."""

from __future__ import annotations

import os
import time
from pathlib import Path

from dovetail.io.write import write_whole


def test_only_abandoned_leftovers_of_the_same_file_go(tmp_path: Path) -> None:
    names = (
        ".a.txt.0123abcd.part",
        ".b.txt.0123abcd.part",
        "a.txt.part",
        ".a.txt.0123abcd",
        ".a.txt.ffffffff.part",
    )
    for name in names:
        (tmp_path / name).write_text("half")
        if "ffffffff" not in name:  # which another process is writing now
            os.utime(tmp_path / name, (time.time() - 7200,) * 2)
    write_whole(tmp_path / "a.txt", lambda path: path.write_text("whole"))
    assert {path.name for path in tmp_path.iterdir()} == {*names[1:], "a.txt"}
