"""Finding and downloading, against a server on this machine that can also lie and break off."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dovetail.data import load, sources
from dovetail.data.sources import Download, Source, fetch, find, open_source
from dovetail.errors import DataError

CONTENT = b"the official content\n" * 500


@dataclass
class Server:
    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut_off_after: int | None = None
    requests: list[str] = field(default_factory=list)

    def source(self, *names: str) -> Source:
        downloads = [Download(f"{self.url}/{name}", sha256(CONTENT)) for name in names]
        return Source(names, tuple(downloads))


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            state.requests.append(name)
            if name not in state.files:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(state.files[name])))
            self.end_headers()
            self.wfile.write(state.files[name][: state.cut_off_after])

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(sources, "_RETRIES", 0)
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield state
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DOVETAIL_DATA", raising=False)
    return tmp_path / "cache"


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_download_lands_in_the_cache_once(server: Server, cache: Path) -> None:
    source = server.source("a.gz", "b.gz")
    server.files = {"a.gz": CONTENT, "b.gz": CONTENT}
    assert find("set", source) is None
    assert open_source("set", source) == cache / "set"
    assert find("set", source) == cache / "set"
    assert files_in(cache) == ["set/a.gz", "set/b.gz"]
    assert (cache / "set" / "a.gz").read_bytes() == CONTENT
    open_source("set", source)
    fetch("set", source)
    assert server.requests == ["a.gz", "b.gz"]


def test_the_users_folder_comes_first_and_needs_no_hash(server: Server, cache: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "set").mkdir(parents=True)
    (own / "set" / "a.gz").write_bytes(b"compressed anew")
    source = server.source("a.gz")
    assert open_source("set", source, own) == own / "set"
    assert fetch("set", source, own) == own / "set"
    assert server.requests == []


def test_an_incomplete_user_folder_is_not_used(server: Server, cache: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "set").mkdir(parents=True)
    (own / "set" / "a.gz").write_bytes(CONTENT)
    server.files = {"a.gz": CONTENT, "b.gz": CONTENT}
    assert open_source("set", server.source("a.gz", "b.gz"), own) == cache / "set"
    assert files_in(own) == ["set/a.gz"]


def test_a_corrupted_download_is_refused_and_leaves_nothing(server: Server, cache: Path) -> None:
    wrong = CONTENT.replace(b"official", b"0fficial", 1)
    server.files = {"a.gz": wrong}
    with pytest.raises(DataError, match="could not download") as caught:
        open_source("set", server.source("a.gz"))
    for part in (sha256(CONTENT), sha256(wrong), str(cache / "set"), "by hand"):
        assert part in str(caught.value)
    assert files_in(cache) == []
    assert find("set", server.source("a.gz")) is None


@pytest.mark.parametrize("bytes_sent", [0, 1, 5000])
def test_a_cut_off_download_never_counts(server: Server, cache: Path, bytes_sent: int) -> None:
    server.files, server.cut_off_after = {"a.gz": CONTENT}, bytes_sent
    with pytest.raises(DataError, match=r"could not download|altered or truncated"):
        open_source("set", server.source("a.gz"))
    assert files_in(cache) == []
    server.cut_off_after = None
    assert open_source("set", server.source("a.gz")) == cache / "set"


def test_an_error_page_is_not_data(server: Server, cache: Path) -> None:
    with pytest.raises(DataError, match=r"could not download .*a\.gz.*404"):
        fetch("set", server.source("a.gz"))
    assert files_in(cache) == []


def test_what_came_before_a_failure_is_kept_and_not_fetched_again(server: Server, cache: Path) -> None:
    source = server.source("a.gz", "b.gz")
    server.files = {"a.gz": CONTENT}
    with pytest.raises(DataError, match="could not download"):
        fetch("set", source)
    assert find("set", source) is None
    server.files["b.gz"] = CONTENT
    assert fetch("set", source) == cache / "set"
    assert server.requests == ["a.gz", "b.gz", "b.gz"]


def test_an_altered_file_in_the_cache_is_reported_and_get_repairs_it(server: Server, cache: Path) -> None:
    source = server.source("a.gz")
    server.files = {"a.gz": CONTENT}
    path = open_source("set", source) / "a.gz"
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(DataError, match="dovetail data get set") as caught:
        open_source("set", source)
    assert sha256(CONTENT) in str(caught.value)
    assert sha256(CONTENT[:-1]) in str(caught.value)
    fetch("set", source)
    assert open_source("set", source) / "a.gz" == path
    assert path.read_bytes() == CONTENT


def test_a_cache_that_cannot_be_written_is_named(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a-file"
    blocked.write_text("in the way")
    monkeypatch.setenv("DOVETAIL_CACHE", str(blocked))
    monkeypatch.delenv("DOVETAIL_DATA", raising=False)
    server.files = {"a.gz": CONTENT}
    with pytest.raises(DataError, match=f"cannot write to the cache folder {blocked}.*DOVETAIL_CACHE"):
        open_source("set", server.source("a.gz"))
    assert blocked.read_text() == "in the way"


def zip_of(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tar_of(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


MEMBERS = {
    "../outside.txt": b"unsafe",
    "/absolute.txt": b"unsafe",
    "inner/README": b"not asked for",
    "inner/train/x.txt": b"xs",
    "inner/test/x.txt": b"more xs",
}


@pytest.mark.parametrize("pack", [zip_of, tar_of])
def test_an_archive_becomes_just_the_files_asked_for(pack: object, server: Server, cache: Path) -> None:
    packed: bytes = pack(MEMBERS)  # type: ignore[operator]
    name = "all.zip" if pack is zip_of else "all.tar.gz"
    server.files = {name: packed}
    source = Source(
        ("train/x.txt", "test/x.txt"), (Download(f"{server.url}/{name}", sha256(packed)),), "inner"
    )
    assert open_source("set", source) == cache / "set" / "inner"
    assert files_in(cache.parent) == ["cache/set/inner/test/x.txt", "cache/set/inner/train/x.txt"]
    assert (cache / "set" / "inner" / "train" / "x.txt").read_bytes() == b"xs"
    open_source("set", source)
    fetch("set", source)
    assert server.requests == [name]


def test_an_archive_without_the_files_leaves_no_folder(server: Server, cache: Path) -> None:
    packed = zip_of({"inner/train/x.txt": b"xs"})
    server.files = {"all.zip": packed}
    source = Source(
        ("train/x.txt", "test/x.txt"), (Download(f"{server.url}/all.zip", sha256(packed)),), "inner"
    )
    with pytest.raises(DataError, match=r"train/x\.txt, test/x\.txt not all in .* after the download"):
        open_source("set", source)
    assert find("set", source) is None


def test_a_half_unpacked_folder_is_replaced(server: Server, cache: Path) -> None:
    packed = zip_of(MEMBERS)
    server.files = {"all.zip": packed}
    source = Source(
        ("train/x.txt", "test/x.txt"), (Download(f"{server.url}/all.zip", sha256(packed)),), "inner"
    )
    (cache / "set" / "inner" / "train").mkdir(parents=True)
    (cache / "set" / "inner" / "train" / "x.txt").write_text("stale")
    assert (open_source("set", source) / "train" / "x.txt").read_text() == "xs"


def test_a_connection_that_breaks_off_once_is_tried_again(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_RETRIES", 2)
    monkeypatch.setattr("time.sleep", lambda _: setattr(server, "cut_off_after", None))
    server.files, server.cut_off_after = {"a.gz": CONTENT}, 5000
    assert open_source("set", server.source("a.gz")) == cache / "set"
    assert server.requests == ["a.gz", "a.gz"]


def test_pooch_is_needed_only_to_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.delenv("DOVETAIL_CACHE", raising=False)
    monkeypatch.delenv("DOVETAIL_DATA", raising=False)
    spec = importlib.util.spec_from_file_location("dovetail.data.sources_again", sources.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.gz").touch()
    assert open_source("set", server.source("a.gz"), tmp_path) == tmp_path / "set"
    with pytest.raises(DataError, match="needs the package pooch"):
        load("yeast")
