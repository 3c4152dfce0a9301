"""One HTML file with headings, text, tables and charts: it needs no network, no server and no other file."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..writing import write_whole
from .table import table_html

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

# Even if something in the file asked for a resource elsewhere, the browser would not fetch it.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "form-action 'none'; base-uri 'none'"
)


class Page:
    """A page that is put together from the top, and then saved.

    All text is plain: what looks like HTML in it is shown as it stands.

    Parameters
    ----------
    title : str
        What the page is called, at its top and in the browser's tab.
    intro : str
        A few words under the title.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> page = Page("Two parts", "How well they fit.")
    >>> page.heading("Scores")
    >>> page.table(pd.DataFrame({"part": ["3", "8"], "accuracy": [0.991, 0.987]}), "On the test split.")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     "<h1>Two parts</h1>" in page.save(f"{folder}/report.html").read_text("utf-8")
    True
    """

    def __init__(self, title: str, intro: str = "") -> None:
        self.title = title
        self._blocks = [
            f'<header>\n<h1>{escape(title)}</h1>\n<div class="intro">{_paragraphs(intro)}</div>\n</header>'
        ]
        self._anchors: set[str] = set()
        self._charts = 0

    def heading(self, text: str) -> None:
        """Add a heading, with an address of its own (``report.html#its-text``)."""
        plain = re.sub(r"\W+", "-", text.lower()).strip("-") or "section"
        anchor, number = plain, 1
        while anchor in self._anchors:
            number += 1
            anchor = f"{plain}-{number}"
        self._anchors.add(anchor)
        self._blocks.append(f'<h2 id="{escape(anchor)}"><a href="#{escape(anchor)}">{escape(text)}</a></h2>')

    def text(self, text: str) -> None:
        """Add text; an empty line starts a new paragraph."""
        self._blocks.append(_paragraphs(text))

    def fragment(self, html: str) -> None:
        """Add HTML as it stands: a figure with all that it needs inside. Names in it must be escaped already."""
        self._blocks.append(html)

    def table(self, table: pd.DataFrame, caption: str = "", digits: int = 4) -> None:
        """Add a table, with its index where that has names.

        Parameters
        ----------
        table : DataFrame
            What to show. Missing values become a dash.
        caption : str
            What it shows, in a sentence.
        digits : int
            Decimals of numbers that are not whole.
        """
        label = f' aria-label="{escape(caption)}"' if caption else ""
        self._blocks.append(
            f'<figure>\n<div class="scroll" role="region" tabindex="0"{label}>\n{table_html(table, digits)}\n</div>\n'
            f"{_caption(caption)}</figure>"
        )

    def chart(self, figure: Figure, caption: str = "") -> None:
        """Add a plotly figure, as wide as the page.

        Parameters
        ----------
        figure : plotly.graph_objects.Figure
            What to show. Its width and template give way to the page's.
        caption : str
            What it shows, in a sentence.
        """
        content: dict[str, Any] = json.loads(figure.to_json())
        layout = content["layout"]
        height = float(layout.pop("height", 420))
        for name in ("width", "template"):
            layout.pop(name, None)
        self._charts += 1
        label = escape(caption or f"Chart {self._charts}")
        self._blocks.append(
            f'<figure>\n<div class="chart" role="img" aria-label="{label}" style="height: {height:g}px"></div>\n'
            f'<script type="application/json">{json_in_html(content)}</script>\n{_caption(caption)}</figure>'
        )

    def to_html(self) -> str:
        """Return the page as it would be saved."""
        folder = files(__package__)
        scripts = ""
        if self._charts:
            from plotly.offline import get_plotlyjs

            own = folder.joinpath("page.js").read_text("utf-8")
            scripts = (
                "<noscript>The charts need JavaScript.</noscript>\n"
                f"<script>{get_plotlyjs()}</script>\n<script>\n{own}</script>\n"
            )
        body = "\n".join(self._blocks)
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta name="generator" content="dovetail {__version__}">\n'
            f'<title>{escape(self.title)}</title>\n<link rel="icon" href="data:,">\n'
            f"<style>\n{folder.joinpath('page.css').read_text('utf-8')}</style>\n</head>\n"
            f"<body>\n<main>\n{body}\n</main>\n{scripts}</body>\n</html>\n"
        )

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, all of it or nothing.

        Raises
        ------
        DovetailError
            When the file cannot be written; an existing one is left as it was.
        """
        html = self.to_html()
        return write_whole(path, lambda file: file.write_text(html, encoding="utf-8", errors="replace"))


def _paragraphs(text: str) -> str:
    return "\n".join(f"<p>{escape(part.strip())}</p>" for part in re.split(r"\n\s*\n", text) if part.strip())


def _caption(text: str) -> str:
    return f"<figcaption>{escape(text)}</figcaption>\n" if text else ""


def json_in_html(content: object) -> str:
    """Return JSON that cannot end the script element it stands in."""
    return (
        json.dumps(content, separators=(",", ":"))
        .replace("&", r"\u0026")
        .replace("<", r"\u003c")
        .replace(">", r"\u003e")
    )
