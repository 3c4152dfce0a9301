"""Text as HTML: plain paragraphs, and the little markdown that notes and remarks are written in."""

from __future__ import annotations

import re
from html import escape

_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_STRONG = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", re.DOTALL)
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])")


def paragraphs(text: str) -> str:
    """Return text as paragraphs, split at empty lines; nothing else in it means anything.

    Examples
    --------
    >>> paragraphs("a < b")
    '<p>a &lt; b</p>'
    """
    return "\n".join(f"<p>{escape(block)}</p>" for block in _blocks(text))


def prose_html(markdown: str) -> str:
    r"""Return markdown as HTML: paragraphs, lists, headings (in bold), code and emphasis.

    Links become their text, as a page that is sent somewhere else has nothing beside it.

    Examples
    --------
    >>> prose_html("**Sums** agree, see [table1](../table1.md).")
    '<p><strong>Sums</strong> agree, see table1.</p>'
    >>> prose_html("- one\n- two")
    '<ul>\n<li>one</li>\n<li>two</li>\n</ul>'
    """
    found = []
    for block in _blocks(markdown):
        if re.match(r"[-*] ", block):
            items = re.split(r"(?m)^[-*] ", block)[1:]
            lines = "\n".join(f"<li>{_inline(item.strip())}</li>" for item in items)
            found.append(f"<ul>\n{lines}\n</ul>")
        elif heading := re.match(r"#+\s+(.*)", block):
            found.append(f"<p><strong>{_inline(heading[1])}</strong></p>")
            found += [prose_html(rest)] if (rest := block[heading.end() :].strip()) else []
        else:
            # A list may follow a line of text without an empty line between.
            head, *tail = re.split(r"(?m)^(?=[-*] )", block, maxsplit=1)
            found.append(f"<p>{_inline(head.strip())}</p>")
            found += [prose_html(rest) for rest in tail]
    return "\n".join(found)


def _blocks(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def _inline(text: str) -> str:
    # What stands between backticks is shown as it is; every second piece does.
    pieces = _CODE.split(text)
    return "".join(
        f"<code>{escape(piece)}</code>" if number % 2 else _emphasised(piece)
        for number, piece in enumerate(pieces)
    )


def _emphasised(text: str) -> str:
    plain = escape(_LINK.sub(r"\1", text))
    return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", plain))
