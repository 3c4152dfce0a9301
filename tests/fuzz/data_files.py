"""Small files in the official formats, to be changed one at a time."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from .hostile import LONG, damaged

Files = dict[str, bytes]
"""The files of a data set by their names in its folder."""

WORDS = ["", "0", "1", "7", "-1", "0.5", "nan", "inf", "-inf", "1e400", "1e-400", "1_0", "0x1", "1,5", ".",
         "-", "+1", "x",
         "CYT", "VAC", "1 2", "\n", "\r", "\x00", "\x0b", "\x1c", "ä", "1e5", "9" * 5000, LONG]  # fmt: skip


def idx_bytes(array: NDArray[np.uint8], *, magic: int | None = None, sizes: list[int] | None = None) -> bytes:
    """Return an array in the idx format, or with a header that lies."""
    magic = 0x0800 + array.ndim if magic is None else magic
    return np.array([magic, *(sizes or array.shape)], dtype=">u4").tobytes() + array.tobytes()


def mnist_files() -> Files:
    files = {}
    for part, count in (("train", 50), ("t10k", 10)):
        labels = np.arange(count, dtype=np.uint8) % 10
        images = np.full((count, 28, 28), 7, dtype=np.uint8)
        files[f"{part}-images-idx3-ubyte.gz"] = gzip.compress(idx_bytes(images), 1)
        files[f"{part}-labels-idx1-ubyte.gz"] = gzip.compress(idx_bytes(labels), 1)
    return files


def har_files() -> Files:
    files = {}
    for part, rows in (("train", 10), ("test", 4)):
        x = np.random.default_rng(rows).uniform(-1, 1, size=(rows, 265))
        files[f"{part}/X_{part}.txt"] = "".join(
            " ".join(f"{v:.2e}" for v in row) + "\n" for row in x
        ).encode()
        files[f"{part}/y_{part}.txt"] = "".join(f"{row % 2 + 1}\n" for row in range(rows)).encode()
    return files


def yeast_files() -> Files:
    sites = ("CYT", "ME3", "MIT", "NUC", "VAC")
    lines = (
        f"P{row}_YEAST  0.58  0.61  0.47  0.13  0.50  0.00  0.48  0.{row:02}  {sites[row % 5]}\n"
        for row in range(50)
    )
    return {"yeast.data": "".join(lines).encode()}


def cifar10_files() -> Files:
    record = bytes([3]) + bytes(range(256)) * 12
    names = [*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin"]
    return dict.fromkeys(names, record * 2)


def clinc150_files() -> Files:
    names = ["train", "val", "test", "oos_train", "oos_val", "oos_test"]
    content = {name: [["turn it up", "volume"], ["good night", "greeting"]] for name in names}
    return {"data_full.json": json.dumps(content).encode()}


def put(folder: Path, files: Files) -> None:
    """Write files into a folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


@contextmanager
def changed(folder: Path, name: str, content: bytes) -> Iterator[None]:
    """Let a file hold something else for a while."""
    before = (folder / name).read_bytes()
    (folder / name).write_bytes(content)
    try:
        yield
    finally:
        (folder / name).write_bytes(before)


@st.composite
def with_other_words(draw: st.DrawFn, content: bytes) -> bytes:
    """Return a text with up to three words of it replaced, left out or put in, or lines doubled or left out."""
    lines = content.decode().splitlines()
    for _ in range(draw(st.integers(1, 3))):
        if not lines:
            break
        row = draw(st.integers(0, len(lines) - 1))
        words = lines[row].split()
        place = draw(st.integers(0, max(len(words) - 1, 0)))
        how = draw(st.sampled_from(["replace", "replace", "put", "remove", "double line", "remove line"]))
        if how == "replace":
            words[place : place + 1] = [draw(st.sampled_from(WORDS) | st.text(max_size=5))]
        elif how == "put":
            words.insert(place, draw(st.sampled_from(WORDS)))
        elif how == "remove":
            del words[place : place + 1]
        lines[row] = " ".join(words)
        if how == "double line":
            lines.insert(row, lines[row])
        elif how == "remove line":
            del lines[row]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


@st.composite
def one_changed(draw: st.DrawFn, files: Files, *, words: bool = False) -> tuple[str, bytes]:
    """Return the name of one of the files, and something else that it could hold."""
    name = draw(st.sampled_from(sorted(files)))
    ways = [
        damaged(files[name]),
        st.binary(max_size=40),
        st.sampled_from(sorted(files.values())),
        st.just(files[name]),
    ]
    return name, draw(st.one_of(*([with_other_words(files[name])] * 2 if words else []), *ways))
