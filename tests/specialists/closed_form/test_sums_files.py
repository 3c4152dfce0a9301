from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import dovetail as dt
from dovetail.data import Dataset, Split
from dovetail.errors import FileFormatError
from dovetail.io.header import KEY
from dovetail.specialists.closed_form.manifest import checksum
from dovetail.specialists.closed_form.sums import Sums

from .helpers import data_of, team_of

DATA = data_of()


def whole(keep: str = "samples") -> Sums:
    return dt.compose(team_of(DATA, keep=keep)).tuned(DATA.val).with_threshold(DATA.val)


@pytest.mark.parametrize("keep", ["samples", "moments"])
def test_a_file_gives_back_the_same_to_the_bit(keep: str, tmp_path: Path) -> None:
    part = whole(keep)
    opened = dt.open(part.save(tmp_path / "all.safetensors"), Sums)
    assert opened == part
    assert (opened.tuning, opened.threshold) == (part.tuning, part.threshold)
    assert torch.equal(opened.weights, part.weights)
    assert opened.without("cat") == part.without("cat")


def test_a_class_of_a_hundred_samples_takes_less_than_100_kB(tmp_path: Path) -> None:
    names = tuple(f"a class with a long name, number {number}" for number in range(150))
    x = torch.randn(100, 384, generator=torch.Generator().manual_seed(0))
    split = Split(x, torch.full((100,), 7))
    (part,) = dt.sums(Dataset("intents", split, split, split, names), [7])
    assert part.save(tmp_path / "seven.safetensors").stat().st_size < 100_000


def altered(path: Path, change: str) -> Path:
    """Alter a file and its checksum, as someone would who knows how."""
    with safe_open(path, framework="pt") as file:
        content = json.loads(file.metadata()[KEY])
    tensors = load_file(path)
    content.pop("checksum")
    match change:
        case "sample":
            tensors["0/samples"][3, 2] += 1
        case "order":
            tensors["0/samples"] = tensors["0/samples"].flip(0).contiguous()
        case "count":
            content["held"][0]["samples"] += 1
        case "class":
            content["held"][0]["class"] = "yak"
        case "form":
            content["held"][0]["form"] = "guesses"
        case "shape":
            content["input_shape"] = [7]
        case "basis":
            content["basis"]["seed"] = 1
        case "missing":
            del tensors["0/samples"]
        case "more":
            tensors["extra"] = torch.zeros(1)
        case "tuning":
            content["tuning"]["ridge"] = -1.0
        case "cards":
            content["threshold"] |= {"confidence": "distance", "usual": [[0.0, 1.0]]}
        case "newer":
            content["schema"] = "dovetail.sums/2"
    text = json.dumps({**content, "checksum": checksum(content)})
    save_file(tensors, path, {KEY: text})
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("sample", "'0/samples' are not in their order|does not match its checksum"),
        ("order", "'0/samples' are not in their order"),
        ("count", r"'0/samples' is torch.int16 \(12, 6\), and should be"),
        ("class", "it holds class 'yak' twice, or outside of its class list"),
        ("form", "it holds 'guesses' of class 'ant'"),
        ("shape", r"its samples have shape \(7,\), and its features are of 6 numbers"),
        ("basis", "its features are made in another way"),
        ("missing", "tensor '0/samples' is missing"),
        ("more", "it holds a tensor that belongs to nothing, 'extra'"),
        ("tuning", "its ridge is -1.0"),
        ("cards", "its threshold is of distances to cards"),
        ("newer", "reads up to 'dovetail.sums/1'"),
    ],
)
def test_files_that_were_altered_are_refused(change: str, said: str, tmp_path: Path) -> None:
    path = altered(whole().save(tmp_path / "all.safetensors"), change)
    with pytest.raises(FileFormatError, match=said):
        dt.open(path)


def test_moments_that_no_samples_can_have_are_refused(tmp_path: Path) -> None:
    path = whole("moments").save(tmp_path / "all.safetensors")
    tensors = load_file(path)
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors["0/second"][0] = 2**30
    save_file(tensors, path, metadata)
    with pytest.raises(FileFormatError, match="'0/second' is larger than 12 samples can make it"):
        dt.open(path)


def test_a_damaged_manifest_is_refused(tmp_path: Path) -> None:
    path = whole().save(tmp_path / "all.safetensors")
    with safe_open(path, framework="pt") as file:
        text = file.metadata()[KEY]
    save_file(load_file(path), path, {KEY: text.replace('"ant"', '"ape"', 1)})
    with pytest.raises(FileFormatError, match="does not match its checksum"):
        dt.open(path)
