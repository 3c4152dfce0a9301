"""One HTML file with headings, text, tables, pictures and charts: it needs no network, no server and no other file."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import DovetailError
from ..io.write import write_whole
from ..markup import Marks, table_html
from .browser_files import script, style
from .chart_frame import chart_content
from .prose import paragraphs, prose_html

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

# Even if something in the file asked for a resource elsewhere, the browser would not fetch it.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "form-action 'none'; base-uri 'none'"
)

MOST_BYTES = 6_000_000
"""What a page may have, so that it can be sent and opens at once."""
_KEPT_FREE = 150_000
"""Of these, for text and tables that are still to come."""
_FEW_SECTIONS = 2
"""With no more than these, a table of contents tells nothing that one does not see."""


class Page:
    """A page that is put together from the top, and then saved.

    All text is plain: what looks like HTML in it is shown as it stands.

    Parameters
    ----------
    title : str
        What the page is called, at its top and in the browser's tab.
    intro : str
        A few words under the title.

    Attributes
    ----------
    left_out : list of str
        What lies where the report is about and is not in it, such as files that are damaged.

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
        self.intro = intro
        self.left_out: list[str] = []
        self._elements: list[str] = []
        self._sections: dict[str, str] = {}
        self._charts = 0
        self._under = ""
        self._labels = Counter[str]()

    @property
    def sections(self) -> list[str]:
        """The headings so far."""
        return list(self._sections.values())

    def room(self, *, for_charts: bool = False) -> int:
        """Return how many bytes may still be added, for the page to stay small enough to send.

        Parameters
        ----------
        for_charts : bool
            Count the library that draws charts, also when there is none yet.
        """
        library = 0
        if self._charts or for_charts:
            from plotly.offline import get_plotlyjs

            library = len(get_plotlyjs())
        used = sum(len(element.encode("utf-8", errors="replace")) for element in self._elements)
        return MOST_BYTES - _KEPT_FREE - library - used

    def heading(self, text: str) -> None:
        """Add a heading, with an address of its own (``report.html#its-text``)."""
        plain = re.sub(r"\W+", "-", text.lower()).strip("-") or "section"
        anchor, number = plain, 1
        while anchor in self._sections:
            number += 1
            anchor = f"{plain}-{number}"
        self._sections[anchor] = self._under = text
        self._elements.append(
            f'<h2 id="{escape(anchor)}"><a href="#{escape(anchor)}">{escape(text)}</a></h2>'
        )

    def subheading(self, text: str) -> None:
        """Add a heading inside of a section."""
        self._under = text
        self._elements.append(f"<h3>{escape(text)}</h3>")

    def text(self, text: str) -> None:
        """Add text; an empty line starts a new paragraph."""
        self._elements.append(paragraphs(text))

    def prose(self, markdown: str) -> None:
        """Add text with lists, `code`, *emphasis* and **more of it**, as the notes of tables have; no links."""
        self._elements.append(prose_html(markdown))

    def fragment(self, html: str) -> None:
        """Add HTML as it stands: a figure with all that it needs inside. Names in it must be escaped already."""
        self._elements.append(html)

    def table(
        self, table: pd.DataFrame, caption: str = "", digits: int = 4, marks: Marks | None = None
    ) -> None:
        """Add a table, with its index where that has names.

        Parameters
        ----------
        table : DataFrame
            What to show. Missing values become a dash.
        caption : str
            What it shows, in a sentence.
        digits : int
            Decimals of numbers that are not whole.
        marks : mapping of (int, int) to str, optional
            Classes for cells by row and column, such as ``"number doubt"``.
        """
        label = escape(self._label(caption or self._under or self.title))
        self._elements.append(
            f'<figure>\n<div class="scroll" role="region" tabindex="0" aria-label="{label}">\n'
            f"{table_html(table, digits, marks)}\n</div>\n{_caption(caption)}</figure>"
        )

    def _label(self, text: str) -> str:
        """Return what to call a place on the page for those who cannot see it: no two are called the same."""
        self._labels[text] += 1
        return text if self._labels[text] == 1 else f"{text} ({self._labels[text]})"

    def picture(self, png: bytes, caption: str = "") -> None:
        """Add a picture, given as the content of a PNG file."""
        # The header of a PNG has its size, and the browser keeps the room free with it.
        width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
        self._elements.append(
            f'<figure class="picture">\n<img alt="{escape(caption)}" width="{width}" height="{height}" '
            f'src="data:image/png;base64,{b64encode(png).decode()}">\n{_caption(caption)}</figure>'
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
        content = chart_content(figure)
        self._add_chart("", content, _take_height(content), caption)

    def charts(self, figures: Mapping[str, Figure], caption: str = "", label: str = "Show") -> None:
        """Add plotly figures of which the reader sees one at a time, and chooses which by name; at first the first.

        Parameters
        ----------
        figures : mapping of str to plotly.graph_objects.Figure
            What there is to choose from.
        caption : str
            What they show, in a sentence.
        label : str
            What stands in front of the choice.
        """
        if len(figures) == 1:
            self.chart(next(iter(figures.values())), caption)
            return
        made = [chart_content(figure) for figure in figures.values()]
        options = "".join(f"<option>{escape(name)}</option>" for name in figures)
        choice = f'<label class="choice">{escape(label)} <select>{options}</select></label>\n'
        self._add_chart(choice, made, max([_take_height(content) for content in made]), caption)

    def _add_chart(self, choice: str, content: object, height: float, caption: str) -> None:
        self._charts += 1
        label = escape(caption or f"Chart {self._charts}")
        self._elements.append(
            f"<figure>\n{choice}"
            f'<div class="chart" role="img" aria-label="{label}" style="height: {height:g}px"></div>\n'
            f'<script type="application/json">{json_in_html(content)}</script>\n{_caption(caption)}</figure>'
        )

    def content(self) -> str:
        """Return all that was added, as HTML for a page of someone else's."""
        return "\n".join(self._elements)

    def to_html(self) -> str:
        """Return the page as it would be saved."""
        has_folds = any(element.startswith("<details") for element in self._elements)
        scripts = f"<script>\n{script('folds.js')}</script>\n" if has_folds else ""
        if self._charts:
            from plotly.offline import get_plotlyjs

            scripts += (
                "<noscript>The charts need JavaScript.</noscript>\n"
                f"<script>{get_plotlyjs()}</script>\n<script>\n{script('chart_look.js', 'page.js')}</script>\n"
            )
        head = f'<header>\n<h1>{escape(self.title)}</h1>\n<div class="intro">{paragraphs(self.intro)}</div>\n</header>'
        body = "\n".join([head, *self._contents(), *self._elements])
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta name="generator" content="dovetail {__version__}">\n'
            f'<title>{escape(self.title)}</title>\n<link rel="icon" href="data:,">\n'
            f"<style>\n{style('scroll.css')}{style('page.css')}{style('paper.css')}</style>\n</head>\n"
            f"<body>\n<main>\n{body}\n</main>\n{scripts}</body>\n</html>\n"
        )

    def _contents(self) -> list[str]:
        """Return a table of contents, if there are enough sections for one."""
        if len(self._sections) <= _FEW_SECTIONS:
            return []
        lines = "\n".join(
            f'<li><a href="#{escape(anchor)}">{escape(text)}</a></li>'
            for anchor, text in self._sections.items()
        )
        return [f'<nav aria-label="Contents">\n<ul>\n{lines}\n</ul>\n</nav>']

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, all of it or nothing.

        Raises
        ------
        DovetailError
            When the page is larger than `MOST_BYTES`, or the file cannot be written; an existing one is left as it was.
        """
        html = self.to_html().encode("utf-8", errors="replace")
        if len(html) > MOST_BYTES:
            raise DovetailError(
                f"the page {self.title!r:.80} would have {len(html) / 1e6:.1f} MB, more than the {MOST_BYTES / 1e6:g} "
                "MB with which it can still be sent; make pages of fewer files each"
            )
        return write_whole(path, lambda file: file.write_bytes(html))


def _caption(text: str) -> str:
    return f"<figcaption>{escape(text)}</figcaption>\n" if text else ""


def _take_height(content: dict[str, Any]) -> float:
    """Return the height of a chart in pixels, which is its element's from here on."""
    return float(content["layout"].pop("height", 420))


def json_in_html(content: object) -> str:
    """Return JSON that cannot end the script element it stands in."""
    return (
        json.dumps(content, separators=(",", ":"))
        .replace("&", r"\u0026")
        .replace("<", r"\u003c")
        .replace(">", r"\u003e")
    )


@contextmanager
def folded(page: Page, name: str, *, is_open: bool = False) -> Iterator[None]:
    """Fold what is added to a page inside until the reader opens it; on paper it is open. Without a name it is as ever.

    Parameters
    ----------
    page : Page
        What is added to.
    name : str
        What stands in its place.
    is_open : bool
        Whether it is open at first.

    Examples
    --------
    >>> page = Page("Long")
    >>> with folded(page, "All numbers"):
    ...     page.text("1, 2, 3")
    >>> "<summary>All numbers</summary>" in page.to_html()
    True
    """
    if name:
        page.fragment(f"<details{' open' if is_open else ''}>\n<summary>{escape(name)}</summary>")
    yield
    if name:
        page.fragment("</details>")
