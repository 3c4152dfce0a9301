"""Text that is safe to print: names in files and of files come from anyone, and terminals obey what they are sent."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"
"""Marks without a width that belong to words of some scripts, and to emoji."""


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
