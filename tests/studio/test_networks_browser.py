"""The Networks view in a real browser: look into a sculpture by mouse and by keyboard, and take a module out."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import dovetail as dt
from dovetail.specialists import open_file
from dovetail.studio.networks.grouping import group_units
from dovetail.studio.networks.reading import read_network
from dovetail.studio.networks.taking_out import without_module

from .conftest import UrlOf
from .sculptures import save_run, sculpture

pytestmark = pytest.mark.slow


@pytest.fixture
def address(tmp_path: Path, studio_url: UrlOf) -> str:
    """A studio with one sculpture, and a file that cannot be opened; its address at the Networks view."""
    save_run(tmp_path / "run")
    (tmp_path / "broken.pt").write_bytes(b"nothing")
    return f"{studio_url(tmp_path)}#/networks"


@pytest.fixture
def opened(page: Page, address: str) -> Page:
    """The sculpture on the page, chosen from the list."""
    page.goto(address)
    page.get_by_label("File", exact=True).select_option("run/seed0.safetensors")
    expect(page.get_by_role("heading", name="Sculpture for [4,2,4], seed 0")).to_be_visible()
    return page


def module(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=f"{name}: 2 inputs, 2 hidden, 2 outputs")


def test_modules_layers_and_what_cannot_be_opened(opened: Page) -> None:
    expect(module(opened, "M1")).to_have_attribute("aria-expanded", "false")
    expect(module(opened, "M2")).to_have_attribute("aria-expanded", "false")
    expect(opened.locator("circle.unit")).to_have_count(0)
    edges = [row.split("\t")[3] for row in opened.locator(".networks-layers tbody tr").all_inner_texts()]
    assert edges == ["–", *(f"{int(links.sum())}" for links in sculpture().hierarchy.connections)]
    opened.get_by_text("1 file cannot be opened").click()
    expect(opened.get_by_text("'broken.pt' is damaged")).to_be_visible()


def test_a_module_opens_on_a_click_and_a_unit_tells_its_edges(opened: Page) -> None:
    module(opened, "M1").click()
    expect(module(opened, "M1")).to_have_attribute("aria-expanded", "true")
    expect(opened.locator("circle.unit")).to_have_count(6)
    opened.locator("circle.unit[aria-label^='output y2']").hover()
    panel = opened.get_by_role("region", name="Unit")
    weights = sculpture().network.state_dict()["output.weight"][1]
    strongest = int(weights.abs().argmax())
    expect(panel.get_by_role("heading", name="y2")).to_be_visible()
    first = panel.get_by_role("listitem").first
    expect(first).to_contain_text(f"hidden 1, unit {strongest + 1}")
    sign = "+" if weights[strongest] > 0 else "−"
    expect(first).to_contain_text(f"{sign}{abs(float(weights[strongest])):.2f}")
    expect(opened.locator(".hierarchy-about")).to_contain_text(
        "output y2 · y2 = ~(x1 ^ x2) · M1 · from hidden 1"
    )


def test_everything_with_the_keyboard_alone(page: Page, address: str) -> None:
    page.goto(address)
    expect(module(page, "M1")).to_be_visible()  # the first sculpture is there without being asked for
    page.get_by_label("File", exact=True).focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("heading", name="Modules of a network")).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("heading", name="Sculpture for [4,2,4], seed 0")).to_be_visible()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''").startswith("M1:"):
            break
    page.keyboard.press("Enter")
    expect(module(page, "M1")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    expect(page.locator("circle.unit:focus")).to_have_count(1)
    expect(page.get_by_role("region", name="Unit").get_by_role("heading", level=4)).to_have_text("x1")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(module(page, "M1")).to_have_attribute("aria-expanded", "false")
    for _ in range(3):  # to M2, to the search, and to the list of modules
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Take out M1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Without M1, outputs y1, y2 break.")).to_be_visible()


def test_taking_a_module_out_tells_which_outputs_break(opened: Page, tmp_path: Path) -> None:
    opened.get_by_role("button", name="Take out M2").click()
    expect(opened.get_by_text("Without M2, outputs y3, y4 break.")).to_be_visible()
    network = read_network(tmp_path / "run" / "seed0.safetensors")
    expected = without_module(network, group_units(network), 1)
    rows = [row.split("\t") for row in opened.locator(".networks-outcome tbody tr").all_inner_texts()]
    assert rows == [
        [output.name, f"{output.before:.1%}".replace("%", " %"), f"{output.after:.1%}".replace("%", " %"),
         "breaks" if output.broken else "holds"]
        for output in expected.outputs
    ]  # fmt: skip
    expect(module(opened, "M2")).to_have_class("module out hurt")
    opened.get_by_role("button", name="Put back M2").click()
    expect(opened.locator(".networks-outcome")).to_have_count(0)
    expect(module(opened, "M2")).to_have_class("module")


def view_box(page: Page) -> list[float]:
    text = page.locator(".hierarchy svg").get_attribute("viewBox")
    assert text is not None
    return [float(number) for number in text.split()]


def test_the_drawing_is_zoomed_moved_and_fitted(opened: Page) -> None:
    whole = view_box(opened)
    svg = opened.locator(".hierarchy svg")
    opened.get_by_role("button", name="Zoom in").click()
    near = view_box(opened)
    assert near[2] < whole[2]
    box = svg.bounding_box()
    assert box is not None
    opened.mouse.move(box["x"] + box["width"] / 2, box["y"] + 8)
    opened.mouse.down()
    opened.mouse.move(box["x"] + box["width"] / 2 + 30, box["y"] + 38, steps=4)
    opened.mouse.up()
    moved = view_box(opened)
    assert moved[0] < near[0]
    assert moved[2] == near[2]
    expect(module(opened, "M1")).to_have_attribute("aria-expanded", "false")  # that was no click
    opened.keyboard.down("Control")
    opened.mouse.wheel(0, -200)
    opened.keyboard.up("Control")
    expect(svg).not_to_have_attribute("viewBox", " ".join(f"{number:g}" for number in moved))
    assert view_box(opened)[2] < moved[2]
    module(opened, "M1").focus()
    opened.keyboard.press("0")
    assert view_box(opened) == whole
    expect(opened.get_by_role("button", name="Fit")).to_be_disabled()
    opened.keyboard.press("+")
    opened.keyboard.press("Shift+ArrowRight")
    assert view_box(opened)[0] > near[0]
    opened.keyboard.press("-")
    assert view_box(opened) == whole


def test_a_unit_is_found_by_name_and_taken_out(opened: Page) -> None:
    opened.get_by_role("searchbox", name="Find").fill("y3")
    opened.get_by_role("list", name="Found").get_by_role("button", name="y3", exact=True).click()
    panel = opened.get_by_role("region", name="Unit")
    expect(panel.get_by_role("heading", name="y3")).to_be_visible()
    expect(module(opened, "M2")).to_have_attribute("aria-expanded", "true")  # where it is
    expect(opened.locator("circle.unit.mine[aria-label^='output y3']")).to_have_count(1)
    panel.get_by_role("button", name="What breaks without it?").click()
    expect(panel.get_by_text("Without y3, no output breaks.")).to_be_visible()
    opened.get_by_role("searchbox", name="Find").fill("x3")
    opened.get_by_role("list", name="Found").get_by_role("button", name="x3", exact=True).click()
    expect(panel.get_by_role("heading", name="x3")).to_be_visible()
    panel.get_by_role("button", name="What breaks without it?").click()
    expect(panel.get_by_text("Without x3, outputs y3, y4 break.")).to_be_visible()
    opened.get_by_role("searchbox", name="Find").fill("nobody")
    expect(opened.get_by_text("Nothing is called so.")).to_be_visible()


def test_a_composite_is_a_matrix_first(
    page: Page, studio_url: UrlOf, parts_folder: Path, tmp_path: Path
) -> None:
    team = [open_file(file) for file in sorted(parts_folder.glob("*.safetensors"))]
    dt.compose(team).save(tmp_path / "ten.safetensors")
    page.goto(f"{studio_url(tmp_path)}#/networks")
    matrix = page.get_by_role("region", name="Parts and outputs").last
    expect(matrix.get_by_role("rowheader")).to_have_text(list("0123456789"))
    expect(matrix.locator("td.own")).to_have_count(10)
    expect(page.locator(".networks-parts ~ .networks-columns .hierarchy svg")).to_be_visible()
    page.get_by_label("Group units by").select_option("layers")
    expect(page.locator(".networks-modules li")).to_have_count(3)


def test_a_reload_keeps_the_place(opened: Page) -> None:
    module(opened, "M2").click()
    opened.get_by_role("button", name="Take out M1").click()
    opened.get_by_label("Layer").select_option("outputs (output)")
    expect(opened.get_by_role("heading", name="y1")).to_be_visible()
    opened.reload()
    expect(opened.get_by_label("File")).to_have_value("run/seed0.safetensors")
    expect(module(opened, "M2")).to_have_attribute("aria-expanded", "true")
    expect(opened.get_by_text("Without M1, outputs y1, y2 break.")).to_be_visible()
    expect(opened.get_by_role("heading", name="y1")).to_be_visible()


def test_units_can_be_grouped_otherwise(opened: Page) -> None:
    opened.get_by_label("Group units by").select_option("clusters")
    expect(opened.get_by_role("heading", name="Clusters")).to_be_visible()
    opened.get_by_label("How many").select_option("2")
    expect(opened.locator(".networks-modules li")).to_have_count(2)
    opened.get_by_label("Edges").select_option("strongest 50 %")
    expect(opened.get_by_text("Only the strongest 50 % of the edges")).to_be_visible()
    expect(opened.locator(".networks-modules li")).to_have_count(2)  # of the whole network, drawn or not
    opened.get_by_label("Group units by").select_option("modules")
    expect(opened.locator(".networks-modules li")).to_have_count(2)
    opened.get_by_label("Edges").select_option("all")
    expect(opened.locator(".networks-modules li")).to_have_count(2)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(opened: Page, width: int, scheme: str) -> None:
    opened.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened.set_viewport_size({"width": width, "height": 900})
    opened.get_by_role("button", name="Take out M1").click()
    expect(opened.get_by_text("Without M1")).to_be_visible()
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    boxes = [box for box in (card.bounding_box() for card in opened.locator(".card").all()) if box]
    for number, box in enumerate(boxes):
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        for other in boxes[:number]:
            apart_across = other["x"] + other["width"] <= box["x"] or box["x"] + box["width"] <= other["x"]
            apart_down = other["y"] + other["height"] <= box["y"] or box["y"] + box["height"] <= other["y"]
            assert apart_across or apart_down
