"""One file, all text as it stands, nothing from elsewhere, all of it or nothing."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from dovetail import DovetailError
from dovetail.report import Page
from dovetail.report.page import MOST_BYTES, folded

NASTY = """</script><script>alert(1)</script><!-- & "quoted" 'it'"""


def test_a_folded_table_has_a_name_and_opens_on_paper() -> None:
    page = Page("Folded")
    page.table(pd.DataFrame({"a": [1]}), "A table.")
    assert "details" not in page.to_html().partition("<body>")[2]
    for name, is_open in ((NASTY, False), ("second", True), ("", False)):
        with folded(page, name, is_open=is_open):
            page.table(pd.DataFrame({"a": [1]}))
    found = Reader(page.to_html())
    assert found.named("details") == [{}, {"open": None}]
    assert NASTY in found.text
    assert any(tag == "script" and "beforeprint" in text for tag, text in found.raw)


class Reader(HTMLParser):
    """What a browser would see: elements with their attributes, text, and the content of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.raw.append((tag, ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            tag, before = self.raw.pop()
            self.raw.append((tag, before + data))
        else:
            self.words.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return "".join(self.words)


def chart(name: str = "a line") -> go.Figure:
    return go.Figure(
        go.Scatter(y=np.array([1.0, np.nan, 2.0]), name=name), layout={"width": 300, "height": 250}
    )


def full_page() -> Page:
    page = Page("Digits", "First.\n\nSecond.")
    page.heading("Scores")
    page.text("Some text.")
    page.table(pd.DataFrame({"class": ["3"], "accuracy": [0.5]}), "A table.")
    page.chart(chart(), "A chart.")
    page.chart(chart("another"))
    return page


def test_a_saved_page_has_everything_in_order(tmp_path: Path) -> None:
    path = full_page().save(str(tmp_path / "report.html"))
    assert path == tmp_path / "report.html"
    read = Reader(path.read_text("utf-8"))
    assert (
        re.sub(r"\s+", " ", read.text)
        .strip()
        .startswith("Digits Digits First. Second. Scores Some text. class")
    )
    assert read.named("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in read.named("meta")
    assert len(read.named("p")) == 3
    assert [tag for tag, _ in read.elements if tag in {"table", "div"}] == [
        "div",
        "div",
        "table",
        "div",
        "div",
    ]
    assert not [file for file in tmp_path.iterdir() if file != path]


def test_nothing_comes_from_elsewhere() -> None:
    html = full_page().to_html()
    assert html.count(get_plotlyjs()) == 1
    read = Reader(html)
    for tag, attributes in read.elements:
        assert "src" not in attributes, tag
        assert str(attributes.get("href", "#")).startswith(("#", "data:")), tag
    own = html.replace(get_plotlyjs(), "")
    assert not re.search(r"https?:|//cdn|url\(|@import|@font-face", own)
    (policy,) = (m["content"] for m in read.named("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "showSendToCloud: false" in own


def test_a_page_without_charts_carries_no_script() -> None:
    page = Page("Digits")
    page.text("Nothing to draw.")
    assert not Reader(page.to_html()).named("script")
    assert len(page.to_html()) < 10_000


def test_all_that_is_given_is_shown_as_it_stands() -> None:
    page = Page(NASTY, NASTY)
    page.heading(NASTY)
    page.text(NASTY)
    page.table(pd.DataFrame({NASTY: [NASTY]}, index=pd.Index([NASTY], name=NASTY)), NASTY)
    page.chart(chart(NASTY), NASTY)
    read = Reader(page.to_html())
    assert len(read.named("script")) == 3  # figure, library, our own
    # title twice, intro, heading, text, four in the table, two captions
    assert read.text.count(NASTY) == 11
    assert [attributes["aria-label"] for attributes in read.named("div") if "aria-label" in attributes] == [
        NASTY
    ] * 2
    content = next(content for tag, content in read.raw if tag == "script")
    assert not re.search("[<>&]", content)
    assert json.loads(content)["data"][0]["name"] == NASTY


def test_charts_fill_the_page_in_its_own_style() -> None:
    read = Reader(full_page().to_html())
    figures = [
        json.loads(content) for tag, content in read.raw if tag == "script" and content.startswith("{")
    ]
    assert len(figures) == 2
    for figure in figures:
        assert not {"width", "height", "template"} & set(figure["layout"])
    boxes = [attributes for attributes in read.named("div") if attributes.get("class") == "chart"]
    assert [box["style"] for box in boxes] == ["height: 250px"] * 2
    assert [box["aria-label"] for box in boxes] == ["A chart.", "Chart 2"]
    original = chart()
    Page("x").chart(original)
    assert (original.layout.width, original.layout.height) == (300, 250)  # left as it was


def test_every_heading_has_an_address_of_its_own() -> None:
    page = Page("x")
    for text in ("Rewarded classes!", "rewarded  classes", "Rewarded classes 2", "→", "Größe"):
        page.heading(text)
    read = Reader(page.to_html())
    ids = [attributes["id"] for attributes in read.named("h2")]
    assert ids == ["rewarded-classes", "rewarded-classes-2", "rewarded-classes-2-2", "section", "größe"]
    links = [attributes["href"] for attributes in read.named("a")]
    assert links == [f"#{name}" for name in ids] * 2  # in the table of contents, and at the headings


def test_tables_format_numbers_and_show_names_of_rows() -> None:
    frame = pd.DataFrame(
        {
            "name": ["a", None],
            "float": np.array([0.123456, np.nan], dtype=np.float32),
            "tiny": [1e-9, -0.0],
            "count": [1_000_000, 2],
            "flag": [True, False],
        }
    )
    page = Page("x")
    page.table(frame, digits=3)
    page.table(frame.set_index("count")[["flag"]])
    page.table(pd.DataFrame({("a", "mean"): [1.5]}))
    html = page.to_html()
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    cells = [re.findall(r">([^<]+)<", row) for row in rows]
    assert cells == [
        ["name", "float", "tiny", "count", "flag"],
        ["a", "0.123", "1.0e-09", "1,000,000", "yes"],
        ["–", "–", "-0.000", "2", "no"],
        ["count", "flag"],
        ["1000000", "yes"],
        ["2", "no"],
        ["a, mean"],
        ["1.5000"],
    ]
    assert rows[1].count('<td class="number">') == 3
    assert '<th scope="row">1000000</th>' in rows[4]


def test_a_path_that_cannot_be_written_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, reason in [
        (tmp_path / "none" / "report.html", "there is no folder"),
        (tmp_path / "file" / "report.html", "there is no folder"),
        (tmp_path, "it is a folder"),
    ]:
        with pytest.raises(DovetailError, match=f"cannot write {re.escape(str(path))}: {reason}"):
            Page("x").save(path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(DovetailError, match=r"report\.html: Permission denied"):
        Page("x").save(tmp_path / "report.html")


def test_a_failed_write_leaves_the_old_page_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Page("old").save(tmp_path / "report.html")
    before = path.read_text("utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(DovetailError, match="No space left on device"):
            Page("new").save(path)
    assert path.read_text("utf-8") == before
    assert list(tmp_path.iterdir()) == [path]
    assert "<h1>new</h1>" in Page("new").save(path).read_text("utf-8")


def test_a_page_that_is_too_large_to_send_is_refused_and_leaves_what_was_there(tmp_path: Path) -> None:
    page, out = Page("x"), tmp_path / "report.html"
    rest = MOST_BYTES - len(page.to_html().encode())
    page.text("é" * ((rest - len("\n<p></p>")) // 2))
    page.save(out)
    before = out.read_bytes()
    assert MOST_BYTES - 2 < len(before) <= MOST_BYTES
    page.text("é")
    with pytest.raises(DovetailError, match=r"would have 6\.0 MB, more than the 6 MB"):
        page.save(out)
    assert out.read_bytes() == before
