"""Text for terminals: safe to print, with values as a reader wants to see them in a table."""

from __future__ import annotations

import codecs
import io
import numbers
import sys
import unicodedata
from typing import Any

_JOINERS = "\u200c\u200d"
"""Marks without a width that belong to words of some scripts, and to emoji."""


_PLAIN = {
    "×": "x", "θ": "theta", "–": "-", "—": "-", "−": "-", "…": "...", "→": "->", "≤": "<=", "≥": ">=", "²": "^2",
    "·": "*", "Σ": "sum", "σ": "sigma", "±": "+-", "≈": "~", "“": '"', "”": '"', "’": "'",
}  # fmt: skip
"""What to write where a terminal has no such character."""


def print_whatever_the_encoding() -> None:
    """Let the standard output and errors take every text: what their encoding lacks is written in other characters."""
    codecs.register_error("dovetail", _in_other_characters)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="dovetail")


def _in_other_characters(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    found = (_PLAIN.get(each) or each.encode("unicode_escape").decode() for each in lacking)
    return "".join(found), error.end


def printable(text: str) -> str:
    r"""Return a text with everything written out that would steer a terminal or cannot be printed.

    That is escape codes and all other control characters but line breaks and tabs, marks that turn the direction of
    writing, and halves of characters.

    Examples
    --------
    >>> printable("cats & \x1b[31mdogs")
    'cats & \\x1b[31mdogs'
    """
    return "".join(each if _is_harmless(each) else each.encode("unicode_escape").decode() for each in text)


def _is_harmless(character: str) -> bool:
    if character.isprintable() or character in "\n\t" or character in _JOINERS:
        return True
    return (
        unicodedata.category(character) == "Zs"
    )  # spaces of other widths, which Python counts as not printable


def format_value(value: Any, digits: int) -> str:
    """Return a value as text to print: a dash for what is missing, yes and no, numbers with some digits.

    Examples
    --------
    >>> [format_value(value, 2) for value in (None, True, 3, 0.123, 1e-9)]
    ['–', 'yes', '3', '0.12', '1.0e-09']
    """
    import pandas as pd

    if pd.api.types.is_scalar(value) and pd.isna(value):
        return "–"
    if pd.api.types.is_bool(value):
        return "yes" if value else "no"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        number = float(value)
        return f"{number:.1e}" if 0 < abs(number) < 10**-digits else f"{number:.{digits}f}"
    return printable(str(value))
