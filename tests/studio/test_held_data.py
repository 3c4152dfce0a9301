"""Test splits are held once for all views, and other data of the same kind is measured on with a note."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import dovetail as dt
from dovetail.errors import DataError
from dovetail.specialists import Specialist
from dovetail.specialists.fitting import check_data, data_note
from dovetail.studio.bench.bench import Bench
from dovetail.studio.folder import StudioFolder
from dovetail.studio.held_data import DataCache
from dovetail.studio.networks.reading import read_network
from dovetail.studio.studio import Studio

from .bench_parts import digit_specialist


def test_a_data_set_is_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    def load(name: str) -> dt.Dataset:
        loaded.append(name)
        return dt.load(name)

    monkeypatch.setattr("dovetail.studio.held_data.load_here", load)
    digit_specialist((3,)).save(tmp_path / "3.safetensors")
    studio = Studio(StudioFolder(tmp_path))
    cache = studio.data
    assert Bench(studio.folder, cache).look("3.safetensors").score is not None
    yardstick = read_network(tmp_path / "3.safetensors").yardstick
    assert yardstick is not None
    assert yardstick(studio.data).x is cache.get("digits").test.x
    assert loaded == ["digits"]


def test_the_split_is_whole_and_mixed() -> None:
    held, data = DataCache().get("digits"), dt.load("digits")
    assert sorted(held.test.y.tolist()) == sorted(data.test.y.tolist())
    assert not torch.equal(held.test.x, data.test.x)
    assert (held.classes, held.input_shape, held.task) == (data.classes, data.input_shape, data.task)


def test_bench_and_networks_say_the_same_of_another_fingerprint(tmp_path: Path) -> None:
    part = digit_specialist((3,))
    other = Specialist(
        part.blueprint, part.rewarded, part.weights, replace(part.provenance, fingerprint="0123456789abcdef")
    )
    other.save(tmp_path / "3.safetensors")
    cache = DataCache()
    note = data_note(other.provenance, cache.get("digits"))
    assert "(0123456789abcdef)" in note
    assert data_note(part.provenance, cache.get("digits")) == ""
    assert Bench(StudioFolder(tmp_path), cache).look("3.safetensors").note == note
    yardstick = read_network(tmp_path / "3.safetensors").yardstick
    assert yardstick is not None
    assert yardstick(cache).text == f"accuracy on each class of the test split of digits ({note})"


def test_data_that_does_not_fit_is_refused() -> None:
    blueprint, digits = digit_specialist((3,)).blueprint, DataCache().get("digits")
    check_data(blueprint, digits)
    for wrong in (
        replace(blueprint, classes=tuple("abcdefghij")),
        replace(blueprint, input_shape=(1, 4, 4)),
    ):
        with pytest.raises(DataError, match="cannot be measured on it"):
            check_data(wrong, digits)
    with pytest.raises(DataError, match="has no classes"):
        check_data(blueprint, replace(digits, task="bits"))
