"""The figures of a run, as it has drawn them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..page import Page

_BASE64 = 4 / 3
"""By how much a picture grows in a page."""


def add_pictures(page: Page, files: Sequence[Path]) -> None:
    """Add pictures from PNG files, as many as the page has room for, and name those that are left out."""
    page.heading("Figures")
    left_out = []
    for file in files:
        if file.stat().st_size * _BASE64 < page.room():
            page.picture(file.read_bytes(), file.stem)
        else:
            left_out.append(file.name)
    if left_out:
        page.text(f"Too large for this page, and left out: {', '.join(left_out)}. They are in figures/.")
