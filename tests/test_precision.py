"""A program that makes tensors in float64 opens and trains the same parts and sculptures as any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import dovetail as dt
from dovetail.precision import in_float32


@pytest.fixture
def in_float64() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def trained() -> dt.Specialist:
    return dt.train_specialists(dt.load("digits"), "mlp:8", [3], epochs=1, rounds=1, progress=False)[0]


def sculpted() -> dt.Sculpture:
    return dt.sculpt(
        "y1 = x1 & x2", [4], unit_steps=[0.5], edge_steps=[0.1], epochs=1, threshold=0.01, progress=False
    )


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of what was made in float32."""
    folder = tmp_path_factory.mktemp("before")
    trained().save(folder / "part.safetensors")
    sculpted().save(folder / "sculpture.safetensors")
    return folder


@pytest.mark.filterwarnings("ignore::dovetail.errors.TrainingWarning")
def test_opening_and_training_do_not_depend_on_the_default_type(
    before: Path, in_float64: None, tmp_path: Path
) -> None:
    part = dt.open(before / "part.safetensors", dt.Specialist)
    assert trained() == part
    assert part.save(tmp_path / "part.safetensors").read_bytes() == (before / "part.safetensors").read_bytes()
    assert part.evaluate(dt.load("digits").test).entropy is not None
    assert dt.open(before / "sculpture.safetensors", dt.Sculpture).hierarchy == sculpted().hierarchy
    assert torch.get_default_dtype() is torch.float64


@pytest.mark.usefixtures("in_float64")
def test_the_last_of_several_threads_brings_the_type_back() -> None:
    """They may leave in any order, so each is left here by hand."""
    first, second = in_float32(), in_float32()
    for one in (first, second):
        one.__enter__()
    first.__exit__(None, None, None)
    assert torch.get_default_dtype() == torch.float32
    second.__exit__(None, None, None)
    assert torch.get_default_dtype() == torch.float64
