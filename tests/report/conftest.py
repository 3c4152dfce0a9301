"""What the report's tests share: one of each kind of thing to report on, and a browser."""

from __future__ import annotations

import os
import queue
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app

Check = Callable[..., tuple[Any, list[str]]]

_SECONDS = 240
"""How long one page may take."""


NASTY = "<script>alert(1)</script>"


def dovetail(*arguments: object) -> str:
    """Run the command in this process; an error is raised as it is."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="session")
def parts_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three specialists of `digits` that share their hidden units. Do not write into it."""
    folder = tmp_path_factory.mktemp("parts")
    dt.train_specialists(
        dt.load("digits"),
        "mlp:16",
        [0, 1, 2],
        sparsity=0.5,
        rounds=1,
        epochs=2,
        folder=folder,
        progress=False,
    )
    return folder


@pytest.fixture(scope="session")
def sculpture_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of a Boolean task, sculpted."""
    folder = tmp_path_factory.mktemp("sculpted") / "run"
    few = ("--hidden", "12", "--unit-steps", "50", "--edge-steps", "2", "--device", "cpu")
    dovetail("sculpt", "[4,2,4]", *few, "--seeds", 2, "-o", folder)
    return folder


@pytest.fixture(scope="session")
def audit_folder(tmp_path_factory: pytest.TempPathFactory, parts_folder: Path) -> Path:
    """An audit of a specialist, with lesions."""
    folder = tmp_path_factory.mktemp("audited") / "audit"
    file = sorted(parts_folder.iterdir())[0]
    dovetail("audit", file, "--k", 3, "--shuffles", 8, "--lesion", "digits", "--draws", 3, "-o", folder)
    return folder


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a recipe at paper scale, as it is kept with the sources."""
    folder = tmp_path_factory.mktemp("runs") / "random-init"
    return shutil.copytree(Path(__file__).parents[2] / "results" / "random-init", folder)


# In a thread of its own, as Playwright's sync API runs once in a thread, and other tests have it too.
@pytest.fixture(scope="session")
def check() -> Iterator[Check]:
    """Open a saved page with all network but files blocked; return what a function of it gives, and all trouble.

    ``check(path, look, width=1440, scheme="light")``: `look` takes Playwright's page. Trouble is console errors, page
    errors and requests that went anywhere but to the file.
    """
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail("the browser tests need Chromium; .ci/run installs it")
        pytest.skip("there is no Chromium here")
    jobs: queue.Queue[Any] = queue.Queue()

    def serve() -> None:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            while (job := jobs.get()) is not None:
                (path, look, width, scheme), answer = job
                try:
                    answer.put((True, _opened(browser, path, look, width, scheme)))
                except Exception as error:
                    answer.put((False, error))
            browser.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()

    def run(
        path: Path, look: Callable[[Any], Any], width: int = 1440, scheme: str = "light"
    ) -> tuple[Any, list[str]]:
        answer: queue.Queue[tuple[bool, Any]] = queue.Queue()
        jobs.put(((path, look, width, scheme), answer))
        done, value = answer.get(timeout=_SECONDS)
        if not done:
            raise value
        found: tuple[Any, list[str]] = value
        return found

    yield run
    jobs.put(None)
    thread.join(20)
    assert not thread.is_alive(), "the browser did not end"


def _opened(
    browser: Any, path: Path, look: Callable[[Any], Any], width: int, scheme: str
) -> tuple[Any, list[str]]:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    try:
        page = context.new_page()
        trouble: list[str] = []

        def guard(route: Any) -> None:
            if route.request.url.startswith(("file:", "data:", "blob:")):
                route.continue_()
            else:
                trouble.append(f"asked for {route.request.url}")
                route.abort()

        page.route("**/*", guard)
        page.on(
            "console", lambda said: trouble.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(path.resolve().as_uri())
        return look(page), trouble
    finally:
        context.close()
