"""Markdown of notes becomes HTML, and nothing in it becomes anything else."""

from __future__ import annotations

from dovetail.report.prose import prose_html

NASTY = "<img src=x onerror=alert(1)>"


def test_lists_may_follow_text_and_go_over_lines() -> None:
    html = prose_html("Measured:\n- **one**\n  and more\n- two\n\nThe end.")
    assert html == (
        "<p>Measured:</p>\n<ul>\n<li><strong>one</strong>\n  and more</li>\n<li>two</li>\n</ul>\n<p>The end.</p>"
    )


def test_code_is_shown_as_it_stands_and_stars_in_sums_are_no_emphasis() -> None:
    assert prose_html("`a **b** <i>` and *c*") == "<p><code>a **b** &lt;i&gt;</code> and <em>c</em></p>"
    assert prose_html("2 * 3 * 4") == "<p>2 * 3 * 4</p>"


def test_headings_are_bold_paragraphs() -> None:
    assert prose_html("## Title\nText") == "<p><strong>Title</strong></p>\n<p>Text</p>"


def test_html_and_links_do_not_get_through() -> None:
    for text in (
        NASTY,
        f"- {NASTY}",
        f"# {NASTY}",
        f"**{NASTY}**",
        f"`{NASTY}`",
        f"[{NASTY}](javascript:alert)",
    ):
        html = prose_html(text)
        assert "<img" not in html
        assert "javascript" not in html
