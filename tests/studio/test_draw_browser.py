"""The draw view in a real browser: draw by mouse and by keyboard, drop a class, go through test images."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

import dovetail as dt
from dovetail.specialists import open_file

from .conftest import UrlOf
from .strokes import Points, line, placed
from .test_draw import save_specialists

pytestmark = pytest.mark.slow  # a browser each time

ZERO = placed(0, 0.3, 0.15, 0.4, 0.65)
ONE = [line((0.55, 0.1), (0.5, 0.85))]
"""On a pad of side 1."""


@pytest.fixture
def address(studio_url: UrlOf, parts_folder: Path) -> str:
    return f"{studio_url(parts_folder)}#/draw"


@pytest.fixture
def pad(page: Page, address: str) -> Page:
    """The view, with an empty pad."""
    page.goto(address)
    expect(page.get_by_label("Drawing pad")).to_be_visible()
    return page


def draw(page: Page, strokes: list[Points]) -> None:
    """Draw strokes with the mouse."""
    box = page.get_by_label("Drawing pad").bounding_box()
    assert box is not None
    for stroke in strokes:
        (first, *rest) = stroke * (box["width"], box["height"]) + (box["x"], box["y"])
        page.mouse.move(*first)
        page.mouse.down()
        for point in rest:
            page.mouse.move(*point)
        page.mouse.up()


def answer(page: Page) -> Locator:
    return page.get_by_role("status", name="The composite says")


def bar(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name="Composite").locator(f"li[data-class='{name}']")


def box_of(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name="Specialists").get_by_role("checkbox", name=name, exact=True)


@pytest.mark.parametrize(("strokes", "name"), [(ZERO, "0"), (ONE, "1")])
def test_a_digit_is_recognised_until_its_specialist_is_dropped(
    pad: Page, strokes: list[Points], name: str
) -> None:
    draw(pad, strokes)
    expect(answer(pad)).to_have_text(name)
    expect(bar(pad, name)).to_have_class("winner")
    box_of(pad, name).uncheck()
    expect(pad.get_by_role("heading", name="Composite of 9")).to_be_visible()
    expect(answer(pad)).not_to_have_text(name)
    expect(answer(pad)).not_to_be_empty()
    expect(bar(pad, name)).to_have_class("unknown")
    share = bar(pad, name).locator(".share")
    expect(share).not_to_be_empty()
    assert float(share.inner_text().split()[0]) < 20
    box_of(pad, name).check()
    expect(answer(pad)).to_have_text(name)


def test_who_comes_nearest_is_said_where_no_one_is_sure(pad: Page) -> None:
    undecided = {
        "probabilities": [0.08] * 3 + [0.36] + [0.06] * 6,
        "entropy": 2.0,
        "winner": 3,
        "decided": False,
    }

    def doubt(route: Route) -> None:
        drawn = route.fetch().json()
        route.fulfill(json={**drawn, "composite": undecided})

    pad.route("**/api/draw/drawing", doubt)
    draw(pad, ONE)
    expect(answer(pad)).to_have_text("undecided")
    expect(pad.get_by_text("nearest 3 with 36 %, entropy 2.00 of 2.30")).to_be_visible()
    pad.unroute_all(behavior="ignoreErrors")  # the last stroke may still be asked about


def test_a_drawing_can_be_taken_back(pad: Page) -> None:
    expect(answer(pad)).to_be_empty()
    draw(pad, ONE)
    expect(answer(pad)).to_have_text("1")
    draw(pad, [line((0.2, 0.85), (0.85, 0.85)), line((0.2, 0.1), (0.85, 0.1))])
    expect(answer(pad)).not_to_have_text("1")
    pad.get_by_role("button", name="Undo").click()
    pad.get_by_role("button", name="Undo").click()
    expect(answer(pad)).to_have_text("1")
    pad.get_by_role("button", name="Clear").click()
    expect(answer(pad)).to_be_empty()
    expect(pad.get_by_role("button", name="Undo")).to_be_disabled()


def test_the_drawing_stays_after_a_reload_and_a_look_elsewhere(pad: Page) -> None:
    draw(pad, ONE)
    expect(answer(pad)).to_have_text("1")
    pad.reload()
    expect(answer(pad)).to_have_text("1")
    pad.get_by_role("link", name="Audit").click()
    expect(pad.get_by_label("Drawing pad")).to_have_count(0)
    pad.get_by_role("link", name="Draw").click()
    expect(answer(pad)).to_have_text("1")
    pad.get_by_role("button", name="Test images").click()
    pad.get_by_role("button", name="Take it to the pad").click()
    expect(pad.locator(".seen")).to_have_js_property("width", 8)
    seen = "canvas => canvas.toDataURL()"
    taken = pad.locator(".pad").evaluate(seen)
    pad.reload()
    expect(answer(pad)).not_to_be_empty()
    assert pad.locator(".pad").evaluate(seen) == taken
    pad.get_by_role("button", name="Clear").click()
    expect(answer(pad)).to_be_empty()
    pad.reload()
    expect(pad.get_by_role("button", name="Clear")).to_be_disabled()


def test_specialists_are_loud_only_where_they_know(pad: Page) -> None:
    draw(pad, ZERO)
    expect(answer(pad)).to_have_text("0")
    cards = pad.get_by_role("region", name="Specialists").locator(".specialist")
    expect(cards.filter(has=pad.get_by_role("checkbox", name="0", exact=True))).not_to_have_class(
        re.compile("undecided")
    )
    expect(cards.filter(has=pad.get_by_role("checkbox", name="1", exact=True))).to_have_class(
        re.compile("undecided")
    )


def test_a_dot_and_a_stroke_beside_the_pad_do_no_harm(pad: Page) -> None:
    draw(pad, [line((0.5, 0.5), (0.5, 0.5))])
    expect(answer(pad)).not_to_be_empty()
    draw(pad, [line((0.02, 0.02), (-0.4, -0.4))])
    pad.get_by_role("button", name="Clear").click()
    expect(answer(pad)).to_be_empty()


def test_keyboard_alone_draws_and_drops(pad: Page) -> None:
    for _ in range(30):
        if pad.get_by_label("Drawing pad").evaluate("element => element === document.activeElement"):
            break
        pad.keyboard.press("Tab")
    expect(pad.get_by_label("Drawing pad")).to_be_focused()
    press(pad, "ArrowUp", 10)
    pad.keyboard.press("Space")
    press(pad, "ArrowDown", 20)
    pad.keyboard.press("Space")
    expect(answer(pad)).to_have_text("1")
    press(pad, "ArrowRight", 5)  # the pen is up
    pad.keyboard.press("Space")
    press(pad, "ArrowUp", 20)
    expect(answer(pad)).not_to_have_text("1")
    pad.keyboard.press("Control+z")
    expect(answer(pad)).to_have_text("1")
    for _ in range(30):
        if box_of(pad, "1").evaluate("element => element === document.activeElement"):
            break
        pad.keyboard.press("Tab")
    pad.keyboard.press("Space")
    expect(pad.get_by_role("heading", name="Composite of 9")).to_be_visible()
    expect(box_of(pad, "1")).to_be_focused()
    expect(answer(pad)).not_to_have_text("1")


def press(page: Page, key: str, times: int) -> None:
    for _ in range(times):
        page.keyboard.press(key)


def test_test_images_are_gone_through_from_the_worst_on(pad: Page, parts_folder: Path) -> None:
    test = dt.load("digits").test
    composite = dt.compose([open_file(file) for file in parts_folder.glob("*.safetensors")])
    wrong = int((composite(test.x).argmax(1) != test.y).sum())
    pad.get_by_role("button", name="Test images").click()
    expect(pad.locator(".where")).to_have_text("1 of 360")
    expect(pad.get_by_text(f"Worst first, on all 360 test images; {wrong} mistakes.")).to_be_visible()
    first = loss(pad)
    expect(pad.locator(".truth .bad")).to_have_count(1)
    pad.get_by_role("button", name="Next").click()
    expect(pad.locator(".where")).to_have_text("2 of 360")
    second = loss(pad)
    pad.keyboard.press("ArrowRight")
    expect(pad.locator(".where")).to_have_text("3 of 360")
    assert first >= second >= loss(pad)
    pad.reload()
    expect(pad.locator(".where")).to_have_text("3 of 360")
    press(pad, "ArrowLeft", 2)
    expect(pad.locator(".where")).to_have_text("1 of 360")
    expect(pad.get_by_role("button", name="Previous")).to_be_disabled()
    pad.get_by_label("Only mistakes").check()
    expect(pad.locator(".where")).to_have_text(f"1 of {wrong}")
    pad.get_by_label("Only mistakes").uncheck()
    pad.get_by_role("combobox", name="Class").select_option("7")
    expect(pad.locator(".where")).to_have_text(f"1 of {int((test.y == 7).sum())}")
    expect(pad.locator(".truth")).to_contain_text("True class 7")


def loss(page: Page) -> float:
    found = re.search(r"loss ([\d.]+)\)", page.locator(".truth").inner_text())
    assert found
    return float(found[1])


def test_an_image_is_taken_to_the_pad(pad: Page) -> None:
    pad.get_by_role("button", name="Test images").click()
    pad.get_by_role("combobox", name="Class").select_option("0")
    expect(pad.locator(".truth")).to_contain_text("True class 0")
    pad.get_by_role("button", name="Take it to the pad").click()
    expect(pad.get_by_label("Drawing pad")).to_be_visible()
    expect(answer(pad)).not_to_be_empty()
    pad.get_by_role("button", name="Clear").click()
    draw(pad, ONE)
    expect(answer(pad)).to_have_text("1")


def test_method_and_ticks_stay_after_a_reload(pad: Page) -> None:
    pad.get_by_label("Method").select_option("logits")
    box_of(pad, "4").uncheck()
    expect(pad.get_by_role("heading", name="Composite of 9 (logits)")).to_be_visible()
    pad.reload()
    expect(pad.get_by_role("heading", name="Composite of 9 (logits)")).to_be_visible()
    expect(box_of(pad, "4")).not_to_be_checked()
    draw(pad, ZERO)
    expect(answer(pad)).to_have_text("0")


def test_no_one_ticked_is_said_and_mended(pad: Page) -> None:
    draw(pad, ZERO)
    for name in range(10):
        box_of(pad, str(name)).uncheck()
    expect(pad.get_by_text("Tick at least one specialist.")).to_be_visible()
    box_of(pad, "0").check()
    expect(answer(pad)).to_have_text("0")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_narrow_screens_have_it_all_in_one_column(pad: Page, theme: str) -> None:
    pad.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    pad.set_viewport_size({"width": 390, "height": 664})  # a small phone, with the browser's own bars
    draw(pad, ONE)
    expect(answer(pad)).to_have_text("1")
    pad.evaluate("scrollTo(0, 0)")
    below = "element => element.getBoundingClientRect().bottom"
    assert answer(pad).evaluate(below) < pad.get_by_label("Drawing pad").evaluate(below) <= 664
    for tab in ("Pad", "Test images"):
        pad.get_by_role("button", name=tab).click()
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not pad.evaluate(wide)


def test_data_without_images_and_no_data_are_explained(page: Page, studio_url: UrlOf, tmp_path: Path) -> None:
    address = studio_url(tmp_path)
    page.goto(f"{address}#/draw")
    expect(page.get_by_text("There are no specialists in this folder.")).to_be_visible()
    save_specialists(tmp_path, "sensors", (6,))
    page.reload()
    expect(page.get_by_text("sensors holds no images")).to_be_visible()
    expect(page.get_by_label("Drawing pad")).to_have_count(0)
