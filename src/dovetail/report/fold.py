"""Parts of a page that a reader opens when they are wanted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

from .page import Page


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
