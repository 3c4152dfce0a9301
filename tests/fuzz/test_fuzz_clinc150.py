"""CLINC150: one JSON file, changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.data import load

from .data_files import changed, clinc150_files, one_changed, put
from .many import fuzz

pytestmark = pytest.mark.slow


def test_no_file_breaks_the_reader(tmp_path: Path) -> None:
    files = clinc150_files()
    folder = tmp_path / "clinc150"
    put(folder, files)

    def read(one: tuple[str, bytes]) -> None:
        with changed(folder, *one):
            load("clinc150", tmp_path, shortened=True)  # small files get further

    fuzz("clinc150", one_changed(files), read)
