"""Where one was, in a browser: back and forward, what runs, what has stopped, what is new, and tabs nobody sees."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from .audits import audit_folder, save_audit
from .conftest import UrlOf
from .run_folders import write_run
from .sculptures import save_run

pytestmark = pytest.mark.slow

LONG = 60_000
"""Milliseconds for what is looked at every few seconds, on a machine that is busy."""

JOB = {"id": "j", "kind": "audit", "title": "Audit of it", "done": 1, "total": 4, "note": "", "started": 0}


def copy_parts(parts_folder: Path, folder: Path, *numbers: int) -> None:
    for number in numbers:
        shutil.copy(parts_folder / f"digits-{number}-seed0.safetensors", folder)


def boxes(page: Page) -> Locator:
    return page.get_by_role("checkbox", checked=True)


def test_back_and_forward_stay_in_the_view(
    studio_url: UrlOf, page: Page, parts_folder: Path, tmp_path: Path
) -> None:
    copy_parts(parts_folder, tmp_path, 3, 5, 8)
    write_run(tmp_path / "one")
    write_run(tmp_path / "two", done=1)
    save_run(tmp_path / "xor")
    url = studio_url(tmp_path)
    page.goto(url)
    headline = page.locator(".bench-headline")
    expect(headline).to_contain_text("3 specialists summed")
    page.get_by_role("checkbox", name="5", exact=True).uncheck()
    expect(headline).to_contain_text("2 specialists summed")
    page.get_by_label("Method").select_option("logits")
    expect(headline).to_contain_text("2 specialists with averaged logits")
    page.go_back()
    expect(headline).to_contain_text("2 specialists summed")
    expect(page.get_by_label("Method")).to_have_value("sum")
    page.go_back()
    expect(headline).to_contain_text("3 specialists summed")
    expect(boxes(page)).to_have_count(3)
    page.go_forward()
    expect(boxes(page)).to_have_count(2)

    page.get_by_role("link", name="Networks").click()
    file = page.get_by_label("File", exact=True)
    expect(file).to_have_value("xor/seed0.safetensors")
    file.select_option("digits-3-seed0.safetensors")
    expect(page.get_by_role("link", name="Audit it")).to_have_attribute(
        "href", "#/audit?file=digits-3-seed0.safetensors"
    )
    page.go_back()
    expect(file).to_have_value("xor/seed0.safetensors")

    page.get_by_role("link", name="Draw").click()
    method = page.get_by_label("Method")
    method.select_option("logits")
    page.go_back()
    expect(page).to_have_title("Draw · Dovetail studio")
    expect(method).to_have_value("sum")

    page.get_by_role("link", name="Runs").click()
    page.get_by_role("button", name="run", exact=True).click()
    page.get_by_role("button", name="run", exact=True).click()
    names = page.get_by_role("region", name="Runs of recipes").locator("tbody a")
    expect(names).to_have_text(["two", "one"])
    page.go_back()
    expect(names).to_have_text(["one", "two"])
    page.go_back()
    page.go_back()
    expect(page).to_have_title("Draw · Dovetail studio")


def test_the_folder_is_watched_in_every_view(
    studio_url: UrlOf, page: Page, parts_folder: Path, tmp_path: Path
) -> None:
    copy_parts(parts_folder, tmp_path, 3)
    page.goto(studio_url(tmp_path))
    expect(boxes(page)).to_have_count(1)
    copy_parts(parts_folder, tmp_path, 5)
    expect(boxes(page)).to_have_count(2, timeout=LONG)
    page.get_by_role("link", name="Audit").click()
    files = page.get_by_label("Network").locator("option")
    expect(files).to_have_count(2)
    audit_folder(tmp_path)
    save_audit(tmp_path, "kept")
    expect(files).to_have_count(3, timeout=LONG)
    saved = page.get_by_role("navigation", name="Audits").get_by_role("link", name="kept")
    saved.click(timeout=LONG)
    expect(page.get_by_role("heading", name="Saved in kept")).to_be_visible()
    page.get_by_role("link", name="Networks").click()
    files = page.get_by_label("File", exact=True).locator("option")
    expect(files).to_have_count(3)
    copy_parts(parts_folder, tmp_path, 8)
    page.get_by_role("button", name="Show them").click(timeout=LONG)
    expect(files).to_have_count(4)


Say = Callable[[dict[str, object]], None]


@pytest.fixture
def pulse(page: Page, studio_url: UrlOf, tmp_path: Path) -> Say:
    """A page whose studio says of itself what it is told to."""
    said: list[dict[str, object]] = [{"jobs": [], "files": {}}]
    page.route("**/api/pulse", lambda route: route.fulfill(json=said[-1]))
    page.goto(studio_url(tmp_path))
    return said.append


def test_running_jobs_show_in_the_header(page: Page, pulse: Say) -> None:
    jobs = page.get_by_role("status", name="Running jobs")
    expect(jobs).to_be_hidden()
    pulse({"jobs": [JOB], "files": {}})
    link = jobs.get_by_role("link", name="Audit of it: 25 %")
    expect(link).to_have_attribute("href", "#/audit?job=j", timeout=LONG)
    pulse({"jobs": [], "files": {}})
    expect(jobs).to_be_hidden(timeout=LONG)


def test_a_stopped_server_says_so_and_is_found_again(page: Page, pulse: Say) -> None:
    expect(page).to_have_title("Bench · Dovetail studio")
    page.evaluate(
        "() => { globalThis.whole = fetch; globalThis.fetch = () => Promise.reject(new TypeError('gone')); }"
    )
    trouble = page.locator("#trouble")
    expect(trouble).to_contain_text(
        "The studio does not answer. Is it still running in its terminal?", timeout=LONG
    )
    page.evaluate("() => { globalThis.fetch = whole; }")
    expect(trouble).to_be_empty(timeout=LONG)


def test_a_hidden_tab_asks_nothing(page: Page, pulse: Say) -> None:
    found = page.evaluate(
        """async () => {
          const { poll } = await import("/static/js/poll.js");
          let hidden = true;
          let looks = 0;
          Object.defineProperty(document, "hidden", { get: () => hidden });
          const turned = () => document.dispatchEvent(new Event("visibilitychange"));
          const settled = () => new Promise((resolve) => setTimeout(resolve, 50));
          const found = [];
          const note = async () => { await settled(); found.push(looks); };
          const stop = poll(async () => { looks += 1; }, 1e6);
          await note();
          hidden = false; turned(); await note();
          turned(); await note();
          hidden = true; turned(); await note();
          stop(); hidden = false; turned(); await note();
          return found;
        }"""
    )
    assert found == [0, 1, 2, 2, 2]
