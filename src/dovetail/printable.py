"""Text that is safe to print: names in files and of files come from anyone, and terminals obey what they are sent."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Return a text with everything written out that would steer a terminal or cannot be printed.

    That is escape codes and all other control characters but line breaks and tabs, marks that turn the direction of
    writing, and halves of characters.

    Examples
    --------
    >>> printable("cats & \x1b[31mdogs")
    'cats & \\x1b[31mdogs'
    """
    return "".join(
        each if each.isprintable() or each in "\n\t" else each.encode("unicode_escape").decode()
        for each in text
    )
