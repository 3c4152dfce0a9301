"""Human activities: two text files for each part, one of them changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.data import load

from .data_files import changed, har_files, one_changed, put
from .many import fuzz

pytestmark = pytest.mark.slow


def test_no_file_breaks_the_reader(tmp_path: Path) -> None:
    files = har_files()
    folder = tmp_path / "har"
    put(folder, files)

    def read(one: tuple[str, bytes]) -> None:
        with changed(folder, *one):
            load("har", tmp_path, shortened=True, features="time")  # small files get further

    fuzz("har", one_changed(files, words=True), read)
