"""Data that is on this machine: nothing is downloaded to find out, or to load it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.data import catalogue, load_here, presence
from dovetail.errors import DataError


@pytest.fixture(autouse=True)
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    monkeypatch.delenv("DOVETAIL_DATA", raising=False)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a download was tried")

    monkeypatch.setattr("urllib.request.urlopen", refuse)


def test_what_has_files_is_missing_with_the_way_to_get_it() -> None:
    for info in catalogue():
        there = presence(info.name)
        assert there.here == (info.kind != "files" and info.needs is None)
        if not there.here:
            assert f"dovetail data get {info.needs or info.name}" in there.note
            with pytest.raises(DataError, match="dovetail data get"):
                load_here(info.name)


def test_a_set_that_is_built_on_another_is_here_with_that_one() -> None:
    assert not presence("mnist-7x7").here
    assert presence("mnist-7x7", base="digits").here
    assert load_here("mnist-7x7", base="digits").input_shape == (1, 2, 2)


@pytest.mark.parametrize("name", ["", "mine", "../mnist", "digits:val=0.5", "x" * 10_000])
def test_any_other_text_names_no_data(name: str) -> None:
    there = presence(name)
    assert not there.here
    assert "is no data set" in there.note
    assert len(there.note) < 200


def test_a_folder_for_data_that_cannot_be_looked_into_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise DataError("the folder cannot be read")

    monkeypatch.setattr("dovetail.data.registry.catalogue", broken)
    assert presence("digits").note == "the folder cannot be read"
