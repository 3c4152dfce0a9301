"""What fuzzing has found, once each: these inputs broke a reader, or cost far more than they should."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import numpy as np
import pytest

import dovetail as dt
from dovetail.cluster.source import is_part
from dovetail.commands.audit_source import read_shape
from dovetail.data import load
from dovetail.errors import DataError, FileFormatError, ShapeError, SpecError, unknown_name
from dovetail.io.fields import parse
from dovetail.nets import net_builder
from dovetail.sculpting import Hierarchy, detect_modules, open_sculpture
from dovetail.specialists import Composite

from ..specialists.helpers import make_specialist, make_team
from .data_files import changed, idx_bytes, mnist_files, put
from .hostile import VERY_LONG, nested, written
from .tensor_files import TensorFile


@pytest.mark.parametrize("levels", [51, 900, 990])
def test_json_that_can_be_read_but_not_written_again_is_refused(levels: int) -> None:
    with pytest.raises(FileFormatError, match=r"nested|not JSON"):
        parse(written(nested(levels)))


def test_halves_of_characters_cannot_be_printed_and_are_refused() -> None:
    with pytest.raises(FileFormatError, match="half of a character"):
        parse('{"classes": ["\\ud800"]}')


@pytest.mark.parametrize(
    ("method", "coefficients", "keep"),
    [("ties", None, 0.0), ("ties", None, -1.0), ("logits", (0.0, 0.0), 1.0), ("logits", (1.0, -1.0), 1.0),
     ("logits", (1e308, 1e308), 1.0)],
)  # fmt: skip
def test_a_composite_that_could_not_be_merged_is_not_opened(
    method: str, coefficients: tuple[float, ...] | None, keep: float, tmp_path: Path
) -> None:
    lie = Composite(make_team(2), method, coefficients=coefficients, keep=keep)  # type: ignore[arg-type]
    with pytest.raises(FileFormatError, match=r"keep is a share|weights are 2 numbers"):
        dt.open(lie.save(tmp_path / "lie.safetensors"))


def test_a_specialist_that_is_in_a_composite_twice_can_be_saved(tmp_path: Path) -> None:
    part = make_specialist((1,))
    twice = dt.compose([part, part], "logits", force=True)
    assert dt.open(twice.save(tmp_path / "twice.safetensors")) == twice


@pytest.mark.parametrize("shape", [[1] * 1000, [2**24] * 100_000, [10**4000] * 300])
def test_a_long_input_shape_is_refused_at_once(shape: list[int]) -> None:
    begun = time.process_time()
    with pytest.raises(ShapeError, match="at most 16 dimensions"):
        net_builder("mlp:4", shape, 2)
    assert time.process_time() - begun < 1


def test_a_short_hierarchy_cannot_claim_a_large_network() -> None:
    content = json.loads(detect_modules([[[1, 1, 0]]]).to_json())
    content["sizes"] = [2**30, 1]
    with pytest.raises(FileFormatError, match=r"layers of \[1073741824, 1\]"):
        Hierarchy.from_json(json.dumps(content))


def test_a_name_of_ten_megabytes_gets_a_short_answer() -> None:
    begun = time.process_time()
    assert len(str(unknown_name("data set", VERY_LONG, ["mnist"]))) < 200
    with pytest.raises(SpecError) as caught:
        load(f"digits:{VERY_LONG}={VERY_LONG}")
    assert len(str(caught.value)) < 300
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    "text",
    [
        f"mnist:val={'9' * 400}",
        "lines:train_samples=1000001",
        "two-digits:pairs=10001",
        "polynomials:samples=9e99",
    ],
)
def test_numbers_of_samples_and_shares_are_bounded(text: str) -> None:
    with pytest.raises(SpecError, match="must be a"):
        load(text)


def test_pairs_of_a_class_without_images_are_refused(tmp_path: Path) -> None:
    files = mnist_files()
    put(tmp_path / "mnist", files)
    name = "t10k-labels-idx1-ubyte.gz"
    with (
        changed(tmp_path / "mnist", name, gzip.compress(idx_bytes(np.zeros(10, np.uint8)))),
        pytest.raises(DataError, match="no images of class"),
    ):
        load("two-digits", tmp_path, shortened=True, pairs=10)


def test_sizes_whose_product_overflows_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "mnist", mnist_files())
    lie = idx_bytes(np.zeros(0, np.uint8), magic=0x0803, sizes=[2**22, 2**21, 2**21])
    with (
        changed(tmp_path / "mnist", "train-images-idx3-ubyte.gz", gzip.compress(lie)),
        pytest.raises(DataError, match="sizes"),
    ):
        load("mnist", tmp_path)


def test_a_gzip_bomb_is_not_unpacked_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.data.sets.mnist.MOST_BYTES", 100_000)
    put(tmp_path / "mnist", mnist_files())
    with (
        changed(tmp_path / "mnist", "train-images-idx3-ubyte.gz", gzip.compress(bytes(10_000_000))),
        pytest.raises(DataError, match="unpacks to more than"),
    ):
        load("mnist", tmp_path)


def test_a_file_that_is_far_too_large_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail.data.files.MOST_BYTES", 1000)
    put(tmp_path / "yeast", {"yeast.data": bytes(1001)})
    with pytest.raises(DataError, match="more than 1,000 bytes"):
        load("yeast", tmp_path)


def test_a_deep_manifest_is_no_part(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    save_file({"w": torch.ones(1)}, tmp_path / "deep.safetensors", {"dovetail": "[" * 100_000})
    assert not is_part(tmp_path / "deep.safetensors")


def test_a_shape_of_many_digits_is_refused() -> None:
    with pytest.raises(SpecError, match="--input-shape"):
        read_shape("1" * 5000)


@pytest.mark.parametrize("line", [["train", "digits", "-o", "x"], ["sculpt", "[4,2,4]"]])
def test_years_of_seeds_are_refused(line: list[str]) -> None:
    from typer.testing import CliRunner

    from dovetail.cli import app

    done = CliRunner().invoke(app, [*line, "--seeds", "9999999999"])
    assert isinstance(done.exception, SpecError)
    assert "1 to 10,000" in str(done.exception)


def test_a_short_sculpture_cannot_claim_a_large_network(tmp_path: Path) -> None:
    sculpture = dt.sculpt("y1 = x1 & x2", [4], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    file = TensorFile.taken_apart(sculpture.save(tmp_path / "and.safetensors").read_bytes())
    content = json.loads(file.metadata["dovetail"])
    large, deep = {"widths": [2**20, 2000, 1]}, {"grid": nested(900)}
    for change in (large, deep, {"accuracy": "all"}, {"task": None}, {"seed": -1}):
        file.metadata["dovetail"] = json.dumps({**content, **change})
        (tmp_path / "lie.safetensors").write_bytes(file.together())
        with pytest.raises(FileFormatError, match="cannot be read as a sculpted network"):
            open_sculpture(tmp_path / "lie.safetensors")
