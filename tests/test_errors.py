"""Names that are not known: the nearest are offered, and no name is too long for one line."""

from __future__ import annotations

import pytest

from dovetail.errors import unknown_name


@pytest.mark.parametrize(("name", "meant"), [("mnst", "mnist"), ("MNIST", "mnist"), ("walking", "WALKING")])
def test_near_names_are_offered_whatever_their_letters(name: str, meant: str) -> None:
    assert f"unknown class {name!r}; did you mean {meant!r}?" in str(
        unknown_name("class", name, ["mnist", "WALKING", "digits"])
    )


def test_a_long_name_is_cut_and_closed() -> None:
    assert str(unknown_name("class", "a" * 10**6, ["b"])) == f"unknown class '{'a' * 80}'…. Known: b"


def test_what_is_no_name_is_shown_as_it_is() -> None:
    assert str(unknown_name("class", None, ["b"])) == "unknown class None. Known: b"
