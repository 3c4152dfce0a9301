"""The grow view in a real browser: a sign is drawn three times, taught, known, and dropped again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import UrlOf
from .scripted_drawings import SIDE, another_hand
from .strokes import Points
from .test_draw_browser import answer, draw
from .test_grow import STAR

pytestmark = pytest.mark.slow  # a browser each time

AWAIT = 120_000
"""Milliseconds for a job, which starts a process, on a machine that has other things to do."""


def star(number: int) -> list[Points]:
    return [stroke / SIDE for stroke in another_hand(STAR, number)]


def test_a_sign_is_taught_live_and_dropped_again(
    page: Page, studio_url: UrlOf, parts_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(parts_folder, tmp_path / "parts")
    page.goto(f"{studio_url(tmp_path)}#/grow")
    expect(page.get_by_role("heading", name="Knows 10")).to_be_visible()
    teach = page.get_by_role("button", name="Teach")
    page.get_by_label("Name").fill("star")
    for number in range(3):
        expect(teach).to_be_disabled()
        draw(page, star(number))
        expect(answer(page)).not_to_be_empty()
        if number < 2:
            page.get_by_role("button", name="Keep as example").click()
            expect(page.get_by_role("list", name="Examples").get_by_role("listitem")).to_have_count(
                number + 1
            )
    expect(page.get_by_text("3 drawn, with what is on the pad. Ready to teach.")).to_be_visible()
    teach.click()
    done = page.get_by_role("region", name="What teaching has done")
    expect(done).to_contain_text("right before", timeout=AWAIT)
    expect(done.get_by_role("heading")).to_contain_text("star is known")
    expect(page.get_by_role("combobox", name="Grow")).to_have_value("grown/star.safetensors")
    assert (tmp_path / "grown" / "star.safetensors").is_file()
    page.evaluate("scrollTo(0, 0)")
    draw(page, star(100))
    expect(answer(page)).to_have_text("star")
    page.get_by_role("checkbox", name="star").uncheck()
    expect(answer(page)).not_to_have_text("star")
    expect(page.get_by_role("heading", name="Knows 10")).to_be_visible()
    page.reload()
    expect(page.get_by_role("checkbox", name="star")).not_to_be_checked()
    page.get_by_role("checkbox", name="star").check()
    expect(answer(page)).to_have_text("star")
    page.set_viewport_size({"width": 390, "height": 844})
    assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


def test_an_empty_folder_leads_to_the_bench_and_errors_are_said(
    page: Page, studio_url: UrlOf, parts_folder: Path, tmp_path: Path
) -> None:
    address = studio_url(tmp_path)
    page.goto(f"{address}#/grow")
    expect(page.get_by_role("link", name="Train some on the bench")).to_be_visible()
    shutil.copytree(parts_folder, tmp_path / "parts")
    (tmp_path / "few.csv").write_text("a\n0\n0\n")
    page.reload()
    page.get_by_text("From data in the folder").click()
    page.get_by_role("button", name="Add its new classes").click()
    expect(page.get_by_role("alert")).not_to_be_empty(timeout=AWAIT)
