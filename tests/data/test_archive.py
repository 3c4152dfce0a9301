"""Archives: data in a .zip is read, and what would fill a disk or lead out of a folder is not."""

from __future__ import annotations

import io
import shutil
import stat
import struct
import zipfile
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import dovetail as dt
from dovetail.data.own import archive
from dovetail.data.own.archive import opened_archive, unpacked
from dovetail.errors import DataError

X, Y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
TABLE = "width,colour,kind\n" + "\n".join(f"{row % 5},{'rb'[row % 2]},{'xyz'[row % 3]}" for row in range(30))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is this test's own; nothing stays in it."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("DOVETAIL_CACHE", str(folder))
    return folder


def pack(path: Path, files: dict[str, bytes | str], kind: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return path


def left_in(cache: Path) -> list[Path]:
    return list((cache / "unpacked").iterdir()) if (cache / "unpacked").is_dir() else []


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_table_in_an_archive_is_read_like_the_table(tmp_path: Path, cache: Path, kind: int) -> None:
    (tmp_path / "wine.csv").write_text(TABLE)
    pack(tmp_path / "w.zip", {"readme.txt": "hello", "__MACOSX/._wine.csv": "x", "in/wine.csv": TABLE}, kind)
    found = dt.read(tmp_path / "w.zip")
    assert found.fingerprint == dt.read(tmp_path / "wine.csv").fingerprint
    assert (found.name, found.options["file"]) == ("w", "w.zip")
    assert left_in(cache) == []


def test_arrays_in_an_archive(tmp_path: Path, cache: Path) -> None:
    wanted = dt.Dataset.from_arrays(X, Y).fingerprint
    np.savez(tmp_path / "a.npz", x=X, y=Y)
    whole = pack(tmp_path / "one.zip", {"a.npz": (tmp_path / "a.npz").read_bytes()})
    assert dt.read(whole).fingerprint == wanted
    both = pack(tmp_path / "two.zip", {"data/y.npy": npy(Y), "data/x.npy": npy(X)})
    assert dt.read(both).fingerprint == wanted
    assert left_in(cache) == []


def test_pictures_in_an_archive_are_those_of_the_folder(tmp_path: Path, cache: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(0)
    files: dict[str, bytes | str] = {}
    for number in range(20):
        buffer = io.BytesIO()
        image.fromarray(random.integers(0, 256, (9, 8, 3), dtype=np.uint8)).save(buffer, "png")
        files[f"photos/{'cat' if number % 2 else 'dog'}/{number}.png"] = buffer.getvalue()
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(content))  # type: ignore[arg-type]
    files |= {"photos/cat/broken.png": b"no picture", "photos/notes.csv": "a,b", "photos/cat/": ""}
    found = dt.read(pack(tmp_path / "photos.zip", files))
    assert found.classes == ("cat", "dog")
    assert sum(map(len, found.splits.values())) == 20
    assert any(f"{tmp_path}/photos.zip/photos/cat/broken.png cannot be read" in note for note in found.notes)
    assert not any(str(cache) in note for note in found.notes)
    folder = dt.read(tmp_path / "photos")
    alike = [sorted(map(float, torch_sum(data))) for data in (found, folder)]
    assert alike[0] == pytest.approx(alike[1])
    assert left_in(cache) == []


def torch_sum(data: dt.Dataset) -> list[float]:
    return [float(sample.sum()) for split in data.splits.values() for sample in split.x]


@pytest.mark.parametrize(
    "name",
    [
        "../evil.csv",
        "/etc/evil.csv",
        "a/../../evil.csv",
        "a\\..\\evil.csv",
        "C:evil.csv",
        "a/b/../../../evil.csv",
    ],
)
def test_nothing_is_written_outside(tmp_path: Path, cache: Path, name: str) -> None:
    pack(tmp_path / "a.zip", {"wine.csv": TABLE, name: TABLE})
    with pytest.raises(DataError, match=r"a\.zip holds a file that leads out of its folder"):
        dt.read(tmp_path / "a.zip")
    assert not list(tmp_path.parent.rglob("evil.csv"))
    assert left_in(cache) == []


def test_links_in_an_archive_are_passed_over(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("other.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr(link, "/etc/passwd")
        packed.writestr("wine.csv", TABLE)
    assert dt.read(tmp_path / "a.zip").classes == ("x", "y", "z")


def test_bombs_are_refused_before_anything_is_unpacked(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_UNSUSPICIOUS", 2**20)
    pack(tmp_path / "a.zip", {"wine.csv": bytes(2**24)})
    with pytest.raises(DataError, match=r"a\.zip has 1\d,\d{3} bytes and would unpack to 16,777,216"):
        dt.read(tmp_path / "a.zip")
    pack(tmp_path / "a.npz", {"x.npy": bytes(2**24)})
    with pytest.raises(DataError, match="would unpack to"):
        dt.read(tmp_path / "a.npz")
    monkeypatch.setattr(archive, "MOST_FILES", 3)
    pack(tmp_path / "a.zip", {f"{number}.csv": "" for number in range(4)})
    with pytest.raises(DataError, match="holds 4 files, and 3 are the most"):
        dt.read(tmp_path / "a.zip")
    assert left_in(cache) == []


def test_no_more_is_unpacked_than_the_list_says(tmp_path: Path) -> None:
    pack(tmp_path / "a.zip", {"wine.csv": bytes(10**6)})
    content = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(content.replace(struct.pack("<I", 10**6), struct.pack("<I", 100)))
    with pytest.raises(DataError, match="damaged"), unpacked(tmp_path / "a.zip"):
        pass


def test_a_list_of_files_that_fills_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(tmp_path / "a.zip", {f"{number}.csv": "" for number in range(100)})
    monkeypatch.setattr(archive, "_MOST_IN_LIST", 1000)
    with pytest.raises(DataError, match="a list of files of"), opened_archive(tmp_path / "a.zip"):
        pass


def test_a_full_disk_is_seen_before(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10, 10, 2**28))
    pack(tmp_path / "a.zip", {"wine.csv": TABLE})
    with pytest.raises(DataError, match=r"has room for 0.2; set \$DOVETAIL_CACHE"):
        dt.read(tmp_path / "a.zip")
    assert left_in(cache) == []


def test_a_cache_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match=r"cannot unpack .*set \$DOVETAIL_CACHE"):
        dt.read(pack(tmp_path / "a.zip", {"wine.csv": TABLE}))


def encrypted(content: bytes) -> bytes:
    """Mark all files of an archive as encrypted."""
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = content.find(mark)
        while start >= 0:
            content = content[: start + place] + b"\x01" + content[start + place + 1 :]
            start = content.find(mark, start + 1)
    return content


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"in.zip": b"PK"}, "holds another archive"),
        ({"readme.md": "hello"}, "holds no data that is read; it holds 'readme.md'"),
        ({}, "holds no data that is read; it holds nothing"),
        ({"train.csv": TABLE, "test.csv": TABLE}, "several files with data .*'train.csv', 'test.csv'"),
        ({"a/x.csv/y.csv": "a", "a/x.csv": "b"}, "several files"),
        ({"wine.csv": ""}, r"a\.zip/wine\.csv"),
        ({"deep/" + "x" * 300 + ".csv": TABLE}, "cannot unpack .*File name too long"),
    ],
)
def test_archives_of_other_things_are_refused(
    tmp_path: Path, cache: Path, files: dict[str, bytes | str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        dt.read(pack(tmp_path / "a.zip", files))
    assert left_in(cache) == []


def test_damaged_and_encrypted_archives_are_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"wine.csv": TABLE * 20})
    whole = path.read_bytes()
    for content, message in (
        (b"", "damaged"),
        (b"hello", "damaged"),
        (whole[: len(whole) // 2], "damaged"),
        (whole[:100] + bytes(20) + whole[120:], "damaged"),
        (encrypted(whole), "is encrypted"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=message):
            dt.read(path)


def test_the_same_name_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr("x.npy", npy(X))
        with pytest.warns(UserWarning, match="Duplicate name"):
            packed.writestr("x.npy", npy(X))
    with pytest.raises(DataError, match=r"holds .*x\.npy twice"):
        dt.read(tmp_path / "a.zip")
