"""What the studio's tests share: parts to show, the app without and with a network, and a browser."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import uvicorn
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

import dovetail as dt
from dovetail.studio import create_app
from dovetail.studio.jobs import KINDS
from dovetail.studio.serve import listen, server_config

from .strange_folder import make_strange_folder

expect.set_options(timeout=30_000)  # the charts' script is long, and the machine may be busy
TOKEN = "token-of-the-tests"
PORT = 8765

ClientOf = Callable[[Path], TestClient]
UrlOf = Callable[[Path], str]


@pytest.fixture(scope="session")
def parts_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ten specialists of `digits`, in slots, good enough to tell digits apart. Do not write into it."""
    folder = tmp_path_factory.mktemp("parts")
    dt.train_specialists(
        dt.load("digits"), "mlp:500", slots=True, epochs=20, patience=5, folder=folder, progress=False
    )
    return folder


@pytest.fixture
def client() -> Iterator[ClientOf]:
    """The app of a folder without a network, as someone who has the token."""
    with ExitStack() as stack:

        def open_client(folder: Path) -> TestClient:
            return stack.enter_context(client_of(folder))

        yield open_client


def client_of(folder: Path) -> TestClient:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    app = create_app(folder, token=TOKEN, port=PORT)
    return TestClient(app, base_url=f"http://127.0.0.1:{PORT}", headers=headers)


@pytest.fixture(scope="module")
def strange_root(tmp_path_factory: pytest.TempPathFactory, parts_folder: Path) -> Path:
    """A folder with parts, and with all kinds of files that are not what they seem."""
    return make_strange_folder(tmp_path_factory.mktemp("beside"), parts_folder)


@pytest.fixture(scope="module")
def strange_studio(strange_root: Path) -> Iterator[TestClient]:
    """The app of that folder, as someone who has the token."""
    with client_of(strange_root) as opened:
        yield opened


@pytest.fixture
def studio_url() -> Iterator[UrlOf]:
    """The app of a folder on a port of its own: the address to open, with the token in it."""
    with ExitStack() as stack:

        def start(folder: Path) -> str:
            listening = stack.enter_context(listen(0))
            port = listening.getsockname()[1]
            server = uvicorn.Server(server_config(create_app(folder, token=TOKEN, port=port)))
            thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
            thread.start()
            stack.callback(_end, server, thread)
            while not server.started:
                assert thread.is_alive(), "the studio did not start"
                time.sleep(0.01)
            return f"http://127.0.0.1:{port}/?token={TOKEN}"

        yield start


def _end(server: uvicorn.Server, thread: threading.Thread) -> None:
    server.should_exit = True
    thread.join(10)
    assert not thread.is_alive(), "the studio did not end"


_HELD_JOB = """
import time
from pathlib import Path
from {usual} import run as usual

def run(settings, tell):
    def tell_and_wait(done, total, note="", partial=None):
        tell(done, total, note, partial)
        while total is not None and done >= float(Path({bound!r}).read_text()):
            time.sleep(0.01)

    return usual(settings, tell_and_wait)
"""


class HeldJobs:
    """Jobs of the studio that go no further than the test lets them, however fast the machine is."""

    def __init__(self, folder: Path) -> None:
        self._bound = folder / "bound"
        self.let_go_to(0)

    def let_go_to(self, done: float) -> None:
        """Let jobs go on until they have said that they have done as much."""
        whole = self._bound.with_suffix(".new")
        whole.write_text(str(done))
        whole.replace(self._bound)

    def module(self, usual: str) -> str:
        """Return the text of a module that does what the usual one does, and waits."""
        return _HELD_JOB.format(usual=usual, bound=str(self._bound))


@pytest.fixture
def held_jobs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> HeldJobs:
    """All jobs wait where they first say how far they are of how much, until they are let go on."""
    folder = tmp_path_factory.mktemp("held")
    held = HeldJobs(folder)
    for kind, usual in list(KINDS.items()):
        (folder / f"held_{kind}.py").write_text(held.module(usual))
        monkeypatch.setitem(KINDS, kind, f"held_{kind}")
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    return held


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium. CI must have it; elsewhere tests without it are skipped."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail("the browser tests need Chromium; .ci/run installs it")
        pytest.skip("there is no Chromium here")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, studio_url: UrlOf) -> Iterator[Page]:
    """A page of a new browser; at the end nothing may have gone wrong in it.

    It is closed before the studios end, because it may still be asking them for something.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    context.set_default_timeout(30_000)
    opened = context.new_page()
    troubles: list[str] = []
    opened.on(
        "console", lambda said: troubles.append(said.text) if said.type in ("error", "warning") else None
    )
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("requestfailed", lambda request: troubles.extend(_failure(request)))
    opened.on(
        "response", lambda got: troubles.append(f"{got.url}: {got.status}") if got.status >= 400 else None
    )
    yield opened
    context.close()
    assert not troubles


def _failure(request: Request) -> list[str]:
    # A page that is left while it waits for an answer breaks off the question.
    return [] if request.failure == "net::ERR_ABORTED" else [f"{request.url}: {request.failure}"]
