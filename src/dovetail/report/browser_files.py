"""What reports and the studio show in a browser, from the files in ``browser/``.

The studio serves the files as they are, and its pages import them; a report has them inside.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "browser"


@cache
def style(name: str) -> str:
    """Return a style sheet."""
    return (FOLDER / name).read_text("utf-8")


@cache
def script(*names: str, start: str = "") -> str:
    """Return modules as one script for a page that has no other file.

    Parameters
    ----------
    *names : str
        The modules, each after those that it imports from.
    start : str
        What to do after they are there.
    """
    text = "\n".join((FOLDER / name).read_text("utf-8") for name in names)
    plain = re.sub(r"^import .*\n\n?|^export ", "", text, flags=re.MULTILINE)
    return f"(() => {{\n{plain}\n{start}}})();\n"
