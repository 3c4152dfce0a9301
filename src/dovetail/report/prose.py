"""Text as HTML: plain paragraphs, and the markdown that notes and remarks are written in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_CHARACTERS = 50_000
"""Of markdown that are read; remarks have a few thousand."""


def paragraphs(text: str) -> str:
    """Return text as paragraphs, split at empty lines; nothing else in it means anything.

    Examples
    --------
    >>> paragraphs("a < b")
    '<p>a &lt; b</p>'
    """
    found = [text.strip() for text in re.split(r"\n[^\S\n]*\n", text)]
    return "\n".join(f"<p>{escape(text)}</p>" for text in found if text)


def prose_html(markdown: str) -> str:
    r"""Return markdown as HTML: paragraphs, lists, headings (in bold), code and emphasis.

    Links and pictures become their text, as a page that is sent somewhere else has nothing beside it. What looks like
    HTML is shown as it stands. Of very long text only the beginning is read, and that is said.

    Examples
    --------
    >>> prose_html("**Sums** agree, see [table1](../table1.md).")
    '<p><strong>Sums</strong> agree, see table1.</p>'
    >>> prose_html("- one\n- two")
    '<ul>\n<li>one</li>\n<li>two</li>\n</ul>'
    """
    html: str = _reader().render(markdown[:MOST_CHARACTERS]).strip()
    if len(markdown) > MOST_CHARACTERS:
        html += f"\n<p>… ({len(markdown) - MOST_CHARACTERS:,} more characters are left out.)</p>"
    return html


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False})
    reader.add_render_rule("heading_open", lambda *_: "<p><strong>")
    reader.add_render_rule("heading_close", lambda *_: "</strong></p>\n")
    for name in ("link_open", "link_close"):
        reader.add_render_rule(name, lambda *_: "")
    reader.add_render_rule("image", _image_text)
    return reader


def _image_text(renderer: Any, tokens: Sequence[Token], at: int, options: Any, environment: Any) -> str:
    return escape(renderer.renderInlineAsText(tokens[at].children or [], options, environment))
