"""Yeast: a text file, changed in its words or bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.data import load

from .data_files import changed, one_changed, put, yeast_files
from .many import fuzz

pytestmark = pytest.mark.slow


def test_no_file_breaks_the_reader(tmp_path: Path) -> None:
    files = yeast_files()
    folder = tmp_path / "yeast"
    put(folder, files)

    def read(one: tuple[str, bytes]) -> None:
        with changed(folder, *one):
            load("yeast", tmp_path, shortened=True)  # small files get further

    fuzz("yeast", one_changed(files, words=True), read)
