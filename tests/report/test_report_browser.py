"""Reports in Chromium: nothing is fetched, nothing goes wrong, nothing is cut off, and they print."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

from dovetail.report import Page, build_report
from dovetail.report.page import folded

from .conftest import Check

pytestmark = pytest.mark.slow

_DRAWN = "document.querySelectorAll('.chart .main-svg').length > 0 || !document.querySelector('.chart')"


@pytest.fixture(scope="module")
def pages(
    tmp_path_factory: pytest.TempPathFactory,
    parts_folder: Path,
    sculpture_folder: Path,
    audit_folder: Path,
    run_folder: Path,
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    sources = {"parts": parts_folder, "sculpture": sculpture_folder, "audit": audit_folder, "run": run_folder}
    return {
        name: build_report(path, progress=False).save(folder / f"{name}.html")
        for name, path in sources.items()
    }


def _sizes(page: Any) -> tuple[int, list[float]]:
    page.wait_for_function(_DRAWN)
    wide = page.evaluate("document.documentElement.scrollWidth")
    charts = page.evaluate(
        "[...document.querySelectorAll('.chart')].map((c) => c.getBoundingClientRect().right)"
    )
    return wide, charts


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
@pytest.mark.parametrize("kind", ["parts", "sculpture", "audit", "run"])
def test_nothing_is_fetched_goes_wrong_or_is_cut_off(
    pages: dict[str, Path], check: Check, kind: str, width: int, scheme: str
) -> None:
    (wide, rights), trouble = check(pages[kind], _sizes, width, scheme)
    assert not trouble
    assert wide == width
    assert all(right <= width for right in rights)
    assert len(rights) == {"parts": 3, "sculpture": 0, "audit": 2, "run": 0}[kind]


def test_what_is_folded_is_printed(tmp_path: Path, check: Check) -> None:
    page = Page("Folded")
    for name in ("first", "second"):
        with folded(page, name, is_open=name == "first"):
            page.table(pd.DataFrame({"a": range(3)}))

    def look(opened: Any) -> list[list[bool]]:
        states = "[...document.querySelectorAll('details')].map((fold) => fold.open)"
        opened.evaluate(f"addEventListener('beforeprint', () => {{ window.inPrint = {states}; }})")
        opened.pdf(format="A4")
        return [opened.evaluate("window.inPrint"), opened.evaluate(states)]

    found, trouble = check(page.save(tmp_path / "folded.html"), look)
    assert not trouble
    assert found == [[True, True], [True, False]]


def test_a_wide_table_shows_that_it_scrolls(tmp_path: Path, check: Check) -> None:
    page = Page("Wide")
    page.table(pd.DataFrame({f"a column {n}": ["."] for n in range(20)}))
    page.table(pd.DataFrame({"narrow": ["."]}))

    def look(opened: Any) -> Any:
        """The grey of a pixel at the right edge of each table, before and after scrolling to the end."""
        boxes = opened.locator(".scroll")
        greys = []
        for end in (False, True):
            if end:
                opened.evaluate("document.querySelector('.scroll').scrollLeft = 9999")
            pictures = [Image.open(io.BytesIO(box.screenshot())).convert("L") for box in boxes.all()]
            greys.append([picture.getpixel((picture.width - 1, 2)) for picture in pictures])
        return greys

    (before, after), trouble = check(page.save(tmp_path / "wide.html"), look, 390)
    assert not trouble
    assert before[0] < 230
    assert before[1] == after[0] == after[1] == 255


def test_the_guard_counts_what_is_fetched(tmp_path: Path, check: Check) -> None:
    page = tmp_path / "bad.html"
    page.write_text('<img src="http://example.com/x.png">')
    _, trouble = check(page, lambda opened: opened.wait_for_timeout(100))
    assert "asked for http://example.com/x.png" in trouble


def test_another_matrix_can_be_chosen(pages: dict[str, Path], check: Check) -> None:
    def look(page: Any) -> tuple[list[Any], list[Any]]:
        page.wait_for_function(_DRAWN)
        counts = "document.querySelector('.chart').data[0].text"
        before = page.evaluate(counts)
        page.select_option("select", "1")
        return before, page.evaluate(counts)

    (before, after), trouble = check(pages["parts"], look)
    assert not trouble
    assert before != after
    assert sum(map(sum, before)) == sum(map(sum, after)) == 360


@pytest.mark.parametrize("kind", ["parts", "sculpture", "audit", "run"])
def test_it_prints_on_few_pages_in_light_colours(pages: dict[str, Path], check: Check, kind: str) -> None:
    def look(page: Any) -> tuple[bytes, str, str]:
        page.wait_for_function(_DRAWN)
        page.evaluate(
            "addEventListener('beforeprint', () => { window.inPrint = "
            "getComputedStyle(document.documentElement).getPropertyValue('--ink').trim(); })"
        )
        printed = page.pdf(format="A4")
        after = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()")
        return printed, page.evaluate("window.inPrint"), after

    (printed, ink, after), trouble = check(pages[kind], look, 1440, "dark")
    assert not trouble
    assert printed.startswith(b"%PDF")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 8
    assert after == "#e6e8eb"  # the screen is dark again
    if kind in ("parts", "audit"):  # those with charts, which are drawn anew for paper
        assert ink == "#1c2024"
