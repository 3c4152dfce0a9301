"""A data folder with small files of every set, so that any data can be named and nothing is downloaded or large."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.data import registry, sources
from dovetail.data.files import Files
from dovetail.data.sets import polynomials
from dovetail.errors import DataError

from .data_files import cifar10_files, clinc150_files, har_files, mnist_files, put, yeast_files

_FEW = {"samples": 20, "train_samples": 50, "test_samples": 10, "pairs": 10}


def use_small_data(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let names of data sets stand for small ones; generated sets are small unless options say otherwise."""
    for name, files in (
        ("mnist", mnist_files()),
        ("har", har_files()),
        ("yeast", yeast_files()),
        ("cifar10", cifar10_files()),
        ("clinc150", clinc150_files()),
    ):
        put(folder / "data" / name, files)
    monkeypatch.setenv("DOVETAIL_DATA", str(folder / "data"))
    monkeypatch.setenv("DOVETAIL_CACHE", str(folder / "cache"))
    monkeypatch.setattr(Files, "check_count", lambda *_: None)
    monkeypatch.setattr(polynomials, "_HELD_OUT", 20)
    monkeypatch.setattr(sources, "_retrieve", _no_network)  # Fashion-MNIST is not in the folder
    for name, entry in list(registry._ENTRIES.items()):
        few = {
            option: replace(one, default=_FEW.get(option, one.default))
            for option, one in entry.options.items()
        }
        monkeypatch.setitem(registry._ENTRIES, name, replace(entry, options=few))


def _no_network(*_: object) -> Path:
    raise DataError("could not download: no connection to the server")
