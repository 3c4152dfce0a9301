"""Data as one text: any name, any options with any values."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from dovetail.data import catalogue, load

from .hostile import LONG, VERY_LONG, damaged
from .many import fuzz
from .small_data import use_small_data

pytestmark = pytest.mark.slow

names = st.sampled_from([info.name for info in catalogue()])
options = st.sampled_from(
    ["seed", "samples", "train_samples", "test_samples", "pairs", "base", "kind", "variant", "features",
    "classes", "val",
     "name", "root", "folder", "", "x", "__class__"]
)  # fmt: skip
values = st.sampled_from(
    ["0", "1", "5", "6", "10", "20", "-1", "0.2", "0.5", "1e-300", "0.999999", "1.0", "nan", "inf", "-inf",
    "True", "None",
     "", "=", "all", "time", "same", "diff", "overlapping", "separate", "digits", "mnist", "lines", "halves", "har",
     "fashion-mnist", "mixture", "10000000000000", "9" * 400, "9" * 5000, "1_0", "１０", "ä", "\ud800", "../..", LONG]
)  # fmt: skip
texts = st.one_of(
    st.builds(
        lambda name, pairs: f"{name}:{','.join(f'{option}={value}' for option, value in pairs)}",
        names,
        st.lists(st.tuples(options, values), min_size=1, max_size=3),
    ),
    st.builds(lambda name, text: f"{name}:{text}", names, st.text(max_size=20)),
    names.map(str.encode).flatmap(damaged).map(lambda text: text.decode("latin-1")),
    st.text(max_size=30),
    names,
    st.integers(0, 99).flatmap(
        lambda chance: (
            names if chance else st.sampled_from([VERY_LONG, f"digits:{VERY_LONG}", f"digits:x={VERY_LONG}"])
        )
    ),
)


def read(text: str) -> None:
    repr(load(text))


def test_no_text_breaks_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_data(tmp_path, monkeypatch)
    fuzz("data texts", texts, read)
