"""Take the pictures of the studio and the report in docs/images, in a real browser: ``make screenshots``.

Everything shown is made here, but for the run in results: specialists of the embedded digits, a sculpture, an audit.
Each view is taken wide and light, and as wide as a phone and dark. With a folder as argument, both are taken in both
schemes and go there instead, each page from top to bottom: to look at after a change.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

import dovetail as dt
from dovetail.report import write_report
from dovetail.studio import create_app
from dovetail.studio.serve import listen, server_config

IMAGES = Path(__file__).parent / "images"
RESULTS = Path(__file__).parents[1] / "results"
SIZES = {"wide": (1440, 900), "phone": (390, 844)}
KEPT = {"wide": "light", "phone": "dark"}
"""The scheme in which each shape is shown in the docs."""
LONG = 120_000
TOKEN = "token-of-the-screenshots"
TWO = [
    (0.22, 0.32),
    (0.3, 0.2),
    (0.5, 0.14),
    (0.68, 0.22),
    (0.7, 0.38),
    (0.5, 0.6),
    (0.24, 0.84),
    (0.78, 0.84),
]
"""A 2 as a line on a pad of side 1."""


def make_folder(folder: Path) -> None:
    """Fill a folder with one of each thing that can be looked at."""
    dt.train_specialists(
        dt.load("digits"),
        "mlp:500",
        slots=True,
        epochs=60,
        patience=10,
        folder=folder / "parts",
        progress=False,
    )
    shutil.copytree(RESULTS / "table1", folder / "runs/table1")
    dovetail = str(Path(sys.executable).with_name("dovetail"))
    subprocess.run([dovetail, "sculpt", "[4,2,4]", "-o", "xor"], cwd=folder, check=True, capture_output=True)


@contextmanager
def studio(folder: Path) -> Iterator[str]:
    """Serve the studio of a folder; give its address."""
    with listen(0) as listening:
        port = listening.getsockname()[1]
        server = uvicorn.Server(server_config(create_app(folder, token=TOKEN, port=port)))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/?token={TOKEN}"
        server.should_exit = True
        thread.join()


def bench(page: Page) -> None:
    """Compose all but one."""
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_role("heading", name="Composite of 10").wait_for()
    page.get_by_role("checkbox", name="3").first.uncheck()
    page.get_by_role("heading", name="Composite of 9").wait_for()


def draw(page: Page) -> None:
    """Write a 2."""
    pad = page.locator("canvas").first
    write(page, pad)


def write(page: Page, pad: Locator) -> None:
    """Draw `TWO` with the mouse."""
    box = pad.bounding_box()
    assert box is not None
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in TWO]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=8)
    page.mouse.up()


def networks(page: Page) -> None:
    """Open one module of the sculpture."""
    page.get_by_label("File", exact=True).select_option("xor/seed0.safetensors")
    page.get_by_role("button", name="M1: 2 inputs").first.click()


def audit(page: Page) -> None:
    """Audit a specialist to the end."""
    page.get_by_label("Network", exact=True).select_option("parts/digits-3-seed0.safetensors")
    page.get_by_role("spinbutton", name="Clusters").fill("4")
    page.get_by_role("button", name="Start the audit").click()
    page.get_by_text("Clusters by layer").wait_for(timeout=LONG)


def runs(page: Page) -> None:
    """Open the run of a recipe."""
    page.get_by_role("link", name="runs/table1").click()
    page.get_by_role("columnheader", name="published").first.wait_for()


VIEWS: dict[str, Callable[[Page], None]] = {
    "bench": bench,
    "draw": draw,
    "networks": networks,
    "audit": audit,
    "runs": runs,
}


def take(page: Page, file: Path, *, whole: bool, top: str = "body") -> None:
    """Save a page, or what the window shows from some element on, as a small PNG."""
    page.wait_for_timeout(1500)  # charts settle
    page.locator(top).evaluate("element => scrollTo(0, element.getBoundingClientRect().top + scrollY)")
    page.wait_for_timeout(300)  # charts are drawn when they come into sight
    page.screenshot(path=file, full_page=whole)
    Image.open(file).convert("RGB").quantize(256, kmeans=2, dither=Image.Dither.NONE).save(
        file, optimize=True
    )
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


def windows(browser: Browser, *, every: bool) -> Iterator[tuple[str, Page]]:
    """Give a new window of each shape that is wanted, and what to call it."""
    for shape, (width, height) in SIZES.items():
        for scheme in ("light", "dark") if every else (KEPT[shape],):
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            yield f"{shape}-{scheme}" if every else shape, context.new_page()
            context.close()


def main(looked_at: Path | None = None) -> None:
    """Make what is to be seen, and take all pictures."""
    every = looked_at is not None
    images = looked_at or IMAGES
    images.mkdir(exist_ok=True, parents=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        make_folder(folder)
        write_report(folder / "parts", folder / "report.html")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for shape, page in windows(browser, every=every):
            with studio(folder) as url:  # a new one each time: in another it would show the audit of before
                page.goto(url)
                for view, act in VIEWS.items():
                    page.goto(f"{url.split('?')[0]}#/{view}")
                    page.get_by_role("heading", name=view.capitalize(), level=1).wait_for()
                    act(page)
                    take(page, images / f"studio-{view}-{shape}.png", whole=every)
        for shape, page in windows(browser, every=every):
            page.goto((folder / "report.html").as_uri())
            take(page, images / f"report-{shape}.png", whole=every, top="#what-is-confused")
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
