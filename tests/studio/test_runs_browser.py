"""The runs view in a browser: tables beside the published, live progress, and a recipe to start and cancel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dovetail.recipes import find_recipe

from .conftest import HeldJobs, UrlOf
from .keyboard import tab_to
from .run_folders import RECIPE, UNITS, finished_units, open_run, write_run

pytestmark = pytest.mark.slow
ALL = float("inf")
LONG = 120_000
"""Milliseconds for a small recipe on a machine that is busy."""


def test_a_run_shows_published_values_and_figures_by_keyboard(
    studio_url: UrlOf, page: Page, tmp_path: Path
) -> None:
    (write_run(tmp_path / "paper", drawn=True) / "remarks.md").write_text(
        "Close\nenough, <b>*all*</b> of it.\n\n- first\n- second, [linked](../elsewhere.md)\n"
    )
    page.goto(studio_url(tmp_path))
    tab_to(page, page.get_by_role("link", name="Runs"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("link", name="paper", exact=True))
    page.keyboard.press("Enter")
    (table,) = find_recipe(RECIPE).tables("paper", finished_units())
    shown = page.get_by_role("region", name=table.title).first  # tables of many metrics are shown one by one
    expect(shown.get_by_role("columnheader", name="published").first).to_be_visible()
    first = [str(cell) for cell in table.wide().iloc[0]]
    cells = shown.locator("tbody tr").first.locator("td").all_inner_texts()
    assert cells == first[: len(cells)]
    assert len(cells) > 3
    expect(page.get_by_text("Close enough, <b>all</b> of it.")).to_be_visible()
    expect(page.locator("em", has_text="all")).to_be_visible()
    assert page.locator(".runs-report li").all_inner_texts() == ["first", "second, linked"]
    expect(page.locator(".runs-report a")).to_have_count(0)
    pictures = page.locator(".runs-report .picture").get_by_role("img").all()
    assert pictures
    for picture in pictures:
        assert picture.evaluate("async image => { await image.decode(); return image.naturalWidth }") > 100
    page.reload()
    expect(page.get_by_role("heading", name="paper", exact=True)).to_be_visible()
    expect(page.get_by_text(f"{UNITS} of {UNITS}").first).to_be_visible()


def test_progress_moves_when_another_process_adds_results(
    studio_url: UrlOf, page: Page, tmp_path: Path
) -> None:
    units = finished_units()
    with open_run(tmp_path / "going") as folder:
        page.goto(studio_url(tmp_path) + "#/runs")
        row = page.get_by_role("row").filter(has_text="going")
        expect(row).to_contain_text("running", timeout=LONG)
        expect(row).to_contain_text(f"0 of {UNITS}, time left known after the next unit")
        folder.add(units[:1])
        expect(row).to_contain_text(re.compile(rf"1 of {UNITS}, about \d+ (s|min|h) left"))
        page.get_by_role("link", name="going").click()
        bar = page.get_by_role("progressbar", name="Progress of going")
        expect(bar).to_be_visible()
        before = bar.evaluate("bar => bar.value")
        table = page.locator(".runs-report table").first
        expect(table.get_by_role("columnheader", name="published").first).to_be_visible(timeout=LONG)
        first = [name.strip() for name in table.locator("th").all_inner_texts()].index("published") - 1
        ours = table.locator("tbody tr").last.locator("td").nth(first)
        expect(ours).to_have_text("–")
        folder.add(units[1:])
        expect(page.get_by_text(f"{UNITS} of {UNITS}").first).to_be_visible()
        assert bar.evaluate("bar => bar.value") > before
        expect(ours).not_to_have_text("–")
    expect(page.get_by_text("complete").first).to_be_visible()


def test_a_recipe_can_be_cancelled_and_goes_on(
    studio_url: UrlOf, page: Page, tmp_path: Path, held_jobs: HeldJobs
) -> None:
    page.goto(studio_url(tmp_path) + "#/runs")
    expect(page.get_by_text("No recipe has been run in this folder")).to_be_visible()
    page.get_by_label("Recipe", exact=True).select_option("two-digits")
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_text("0 of 1 units")).to_be_visible(timeout=LONG)
    page.reload()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled.")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="runs/two-digits-smoke")
    expect(row).to_contain_text("stopped")
    held_jobs.let_go_to(ALL)
    page.get_by_label("Recipe", exact=True).select_option("two-digits")
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_text("Done:")).to_be_visible(timeout=LONG)
    page.get_by_text("Done:").get_by_role("link").click()
    expect(page.get_by_text("1 of 1").first).to_be_visible()


def test_nothing_is_cut_off_on_a_phone(studio_url: UrlOf, page: Page, tmp_path: Path) -> None:
    write_run(tmp_path / "a-run-with-quite-a-long-name", drawn=True)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(studio_url(tmp_path) + "#/runs")
    link = page.get_by_role("link", name="a-run-with")
    expect(link).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    link.click()
    expect(page.locator(".runs-report table").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
