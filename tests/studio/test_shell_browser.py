"""The frame around the views, in Chromium: links, keys, theme, narrow screens, and charts under our policy."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect

from dovetail.studio.serve import landing_page

from .conftest import TOKEN

pytestmark = pytest.mark.slow  # a browser each time

VIEWS = ("Bench", "Draw", "Grow", "Networks", "Audit", "Runs")

CHART = """async () => {
  const { drawChart } = await import("/static/js/chart.js");
  const box = document.createElement("div");
  box.id = "chart";
  document.querySelector("main").append(box);
  const data = [
    { type: "heatmap", z: [[1, 2], [3, 4]], colorscale: "Blues" },
    { type: "scatter", y: [1, 2], name: "line" },
    { type: "bar", y: [1, 2], name: "bars" },
  ];
  await drawChart(box, { data, layout: { height: 300, title: { text: "A chart" } } });
}"""


JOB = {"id": "j", "kind": "", "title": "Counting", "state": "running", "done": 1, "total": 4, "note": "one of four",
       "partial": None, "result": None, "error": None, "started": 0, "ended": None}  # fmt: skip


@pytest.fixture
def shell(page: Page, studio_url: Callable[[Path], str], tmp_path: Path) -> Page:
    page.goto(studio_url(tmp_path))
    expect(page).to_have_title("Bench · Dovetail studio")
    return page


def colour(page: Page, of: str = "body", what: str = "backgroundColor") -> tuple[int, ...]:
    text = page.evaluate("([of, what]) => getComputedStyle(document.querySelector(of))[what]", [of, what])
    return tuple(map(int, re.findall(r"\d+", text)[:3]))


def is_wider_than_the_screen(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


def test_token_leaves_the_address_and_links_lead_to_the_views(shell: Page) -> None:
    assert shell.url.endswith("/#/bench")
    assert TOKEN not in shell.url
    for name in VIEWS:
        shell.get_by_role("navigation").get_by_role("link", name=name).click()
        expect(shell).to_have_title(f"{name} · Dovetail studio")
        expect(shell.locator("nav [aria-current=page]")).to_have_text(name)
        assert shell.url.endswith(f"#/{name.lower()}")
    shell.reload()
    expect(shell).to_have_title("Runs · Dovetail studio")
    shell.go_back()
    expect(shell).to_have_title("Audit · Dovetail studio")


def test_a_link_of_another_site_leads_in_too(
    shell: Page, studio_url: Callable[[Path], str], tmp_path: Path
) -> None:
    other = studio_url(tmp_path)  # another host than localhost, which is what makes a site
    shell.goto(shell.url.replace("127.0.0.1", "localhost").replace("#", f"?token={TOKEN}#"))
    shell.evaluate("url => { location.href = url; }", other)
    shell.wait_for_url(other.partition("?")[0] + "#/bench")
    expect(shell).to_have_title("Bench · Dovetail studio")


def test_keyboard_alone_is_enough(shell: Page) -> None:
    shell.keyboard.press("Tab")
    expect(shell.get_by_role("link", name="Skip to the content")).to_be_focused()
    shell.keyboard.press("Enter")
    expect(shell.locator("main")).to_be_focused()
    expect(shell).to_have_title("Bench · Dovetail studio")
    shell.reload()
    for _ in range(2):  # the link to the content, the name
        shell.keyboard.press("Tab")
    for name in VIEWS:
        shell.keyboard.press("Tab")
        expect(shell.get_by_role("navigation").get_by_role("link", name=name)).to_be_focused()
    shell.keyboard.press("Shift+Tab")
    shell.keyboard.press("Enter")
    expect(shell).to_have_title("Audit · Dovetail studio")
    expect(shell.locator("main")).to_be_focused()
    for keys, name in (("gn", "Networks"), ("gg", "Grow")):
        title = re.compile(f"^{name} · Dovetail studio")
        for _ in range(20):  # a busy machine may take longer between two keys than a person who means both
            shell.keyboard.type(keys)
            with suppress(AssertionError):
                expect(shell).to_have_title(title, timeout=3_000)
                break
        expect(shell).to_have_title(title)


def test_focus_can_be_seen(shell: Page) -> None:
    for place in ("nav a", "#theme"):
        shell.locator(place).first.focus()
        shell.keyboard.press("Shift+Tab")
        shell.keyboard.press("Tab")
        style = shell.evaluate("getComputedStyle(document.activeElement).outline")
        assert "2px" in style, place


def test_theme_is_switched_and_kept(shell: Page) -> None:
    button = shell.get_by_role("button", name="Theme")
    expect(button).to_have_text("Theme: auto")
    light = colour(shell)
    assert min(light) > 200
    shell.emulate_media(color_scheme="dark")
    shell.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    dark = colour(shell)
    assert max(dark) < 60
    button.click()
    expect(button).to_have_text("Theme: light")
    assert colour(shell) == light
    shell.reload()
    expect(button).to_have_text("Theme: light")
    assert colour(shell) == light
    shell.emulate_media(color_scheme="light")
    button.click()
    expect(button).to_have_text("Theme: dark")
    assert colour(shell) == dark


def test_charts_are_drawn_in_the_pages_colours(shell: Page) -> None:
    shell.evaluate(CHART)
    title = "#chart .gtitle"
    expect(shell.locator(title)).to_have_text("A chart")
    before = colour(shell, title, "fill")
    shell.get_by_role("button", name="Theme").click()
    shell.get_by_role("button", name="Theme").click()  # from auto over light to dark
    shell.wait_for_function(
        "before => !getComputedStyle(document.querySelector('#chart .gtitle')).fill.includes(before)",
        arg=", ".join(map(str, before)),
    )
    assert min(colour(shell, title, "fill")) > 200
    shell.set_viewport_size({"width": 390, "height": 800})
    shell.wait_for_function("() => document.querySelector('#chart svg').clientWidth < 390")


@pytest.mark.parametrize("width", [390, 320])
def test_narrow_screens(shell: Page, width: int) -> None:
    shell.set_viewport_size({"width": width, "height": 800})
    for name in VIEWS:
        link = shell.get_by_role("navigation").get_by_role("link", name=name)
        link.click()
        expect(shell).to_have_title(f"{name} · Dovetail studio")
        expect(link).to_be_in_viewport(ratio=0.9)
        assert not is_wider_than_the_screen(shell), name
    expect(shell.get_by_role("button", name="Theme")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_wide_table_shows_that_it_scrolls(shell: Page, theme: str) -> None:
    shell.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    shell.set_viewport_size({"width": 390, "height": 844})
    shell.evaluate(
        """async () => {
          const { dataTable } = await import("/static/js/table.js");
          const columns = Array.from({ length: 20 }, (_, n) => `a column ${n}`);
          document.querySelector("main").replaceChildren(dataTable(columns, [columns.map(() => "")]));
        }"""
    )
    box = shell.locator(".scroll")

    def edge() -> tuple[int, ...]:
        """Return the colour of a pixel at the right edge, above all text."""
        picture = Image.open(io.BytesIO(box.screenshot())).convert("RGB")
        found: tuple[int, ...] = picture.getpixel((picture.width - 1, 2))  # type: ignore[assignment]
        return found

    assert max(abs(a - b) for a, b in zip(edge(), colour(shell), strict=True)) > 20
    box.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    assert edge() == colour(shell)


def test_text_is_never_read_as_html(shell: Page) -> None:
    found = shell.evaluate(
        """async () => {
          const { copyBlock, emptyState, h, notice } = await import("/static/js/elements.js");
          const { dataTable } = await import("/static/js/table.js");
          const evil = "<img src=x onerror=alert(1)>";
          const made = [notice(evil, "error"), dataTable([evil], [[evil]], evil), copyBlock(evil, evil),
                        emptyState(evil), h("p", { title: evil }, evil, [evil, null, 3])];
          document.querySelector("main").append(...made);
          return document.querySelectorAll("main img").length;
        }"""
    )
    assert found == 0


def test_what_the_server_refuses_is_said_in_its_own_words(shell: Page) -> None:
    said = shell.evaluate(
        """async () => {
          const { get, post } = await import("/static/js/api.js");
          const asked = [];
          const answer = (status, body) => {
            globalThis.fetch = async (path, { method }) => {
              asked.push(`${method} ${path}`);
              return new Response(body, { status });
            };
          };
          answer(200, "[1]");
          asked.push(await get("/api/a", { file: "a b&c", many: [1, 2], none: null }));
          answer(400, JSON.stringify({ error: "no such file; choose another" }));
          await post("/api/b", {}).catch((error) => asked.push(error.message));
          answer(502, "<html>");
          await get("/api/c").catch((error) => asked.push(error.message));
          globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
          await get("/api/d").catch((error) => asked.push(error.message));
          return asked;
        }"""
    )
    assert said == [
        "GET /api/a?file=a+b%26c&many=1&many=2", [1],
        "POST /api/b", "no such file; choose another",
        "GET /api/c", "The studio answered with status 502.",
        "The studio does not answer. Is it still running in its terminal?",
    ]  # fmt: skip


def test_panel_of_a_job(shell: Page) -> None:
    stopped: list[str] = []

    def answer(route: Route) -> None:
        if route.request.method == "DELETE":
            stopped.append(route.request.headers["content-type"])
        route.fulfill(json={**JOB, "state": "cancelled" if stopped else "running"})

    shell.route("**/api/jobs/j", answer)
    shell.evaluate(
        """async (job) => {
          const { jobPanel } = await import("/static/js/job.js");
          globalThis.ended = [];
          document.querySelector("main").append(jobPanel(job, { onDone: (now) => ended.push(now.state) }));
        }""",
        JOB,
    )
    panel = shell.get_by_role("region", name="Counting")
    expect(panel.get_by_text(re.compile(r"^one of four, \d+\.\d h so far$"))).to_be_visible()
    assert panel.get_by_role("progressbar").evaluate("bar => bar.value / bar.max") == 0.25
    panel.get_by_role("button", name="Cancel").press("Enter")
    expect(panel.get_by_text("Cancelled.")).to_be_visible()
    expect(panel).to_be_focused()  # the button that had the focus is gone
    expect(panel.get_by_role("button", name="Cancel")).to_be_hidden()
    assert stopped == ["application/json"]
    assert shell.evaluate("() => globalThis.ended") == ["cancelled"]


def test_a_job_is_not_given_up_when_one_answer_is_lost(shell: Page) -> None:
    shell.evaluate(
        """async (job) => {
          const { jobPanel } = await import("/static/js/job.js");
          const answer = (status, body) => async () => new Response(JSON.stringify(body), { status });
          const failures = [() => Promise.reject(new TypeError("lost")), answer(502, {})];
          globalThis.states = [];
          let asked = 0;
          let last = () => failures[asked++ % 2]();
          globalThis.fetch = () => last();
          globalThis.isAskedAgain = () => asked >= 2;
          globalThis.comeBack = () => { last = answer(200, job); };
          globalThis.goAway = () => { last = answer(404, { error: "there is no job 'j'" }); };
          document.querySelector("main").append(jobPanel(job, { onChange: (now) => states.push(now.state) }));
        }""",
        JOB,
    )
    panel = shell.get_by_role("region", name="Counting")
    expect(
        panel.get_by_text("does not answer. Is it still running in its terminal? Asking again…")
    ).to_be_visible()
    shell.wait_for_function("() => isAskedAgain()")
    expect(panel.get_by_role("button", name="Cancel")).to_be_visible()
    shell.evaluate("() => comeBack()")
    shell.wait_for_function("() => states.length > 1")
    expect(panel.get_by_text("Asking again…")).to_have_count(0)
    assert set(shell.evaluate("() => states")) == {"running"}
    shell.evaluate("() => goAway()")
    expect(panel.get_by_role("alert")).to_have_text("there is no job 'j'")
    assert shell.evaluate("() => states.at(-1)") == "failed"


def test_a_cancelled_audit_says_that_nothing_was_saved(shell: Page) -> None:
    said = shell.evaluate(
        """async (job) => {
          const { auditOutcome } = await import("/static/views/audit-outcome.js");
          return ["kept", null].map((output) => {
            const found = auditOutcome();
            found.show({ ...job, state: "cancelled", partial: { asked: { output } } });
            return found.element.querySelector("[aria-live]").textContent;
          });
        }""",
        JOB,
    )
    assert said == ["Nothing was saved into kept.", ""]


def test_the_page_that_the_browser_is_given_leads_in(
    page: Page, studio_url: Callable[[Path], str], tmp_path: Path
) -> None:
    with landing_page(studio_url(tmp_path)) as landing:
        page.goto(landing)
        expect(page).to_have_title("Bench · Dovetail studio")
        assert "token" not in page.url
        page.reload()
        expect(page.get_by_role("button", name="Train ten specialists")).to_be_visible()
