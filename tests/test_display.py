"""What comes from files and file names is printed, never obeyed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.display import format_value, printable


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cats & dogs",
        "Ähre, θ0 × 2 – …",
        "猫\t犬\n",
        r"C:\data",
        "10\u00a0kg",
        "a\u3000b",
        "می\u200cخواهم",
        "👩\u200d🔬",
    ],
)
def test_plain_text_stays(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),  # sets a terminal's title
        ("safe\rEVIL", r"safe\rEVIL"),  # writes over what stands there
        ("\x9b31m", r"\x9b31m"),  # an escape code in one character
        ("a\u202eb", r"a\u202eb"),  # turns the direction of writing
        ("bad\udcff", r"bad\udcff"),  # of a file name that is not UTF-8
        ("a\u2028b", r"a\u2028b"),  # breaks a line in some programs
    ],
)
def test_what_would_steer_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert format_value(text, 2) == shown


@given(st.text(st.characters(categories=None)))
def test_nothing_dangerous_is_left_and_once_is_enough(text: str) -> None:
    shown = printable(text)
    kept = {"Cc": "\n\t", "Cf": "\u200c\u200d"}
    odd = [each for each in shown if unicodedata.category(each)[0] == "C" or each in "\u2028\u2029"]
    assert all(each in kept.get(unicodedata.category(each), "") for each in odd)
    assert printable(shown) == shown
    shown.encode()
