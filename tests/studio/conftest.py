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
from playwright.sync_api import Browser, Page, Request, sync_playwright

import dovetail as dt
from dovetail.studio import create_app
from dovetail.studio.serve import listen, server_config

from .strange_folder import make_strange_folder

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
    context.set_default_timeout(10_000)
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
