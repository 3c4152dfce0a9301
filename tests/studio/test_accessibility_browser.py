"""Every view in both themes, as axe sees it: no findings, of whatever weight."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import dovetail as dt
from dovetail.specialists import Composite, Specialist

from .audits import audit_folder, save_audit
from .conftest import UrlOf
from .run_folders import write_run
from .sculptures import save_run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, parts_folder: Path) -> Path:
    """One of each thing that can be looked at."""
    root = tmp_path_factory.mktemp("everything")
    pair = []
    for number in (3, 8):
        name = f"digits-{number}-seed0.safetensors"
        shutil.copy(parts_folder / name, root)
        part = dt.open(root / name)
        assert isinstance(part, Specialist)
        pair.append(part)
    Composite(pair).save(root / "both.safetensors")
    audit_folder(root)
    for seed in (0, 1):
        save_audit(root, f"audits/{seed}", seed=seed)
    write_run(root / "runs/whole")
    write_run(root / "runs/begun", done=2)
    save_run(root / "xor")
    return root


def parts(*numbers: int) -> str:
    return quote("\n".join(f"digits-{number}-seed0.safetensors" for number in numbers))


PLACES = {
    f"bench?ticked={parts(3)}&beside=sum%0A{parts(3, 8)}": "B − A, in test samples",
    "draw": "Pad",
    "grow": "Keep as example",
    "networks?file=xor/seed0.safetensors": "Of the whole network",
    "audit?saved=audits/0": "Clusters by layer",
    "audit?compare=saved%3Aaudits/0%0Asaved%3Aaudits/1": "2 audits side by side",
    "runs": "Run a recipe",
    "runs?run=runs/whole": "complete",
    "runs?compare=runs/whole%0Aruns/begun": "How far they are",
}


THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

# Rules that load style sheets anew would break the page's policy; they are about screens that are turned.
OPTIONS = {"resultTypes": ["violations"], "preload": False}


def test_axe_finds_nothing(studio_url: UrlOf, page: Page, folder: Path) -> None:
    url = studio_url(folder)
    page.goto(url)
    axe, found = Axe(), []
    for place, shown in PLACES.items():
        page.goto(f"{url.partition('?')[0]}#/{place}")
        expect(page.get_by_text(shown).first).to_be_visible(timeout=30_000)
        for folded in page.locator("main summary").all():
            folded.click()
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
            for one in axe.run(page, options=OPTIONS).response["violations"]:
                found.append((place, theme, one["id"], one["nodes"][0]["html"]))
    assert found == []
