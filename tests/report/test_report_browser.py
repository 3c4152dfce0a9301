"""Reports in Chromium: nothing is fetched, nothing goes wrong, nothing is cut off, and they print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dovetail.report import build_report

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
