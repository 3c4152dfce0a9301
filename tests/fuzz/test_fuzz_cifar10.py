"""CIFAR-10: six binary files, one of them changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.data import load

from .data_files import changed, cifar10_files, one_changed, put
from .many import fuzz

pytestmark = pytest.mark.slow


def test_no_file_breaks_the_reader(tmp_path: Path) -> None:
    files = cifar10_files()
    folder = tmp_path / "cifar10"
    put(folder, files)

    def read(one: tuple[str, bytes]) -> None:
        with changed(folder, *one):
            load("cifar10", tmp_path, shortened=True)  # small files get further

    fuzz("cifar10", one_changed(files), read)
