"""Pictures in a browser: shades that fit the theme, colours that people force, and paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.slow

HEATMAP = """async () => {
  const { chartPlace } = await import("/static/js/chart.js");
  const place = chartPlace("A heatmap");
  document.querySelector("main").replaceChildren(place.element);
  const data = [{ type: "heatmap", z: [[0, 1]], x: ["a", "b"], y: ["c"], autocolorscale: true }];
  await place.draw({ data, layout: { height: 400 } });
}"""

SHADES = "document.querySelector('.chart')._fullData[0].colorscale.map(([, colour]) => colour)"


def numbers(page: Page, colour: str) -> list[int]:
    """Return a colour as the browser understands it."""
    text = page.evaluate(
        """colour => {
          const probe = document.createElement("span");
          probe.style = `forced-color-adjust: none; color: ${colour}`;
          document.body.append(probe);
          const { color } = getComputedStyle(probe);
          probe.remove();
          return color;
        }""",
        colour,
    )
    return [int(number) for number in re.findall(r"\d+", text)[:3]]


def shades(page: Page) -> list[list[int]]:
    return [numbers(page, colour) for colour in page.evaluate(SHADES)]


@pytest.fixture
def heatmap(page: Page, studio_url: Callable[[Path], str], tmp_path: Path) -> Page:
    page.goto(studio_url(tmp_path))
    expect(page.get_by_role("button", name="Train ten specialists")).to_be_visible()
    page.evaluate(HEATMAP)
    expect(page.locator(".chart .hm")).to_be_attached()
    return page


def test_shades_begin_at_the_colour_of_the_page(heatmap: Page) -> None:
    light = shades(heatmap)
    assert min(light[0]) > 240
    heatmap.emulate_media(color_scheme="dark")
    heatmap.wait_for_function(
        f"before => String({SHADES}) !== before", arg=",".join(heatmap.evaluate(SHADES))
    )
    dark = shades(heatmap)
    assert max(dark[0]) < 60
    assert sum(dark[1]) > sum(dark[0]) + 200  # more is still seen as more


def test_forced_colours_reach_charts_and_what_is_current(heatmap: Page) -> None:
    before = ",".join(heatmap.evaluate(SHADES))
    heatmap.emulate_media(forced_colors="active")
    heatmap.wait_for_function(f"before => String({SHADES}) !== before", arg=before)
    assert shades(heatmap)[0] == numbers(heatmap, "Canvas")
    font = heatmap.evaluate("document.querySelector('.chart')._fullLayout.font.color")
    assert numbers(heatmap, font) == numbers(heatmap, "CanvasText")
    current = heatmap.locator("nav a[aria-current]")
    assert "2px" in current.evaluate("link => getComputedStyle(link).outline")


def test_paper_is_light_and_numbered_and_has_nothing_to_press(heatmap: Page) -> None:
    heatmap.emulate_media(color_scheme="dark")
    heatmap.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    found: dict[str, Any] = heatmap.evaluate(
        """() => {
          const chart = document.querySelector(".chart");
          const look = () => ({ theme: document.documentElement.dataset.theme, height: chart._fullLayout.height });
          const settled = () => new Promise((resolve) => setTimeout(resolve));
          return (async () => {
            const screen = look();
            dispatchEvent(new Event("beforeprint"));
            await settled();
            const paper = look();
            dispatchEvent(new Event("afterprint"));
            await settled();
            const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
            const pages = rules.filter((rule) => rule instanceof CSSPageRule).map((rule) => rule.cssText);
            return { screen, paper, again: look(), pages };
          })();
        }"""
    )
    assert found["screen"] == found["again"] == {"theme": "dark", "height": 400}
    assert found["paper"] == {"theme": "light", "height": 280}
    assert "counter(page)" in found["pages"][0]
    heatmap.emulate_media(media="print")
    expect(heatmap.locator("header.top")).to_be_hidden()
    expect(heatmap.locator("main button").first).to_be_hidden()
    expect(heatmap.locator(".chart")).to_be_visible()
