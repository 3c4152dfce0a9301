"""Boolean tasks: formulas made of good words in good and bad orders, names in brackets, and any text."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from dovetail.data import boolean_task

from .hostile import LONG, damaged
from .many import fuzz

pytestmark = pytest.mark.slow

INPUTS = [f"x{number}" for number in range(1, 7)]
WORDS = [*INPUTS, "y1", "y2", "a", "b", "0", "1", "True", "False", "&", "|", "^", "~", "and", "or", "not", "(", ")",
         "=", ";", "\n", " "]  # fmt: skip
STRANGE = ["x0", "x20", "x21", "x99999999999", "y0", "y256", "y257", "None", "lambda", "if", "else", "for", "in", "is",
           "await", "yield", "import", "__import__", "2", "1e9", "0x1", "1_0", "==", ":=", "+", "**", "<",
           "@", ",", ".",
           "[", "]", "{", "'", '"', "#", "\\", "\t", "\r", "\f", "\x00", "ä", "𝐱1", "\ud800", "x" * 200]  # fmt: skip

names = st.sampled_from(INPUTS)
expressions = st.recursive(
    names | st.sampled_from(["0", "1", "a"]),
    lambda inside: st.one_of(
        st.tuples(inside, st.sampled_from([" & ", " | ", " ^ ", " and ", " or "]), inside).map("".join),
        inside.map(lambda text: f"({text})"),
        inside.map(lambda text: f"~{text}"),
        inside.map(lambda text: f"not {text}"),
    ),
    max_leaves=12,
)
formulas = st.lists(expressions, min_size=1, max_size=4).map(
    lambda texts: "; ".join(["a = x1 & x2", *(f"y{number} = {text}" for number, text in enumerate(texts, 1))])
)
soups = st.lists(st.sampled_from(WORDS) | st.sampled_from(STRANGE), max_size=12).map(
    lambda words: "y1 = " + " ".join(words)
)
brackets = st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 6, 7, 8, 254, 256, 258, 10**8, 10**9]), max_size=6)
families = st.sampled_from(
    ["[4,2,4]", "[4,1,4]", "[6,3,3,3]", "[4,1,2,8]", "[8,2,4]", "[4,1,2,2,6]", "[8,2,1,2,2]"]
)
large = st.one_of(
    st.integers(1, 3000).map(lambda count: "y1 = " + " & ".join(["x1"] * count)),
    st.integers(1, 3000).map(lambda count: "y1 = " + " ^ ".join(["x1", "x2"] * count)),
    st.integers(1, 3000).map(lambda depth: "y1 = " + "(" * depth + "x1" + ")" * depth),
    st.integers(1, 5000).map(lambda depth: "y1 = " + "~" * depth + "x1"),
    st.integers(1, 700).map(lambda count: ";".join(f"y{n} = x{n % 20 + 1}" for n in range(1, count + 1))),
    st.integers(1, 900).map(
        lambda count: ";".join(
            ["a0 = x1", *(f"a{n} = a{n - 1} ^ x2" for n in range(1, count)), f"y1 = a{count - 1}"]
        )
    ),
    st.sampled_from(
        [
            "y1 = x20",
            f"y1 = {LONG}",
            f"{LONG} = x1",
            f"[{'4,' * 100_000}4]",
            "[" + " " * 100_000,
            "[4" * 50_000,
        ]
    ),
)

tasks = st.one_of(
    formulas,
    formulas,
    soups,
    families.map(str.encode).flatmap(damaged).map(lambda text: text.decode("latin-1")),
    formulas.map(str.encode).flatmap(damaged).map(lambda text: text.decode("latin-1")),
    brackets,
    brackets.map(str),
    st.text(max_size=30),
    st.integers(0, 19).flatmap(lambda chance: families if chance else large),
)  # fmt: skip


def read(what: str | list[int]) -> None:
    task = boolean_task(what)
    repr(task)
    if task.inputs < 12:
        task.describe()


def test_no_text_breaks_the_reader() -> None:
    fuzz("Boolean formulas", tasks, read)
