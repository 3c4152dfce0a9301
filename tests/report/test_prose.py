"""Markdown of notes becomes HTML, and nothing in it becomes anything else."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import pytest

from dovetail.report.prose import MOST_CHARACTERS, paragraphs, prose_html

NASTY = "<img src=x onerror=alert(1)>"
TAGS = {"p", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "br", "hr"}


def test_lists_may_follow_text_and_go_over_lines() -> None:
    html = prose_html("Measured:\n- **one**\n  and more\n- two\n\nThe end.")
    assert html == (
        "<p>Measured:</p>\n<ul>\n<li><strong>one</strong>\nand more</li>\n<li>two</li>\n</ul>\n<p>The end.</p>"
    )


def test_code_is_shown_as_it_stands_and_stars_in_sums_are_no_emphasis() -> None:
    assert prose_html("`a **b** <i>` and *c*") == "<p><code>a **b** &lt;i&gt;</code> and <em>c</em></p>"
    assert prose_html("2 * 3 * 4") == "<p>2 * 3 * 4</p>"


def test_headings_are_bold_paragraphs() -> None:
    assert prose_html("## Title\nText") == "<p><strong>Title</strong></p>\n<p>Text</p>"


def test_paragraphs_are_split_at_lines_that_are_empty_or_blank() -> None:
    assert paragraphs("a\n \t\nb\nc\n\n\n\nd\n") == "<p>a</p>\n<p>b\nc</p>\n<p>d</p>"


@pytest.mark.parametrize(
    "around",
    [
        "{}", "- {}", "# {}", "**{}**", "`{}`", "[{}](javascript:alert)", "[a](javascript:{})", "![{}](http://a)",
        "![a](javascript:{})", "<javascript:{}>", "<http://a/{}>", "```{}\nx\n```", "```\n{}\n```", "    {}", "> {}",
        "[a]\n\n[a]: javascript:{}", "[a](http://a '{}')", "&lt;script&gt;{}", "1. {}", "[a](&#106;avascript:{})",
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", [NASTY, "<script>alert(1)</script>", '" onmouseover="alert(1)', "<!-- x"])
def test_html_and_links_do_not_get_through(around: str, text: str) -> None:
    html = prose_html(around.format(text))
    found = re.findall(r"<(/?)([^\s>]*)([^>]*)>", html)
    assert {name for _, name, _ in found} <= TAGS | {"br /", "hr /"}
    # A fence may name its language, in quotes and escaped.
    assert all(re.fullmatch(r'( ?/| class="language-[^"]*")?', rest) for _, _, rest in found)


def test_words_of_links_and_pictures_stay() -> None:
    assert prose_html("[the *table*](x.md) ![its <b> picture](http://a/b.png)") == (
        "<p>the <em>table</em> its &lt;b&gt; picture</p>"
    )


def calls(work: Callable[[], object]) -> int:
    """Return how many functions are called by some work: a measure of time that is the same on every machine."""
    count = 0

    def look(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "piece",
    ["[", "![", "**x ", "*a_ ", "[a](", "`", "# a\n", "> ", "- ", "\n", "<", "*", "[a\n", "a\n\n", "]("],
)
def test_twice_the_text_takes_twice_the_time(piece: str) -> None:
    prose_html("x")  # makes the reader
    once, twice = (calls(lambda text=piece * count: prose_html(text)) for count in (400, 800))  # type: ignore[misc]
    assert twice < 2.5 * once + 100


def test_very_long_text_is_cut_and_that_is_said() -> None:
    html = prose_html("word " * MOST_CHARACTERS)
    assert len(html) < MOST_CHARACTERS + 200
    assert f"({4 * MOST_CHARACTERS:,} more characters are left out.)" in html
    assert "left out" not in prose_html("x" * MOST_CHARACTERS)
