"""Side by side in a browser: composites, runs and audits; and what is taken away as CSV and PNG."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Download, Locator, Page, expect

import dovetail as dt
from dovetail.recipes import Comparison, find_recipe
from dovetail.report.chart_frame import chart_content
from dovetail.report.charts_training import Curve, training_chart
from dovetail.specialists import Composite, Specialist

from .audits import audit_folder, save_audit
from .bench_parts import DIGITS
from .conftest import UrlOf
from .run_folders import RECIPE, finished_units, row, write_run

pytestmark = pytest.mark.slow


def rows_of(download: Download) -> list[list[str]]:
    return list(csv.reader(io.StringIO(download.path().read_text("utf-8-sig"))))


def take(page: Page, button: Locator) -> Download:
    with page.expect_download() as download:
        button.click()
    return download.value


def cells(region: Locator) -> list[list[str]]:
    return [one.locator("td").all_inner_texts() for one in region.locator("tbody tr").all()]


def test_two_composites_side_by_side(
    studio_url: UrlOf, page: Page, parts_folder: Path, tmp_path: Path
) -> None:
    parts = {}
    for number in (3, 5, 8):
        name = f"digits-{number}-seed0.safetensors"
        shutil.copy(parts_folder / name, tmp_path)
        parts[number] = dt.open(tmp_path / name)
        assert isinstance(parts[number], Specialist)
    kept = Composite([parts[number] for number in (3, 5, 8)]).evaluate(DIGITS.test)  # type: ignore[misc]
    now = Composite([parts[number] for number in (3, 8)]).evaluate(DIGITS.test)  # type: ignore[misc]
    page.goto(studio_url(tmp_path))
    page.get_by_role("button", name="Keep to compare").click()
    page.get_by_role("checkbox", name="5", exact=True).uncheck()
    beside = page.get_by_role("region", name="Side by side")
    expect(beside.get_by_text("2 specialists summed")).to_be_visible()
    numbers = beside.get_by_role("region", name="Two composites")
    expect(numbers.locator("tbody tr").first.locator("td").nth(1)).to_have_text(
        f"{100 * kept.rewarded_accuracy:.1f} %"
    )
    expect(numbers.locator("tbody tr").first.locator("td").nth(2)).to_have_text(
        f"{100 * now.rewarded_accuracy:.1f} %"
    )

    taken = rows_of(take(page, beside.get_by_role("button", name="CSV: Two composites")))
    assert taken[0] == ["measure", "A", "B", "B − A"]
    assert [float(value) for value in taken[1][1:]] == pytest.approx(
        [kept.rewarded_accuracy, now.rewarded_accuracy, now.rewarded_accuracy - kept.rewarded_accuracy]
    )
    confusion = rows_of(take(page, beside.get_by_role("button", name="CSV: What B takes")))
    assert confusion[0] == ["", *DIGITS.classes]
    assert [[int(count) for count in line[1:]] for line in confusion[1:]] == now.confusion.tolist()
    for what in ("Two composites", "What B takes"):
        with Image.open(take(page, beside.get_by_role("button", name=f"PNG: {what}")).path()) as picture:
            assert picture.width > 200
            assert len(set(picture.convert("RGB").resize((60, 60)).get_flattened_data())) > 5

    page.reload()
    expect(beside.get_by_text("3 specialists summed")).to_be_visible()
    expect(beside.get_by_text("2 specialists summed")).to_be_visible()
    beside.get_by_role("button", name="End comparison").click()
    expect(beside).to_be_hidden()


def test_runs_are_sorted_filtered_and_compared(studio_url: UrlOf, page: Page, tmp_path: Path) -> None:
    for name, done in (
        ("1/first", 4),
        ("2/second", 2),
        ("3/third", 1),
    ):  # those beside each other share results
        write_run(tmp_path / name, done=done)
    page.goto(studio_url(tmp_path) + "#/runs")
    table = page.get_by_role("region", name="Runs of recipes")
    names = table.locator("tbody a")
    expect(names).to_have_text(["1/first", "2/second", "3/third"])
    table.get_by_role("button", name="units").click()
    expect(names).to_have_text(["3/third", "2/second", "1/first"])
    expect(table.get_by_role("columnheader", name="units")).to_have_attribute("aria-sort", "ascending")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="shows", exact=True).uncheck()
    expect(table.get_by_role("columnheader", name="shows")).to_have_count(0)
    page.get_by_role("searchbox", name="Filter").fill("ir")
    expect(names).to_have_text(["3/third", "1/first"])
    page.reload()
    expect(names).to_have_text(["3/third", "1/first"])
    expect(table.get_by_role("columnheader", name="shows")).to_have_count(0)
    taken = rows_of(take(page, page.get_by_role("button", name="CSV: Runs")))
    assert [line[1] for line in taken] == ["run", "3/third", "1/first"]

    page.get_by_role("searchbox", name="Filter").fill("")
    for name in ("1/first", "2/second"):
        page.get_by_role("checkbox", name=f"Compare {name}").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", name="Runs side by side")).to_be_visible()
    (shown,) = find_recipe(RECIPE).tables("paper", finished_units())
    assert isinstance(shown, Comparison)
    compared = page.get_by_role("region", name=shown.title)
    heads = compared.locator("th").all_inner_texts()
    both = [cell for cell in shown.cells if cell.metric == "n-cut" and cell.ours][:1]
    line = next(line for line in cells(compared) if line[heads.index("quantity")] == "n-cut")
    assert line[heads.index("1/first")] == line[heads.index("2/second")] == both[0].ours.text(shown.digits)  # type: ignore[union-attr]
    assert float(line[heads.index("difference")]) == 0
    assert row()["pruned"]["measures"][0]["ncut"] == [float(line[heads.index("1/first")])]


def test_audits_side_by_side(studio_url: UrlOf, page: Page, tmp_path: Path) -> None:
    audit_folder(tmp_path)
    made = {name: save_audit(tmp_path, name, seed=seed) for seed, name in enumerate(("one", "two"))}
    page.goto(studio_url(tmp_path) + "#/audit")
    for name in made:
        page.get_by_role("checkbox", name=f"Compare {name}").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    table = page.get_by_role("region", name="Audits side by side")
    expect(table.locator("tbody tr")).to_have_count(2)
    heads = table.locator("th").all_inner_texts()
    for line in cells(table):
        found = made[line[0]]["clusterability"]
        assert line[heads.index("n-cut")] == f"{found['ncut']:.4f}"
        assert line[heads.index("seed")] == str(found["seed"])
    chart = page.get_by_role("group", name="Each network beside its shuffled copies")
    expect(chart.locator(".main-svg").first).to_be_visible(timeout=60_000)
    points = rows_of(take(page, chart.get_by_role("button", name="CSV")))[1:]
    own = [float(x) for series, x, _ in points if series == "the network"]
    assert own == pytest.approx([audit["clusterability"]["ncut"] / 3 for audit in made.values()])


def test_formulas_of_strangers_are_text_in_spreadsheets(
    studio_url: UrlOf, page: Page, tmp_path: Path
) -> None:
    page.goto(studio_url(tmp_path))
    text = page.evaluate(
        """async () => {
          const { csvText } = await import("/static/js/take-away.js");
          return csvText([["=1+1", "-2.5", -2.5, "+x", 'say "no"', "a,b", null]]);
        }"""
    )
    assert text == '\'=1+1,-2.5,-2.5,\'+x,"say ""no""","a,b",\r\n'


def test_curves_of_a_training_move(studio_url: UrlOf, page: Page, tmp_path: Path) -> None:
    job = {"id": "j", "kind": "demo", "title": "Training ten", "state": "running", "done": 1, "total": 4, "note": "",
           "error": None, "started": 0, "ended": None, "partial": None, "result": None}  # fmt: skip
    losses = {"3": Curve([0.9], [0.8])}

    def figure() -> dict[str, Any]:
        return chart_content(training_chart(losses))

    said = [{**job, "partial": {"curves": figure()}}]
    page.route("**/api/jobs", lambda route: route.fulfill(json=[job]))
    page.route("**/api/jobs/j", lambda route: route.fulfill(json=said[-1]))
    page.goto(studio_url(tmp_path) + "#/runs")
    lines = page.get_by_role("group", name="Training ten: loss").locator(".legendtext")
    expect(lines).to_have_text(["3, validation", "3, training"], timeout=60_000)
    losses["8"] = Curve([0.7, 0.6], [0.8, 0.7])
    said.append({**job, "state": "done", "result": {"curves": figure()}})
    expect(lines).to_have_text(
        ["3, validation", "3, training", "8, validation", "8, training"], timeout=60_000
    )
