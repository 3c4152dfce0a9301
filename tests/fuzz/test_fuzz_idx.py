"""MNIST's idx files: one of them changed, packed or unpacked, or with a header that lies."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from dovetail.data import load

from .data_files import Files, changed, idx_bytes, mnist_files, one_changed, put
from .hostile import damaged
from .many import fuzz

pytestmark = pytest.mark.slow

sizes = st.sampled_from([0, 1, 2, 10, 27, 28, 50, 2**16, 2**21, 2**22, 2**31, 2**32 - 1])


@st.composite
def lying_headers(draw: st.DrawFn, files: Files) -> tuple[str, bytes]:
    """Return a file whose header says something else about what follows it."""
    name = draw(st.sampled_from(sorted(files)))
    dimensions = 3 if "idx3" in name else 1
    entries = draw(st.binary(max_size=60) | st.just(bytes(50 * 28 * 28)) | st.just(bytes(50)))
    array = np.frombuffer(entries, np.uint8)
    magic = draw(st.sampled_from([0x0800 + dimensions] * 8 + [0x0801, 0x0803, 0x0D03, 0, 2**32 - 1]))
    header = draw(st.lists(sizes, min_size=dimensions, max_size=dimensions))
    return name, gzip.compress(idx_bytes(array, magic=magic, sizes=header), 1)


@st.composite
def damaged_inside(draw: st.DrawFn, files: Files) -> tuple[str, bytes]:
    """Return a whole gzip file with something wrong in what it holds."""
    name = draw(st.sampled_from(sorted(files)))
    return name, gzip.compress(draw(damaged(gzip.decompress(files[name]))), 1)


def test_no_file_breaks_the_reader(tmp_path: Path) -> None:
    files = mnist_files()
    folder = tmp_path / "mnist"
    put(folder, files)

    def read(one: tuple[str, bytes]) -> None:
        with changed(folder, *one):
            load("mnist", tmp_path, shortened=True)  # small files get further

    fuzz("idx", one_changed(files) | lying_headers(files) | damaged_inside(files), read)
