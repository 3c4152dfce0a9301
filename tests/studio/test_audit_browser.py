"""The audit view in a browser: start, watch, cancel, reload, and the numbers of the library at the end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import dovetail as dt

from .audits import audit_folder, planted
from .conftest import HeldJobs, UrlOf
from .keyboard import tab_to

pytestmark = pytest.mark.slow
LONG = 120_000
"""Milliseconds for a process to start and read torch, on a machine that is busy."""


def open_audit(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("button", name="Start the audit")).to_be_visible()


def test_the_null_fills_up_and_can_be_cancelled(
    studio_url: UrlOf, page: Page, tmp_path: Path, held_jobs: HeldJobs
) -> None:
    held_jobs.let_go_to(1)
    open_audit(page, studio_url(audit_folder(tmp_path, units=20)))
    page.get_by_role("spinbutton", name="Clusters").fill("3")
    page.get_by_role("spinbutton", name="Shuffled copies").fill("10000")
    page.get_by_role("button", name="Start the audit").click()
    copies = page.locator("[data-number=copies]")
    expect(copies).to_have_text(re.compile(r"^[1-9][\d,]* of 10,000$"), timeout=LONG)
    first = int(copies.inner_text().split()[0].replace(",", ""))
    held_jobs.let_go_to(first + 1)
    expect(copies).not_to_have_text(f"{first:,} of 10,000")
    assert int(copies.inner_text().split()[0].replace(",", "")) > first
    chart = page.get_by_role("group", name=re.compile("n-cuts of shuffled copies"))
    expect(chart.get_by_text(re.compile(r"[\d,]+ of 10,000 shuffled copies"))).to_be_visible()

    page.reload()  # the job goes on, and is found again
    expect(copies).to_have_text(re.compile(r"^[1-9][\d,]* of 10,000$"))
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text(re.compile(r"Incomplete: [\d,]+ of 10,000 shuffled copies"))).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
    page.reload()
    expect(page.get_by_text("Incomplete:")).to_be_visible()
    expect(copies).to_have_text(re.compile(r"^[1-9][\d,]* of 10,000$"))


def test_an_audit_by_keyboard_ends_with_the_numbers_of_the_library(
    studio_url: UrlOf, page: Page, tmp_path: Path
) -> None:
    page.goto(studio_url(audit_folder(tmp_path)))
    tab_to(page, page.get_by_role("link", name="Audit"))
    page.keyboard.press("Enter")
    for name, value in (("Clusters", "3"), ("Shuffled copies", "8"), ("Seed", "2"), ("Save into", "kept")):
        tab_to(page, page.get_by_label(name).first)
        page.keyboard.press("Control+a")
        page.keyboard.type(value)
    tab_to(page, page.get_by_role("button", name="Start the audit"))
    page.keyboard.press("Enter")

    expect(page.get_by_text("Clusters by layer")).to_be_visible(timeout=LONG)
    found = dt.clusterability(planted(), k=3, shuffles=8, seed=2, progress=False)
    expect(page.locator("[data-number=ncut]")).to_have_text(f"{found.ncut:.4f}")
    expect(page.locator("[data-number=p]")).to_have_text(f"{found.p_value:.3g}")
    expect(page.locator("[data-number=z]")).to_have_text(f"{found.z_score:.2f}")
    expect(page.locator("[data-number=copies]")).to_have_text("8")
    expect(page.get_by_text("--k 3 --shuffles 8 --shuffle layer --seed 2 -o kept")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as JSON").click()
    audit = json.loads(download.value.path().read_text())
    assert audit["clusterability"] == found.to_dict()
    assert json.loads((tmp_path / "kept" / "audit.json").read_text()) == audit

    def form() -> list[str]:
        fields = ("Clusters", "Shuffled copies", "Seed", "Save into")
        return [page.get_by_label(name).first.input_value() for name in fields]

    page.reload()
    expect(page.locator("[data-number=ncut]")).to_have_text(f"{found.ncut:.4f}")
    assert form() == ["3", "8", "2", ""]  # what is shown can be asked again, but is not written over
    page.goto(page.url.partition("#")[0] + "#/audit?saved=kept")
    expect(page.get_by_role("heading", name="Saved in kept")).to_be_visible()
    expect(page.locator("[data-number=p]")).to_have_text(f"{found.p_value:.3g}")
    expect(page.get_by_label("Clusters").first).to_have_value("3")
    assert form() == ["3", "8", "2", ""]


def test_what_the_server_refuses_is_said_in_place(studio_url: UrlOf, page: Page, tmp_path: Path) -> None:
    open_audit(page, studio_url(audit_folder(tmp_path)))
    network = tmp_path / "planted.safetensors"  # offered while it was whole
    page.get_by_label("Network").select_option(network.name)
    network.write_bytes(network.read_bytes()[:100])
    page.get_by_role("button", name="Start the audit").click()
    expect(page.get_by_role("alert")).to_contain_text(network.name, timeout=LONG)


def test_a_folder_without_networks_says_what_to_do(studio_url: UrlOf, page: Page, tmp_path: Path) -> None:
    page.goto(studio_url(tmp_path))
    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_text("There is no file of weights")).to_be_visible()


def test_nothing_is_cut_off_on_a_phone(studio_url: UrlOf, page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_audit(page, studio_url(audit_folder(tmp_path)))
    page.get_by_role("spinbutton", name="Shuffled copies").fill("2")
    page.get_by_role("button", name="Start the audit").click()
    expect(page.get_by_text("Clusters by layer")).to_be_visible(timeout=LONG)
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
