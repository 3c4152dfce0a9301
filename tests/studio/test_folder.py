"""Which names in the studio's folder may be opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dovetail import DovetailError
from dovetail.studio import folder as module
from dovetail.studio.folder import MOST_BYTES, MissingError, StudioFolder

BAD_NAMES = [
    "", "/", "..", ".", "./a", "a/..", "../a", "a/../../b", "/etc/passwd", "//etc/passwd", "a//b", "a/", "..\\a",
    "a\\..\\b", "C:\\a", "\\\\server\\share", "\0", "a\0.safetensors", "a\n", "\x7f", ".hidden", "a/.git/config",
    "sub/../../etc/passwd", "\udcff", "\ud800", "x" * 1001, "..a", "~/../../etc/passwd", "....//....//etc/passwd",
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder in a folder, with a secret beside it."""
    (tmp_path / "secret.safetensors").write_text("secret")
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.safetensors").write_bytes(b"12345")
    (root / "sub" / "b.pt").write_bytes(b"123")
    (root / ".hidden").mkdir()
    (root / ".hidden" / "c.pt").write_bytes(b"123")
    (root / ".d.pt").write_bytes(b"123")
    return root


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_are_not_plain(root: Path, name: str) -> None:
    for method in (StudioFolder(root).resolve, StudioFolder(root).existing):
        with pytest.raises(
            DovetailError, match=r"not in the studio's folder|hidden|leads out|a name is missing"
        ):
            method(name)


def test_plain_names(root: Path) -> None:
    folder = StudioFolder(root)
    for name in ("a.safetensors", "sub/b.pt", "new file (1).safetensors", "ünïcode.pt", "a..b"):
        assert folder.relative(folder.resolve(name)) == name
    assert folder.existing("sub/b.pt").read_bytes() == b"123"


def test_names_that_the_system_cannot_have(root: Path) -> None:
    with pytest.raises(DovetailError):
        StudioFolder(root).existing("x" * 900)
    (root / "round").symlink_to("round")
    with pytest.raises(DovetailError):
        StudioFolder(root).existing("round")


@pytest.mark.parametrize(
    "target",
    ["../secret.safetensors", "/etc/passwd", "..", "/", ".hidden/c.pt", "sub/../../secret.safetensors"],
)
def test_links_out_of_the_folder(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    folder = StudioFolder(root)
    for name in ("link", "link/secret.safetensors"):
        with pytest.raises(DovetailError, match="leads out"):
            folder.resolve(name)
    assert "link" not in [file.name for file in folder.find(("",)).files]


def test_links_inside_of_the_folder(root: Path) -> None:
    (root / "link.pt").symlink_to("sub/b.pt")
    (root / "again").symlink_to("sub")
    folder = StudioFolder(root)
    assert folder.existing("link.pt") == folder.root / "sub/b.pt"
    assert [file.name for file in folder.find((".pt",)).files] == ["link.pt", "sub/b.pt"]


def test_what_is_no_file(root: Path) -> None:
    folder = StudioFolder(root)
    os.mkfifo(root / "pipe.pt")  # reading it would wait for ever
    with pytest.raises(DovetailError, match="no regular file"):
        folder.existing("pipe.pt")
    with pytest.raises(DovetailError, match="is a folder"):
        folder.existing("sub")
    with pytest.raises(MissingError, match=r"no file 'gone.pt'"):
        folder.existing("gone.pt")
    with pytest.raises(MissingError):
        folder.existing("a.safetensors/b")
    assert [file.name for file in folder.find((".pt",)).files] == ["sub/b.pt"]


def test_large_files_are_refused_before_they_are_read(root: Path) -> None:
    with (root / "large.safetensors").open("wb") as file:
        file.truncate(2**30)  # a hole: no disk is used
    folder = StudioFolder(root)
    with pytest.raises(DovetailError, match=r"'large.safetensors' has 1,024 MB, more than the 512 MB"):
        folder.existing("large.safetensors")
    with pytest.raises(DovetailError, match="command line"):
        folder.check_size(folder.resolve("a.safetensors"), limit=4)
    folder.check_size(folder.resolve("a.safetensors"), limit=5)
    assert MOST_BYTES < 2**30


def test_listing(root: Path) -> None:
    (root / "sub" / "deep").mkdir()
    (root / "sub" / "deep" / "results.jsonl").write_text("")
    folder = StudioFolder(root)
    found = folder.find((".safetensors", ".pt"))
    assert [(file.name, file.size) for file in found.files] == [("a.safetensors", 5), ("sub/b.pt", 3)]
    assert found.complete
    assert found.files[0].modified == (root / "a.safetensors").stat().st_mtime
    assert [file.name for file in folder.find(("results.jsonl",)).files] == ["sub/deep/results.jsonl"]


def test_listing_is_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (root / "sub" / f"{number}.pt").touch()
    folder = StudioFolder(root)
    found = folder.find((".pt", ".safetensors"), most=3)
    assert not found.complete
    assert [file.name for file in found.files] == [
        "a.safetensors",
        "sub/0.pt",
        "sub/1.pt",
    ]  # the nearest first
    assert folder.find((".pt",), depth=0) == module.Listing([], False)
    monkeypatch.setattr(module, "_MOST_ENTRIES", 2)
    assert not folder.find((".pt",)).complete


def test_names_that_cannot_be_sent_are_not_listed(root: Path) -> None:
    (root / os.fsdecode(b"\xff.pt")).touch()
    assert [file.name for file in StudioFolder(root).find((".pt",)).files] == ["sub/b.pt"]


def test_root_must_be_a_folder(root: Path) -> None:
    with pytest.raises(DovetailError, match="does not exist"):
        StudioFolder(root / "gone")
    with pytest.raises(DovetailError, match="is not a folder"):
        StudioFolder(root / "a.safetensors")


def test_as_many_files_as_are_listed_are_all_of_them(tmp_path: Path) -> None:
    for name in ("a.pt", "b.pt", "notes.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "z").mkdir()
    folder = StudioFolder(tmp_path)
    assert folder.find((".pt",), most=2).complete
    (tmp_path / "z" / "c.pt").write_text("")
    found = folder.find((".pt",), most=2)
    assert [file.name for file in found.files] == ["a.pt", "b.pt"]
    assert not found.complete
