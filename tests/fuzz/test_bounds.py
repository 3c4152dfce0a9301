"""Small files that claim much are refused before anything of the size they claim is made; each once took gigabytes.

Those that took a minute or more are smaller here, and refused by the same line.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app
from dovetail.errors import DovetailError, FileFormatError, ShapeError
from dovetail.io.bounds import FREE, MOST_LAYERS, TIMES, check_borne_out
from dovetail.io.checkpoint import load_checkpoint
from dovetail.io.header import KEY
from dovetail.sculpting import Hierarchy, detect_modules, draw_hierarchy
from dovetail.sculpting.modules.detect import _check_size
from dovetail.specialists.manifest import _checksum

from ..specialists.helpers import make_specialist
from .tensor_files import TensorFile


def said_by(*arguments: object) -> str:
    """Return the error of a command, which must fail with one that was foreseen."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert isinstance(done.exception, DovetailError), done.output or done.exception
    return str(done.exception)


def manifest_changed(path: Path, change: Callable[[dict[str, Any]], object]) -> TensorFile:
    """Return the pieces of a part's file with its manifest changed, and its checksum made right again."""
    file = TensorFile.taken_apart(path.read_bytes())
    content = json.loads(file.metadata[KEY])
    content.pop("checksum")
    change(content)
    file.metadata[KEY] = json.dumps({**content, "checksum": _checksum(content)})
    return file


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return make_specialist((1,)).save(tmp_path / "part.safetensors")


def test_a_huge_network_without_an_entry_is_refused(part: Path) -> None:
    file = manifest_changed(part, lambda content: content.update(net="mlp:20000-20000"))
    file.entries = {}
    for layer in ("dense1", "dense2", "output"):
        for name in ("weight", "bias") if layer != "output" else ("weight",):
            for kind, dtype in (("values", "F32"), ("positions", "I32")):
                file.entries[f"0/{layer}.{name}.{kind}"] = {"dtype": dtype, "shape": [0]}
                file.data[f"0/{layer}.{name}.{kind}"] = b""
    part.write_bytes(file.together())
    assert part.stat().st_size < 2000
    with pytest.raises(
        FileFormatError, match=r"its network claims 4\d\d,\d+,\d+ entries, and the file holds 0"
    ):
        dt.open(part)


def test_a_network_pruned_to_a_thousandth_is_not(tmp_path: Path) -> None:
    check_borne_out("a sparse network", 800_000_000, 800_000)
    with pytest.raises(FileFormatError):
        check_borne_out("a lie", FREE + TIMES * 10 + 1, 10)


def test_a_manifest_of_very_many_metrics_is_refused(part: Path) -> None:
    many = {f"m{number}": 0.5 for number in range(201)}
    part.write_bytes(
        manifest_changed(part, lambda content: content["specialists"][0].update(metrics=many)).together()
    )
    with pytest.raises(FileFormatError, match="more than 200 metrics"):
        dt.open(part)


def test_a_manifest_longer_than_any_is_refused(part: Path) -> None:
    file = TensorFile.taken_apart(part.read_bytes())
    file.metadata[KEY] = "[" + " " * 2**24 + "]"
    part.write_bytes(file.together())
    for read in (dt.open, load_checkpoint):
        with pytest.raises(FileFormatError, match=r"16,777,218 characters, and at most 16,777,216 are read"):
            read(part)


def test_one_number_repeated_very_often_is_refused(tmp_path: Path) -> None:
    torch.save({"w": torch.zeros(1).expand(60_000, 60_000)}, tmp_path / "w.pt")
    assert (tmp_path / "w.pt").stat().st_size < 2000
    with pytest.raises(FileFormatError, match=r"claim 3,600,000,000 numbers and repeat 1 many times"):
        load_checkpoint(tmp_path / "w.pt")
    one = torch.zeros(1000, 1000)
    torch.save({str(number): one.view(1000, 1000) for number in range(1000)}, tmp_path / "w.pt")
    with pytest.raises(FileFormatError, match="many times"):
        load_checkpoint(tmp_path / "w.pt")
    torch.save({"first": one, "tied": one.T, "norm": torch.ones(1).expand(64)}, tmp_path / "w.pt")
    assert load_checkpoint(tmp_path / "w.pt").keys() == {"first", "tied", "norm"}


def test_a_sparse_tensor_of_any_shape_is_refused(tmp_path: Path) -> None:
    indices, values = torch.zeros(2, 1, dtype=torch.long), torch.ones(1)
    torch.save({"w": torch.sparse_coo_tensor(indices, values, (60_000, 60_000))}, tmp_path / "w.pt")
    for command in (("audit", "--k", "2"), ("modules",)):
        said = said_by(command[0], tmp_path / "w.pt", *command[1:])
        assert "claims 3,600,000,000 entries, and the file holds 1 " in said
    torch.save({"w": torch.sparse_coo_tensor(indices, values, (60, 60))}, tmp_path / "w.pt")
    assert load_checkpoint(tmp_path / "w.pt")["w"].sum() == 1


def test_an_archive_that_unpacks_to_far_more_is_refused(tmp_path: Path) -> None:
    torch.save({"w": torch.zeros(10_000_000)}, tmp_path / "w.pt")
    with (
        zipfile.ZipFile(tmp_path / "w.pt") as plain,
        zipfile.ZipFile(tmp_path / "packed.pt", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for entry in plain.namelist():
            packed.writestr(entry, plain.read(entry))
    with pytest.raises(FileFormatError, match="bytes unpack to 40,"):
        load_checkpoint(tmp_path / "packed.pt")


@pytest.mark.parametrize("command", [("inspect",), ("modules",), ("audit", "--k", "2")])
def test_a_shape_without_entries_and_without_end_is_refused(command: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(
        TensorFile({}, {"w.weight": {"dtype": "F32", "shape": [0, 2**60]}}, {"w.weight": b""}).together()
    )
    assert "no tensor is of that size" in said_by(command[0], path, *command[1:])


def test_weights_of_eight_bits_are_numbers_like_others(tmp_path: Path) -> None:
    weights = {"a.weight": torch.eye(4), "b.weight": 2 * torch.eye(4)}
    short = {"a.weight": torch.float8_e4m3fn, "b.weight": torch.float8_e5m2}
    save_file({name: tensor.to(short[name]) for name, tensor in weights.items()}, tmp_path / "w.safetensors")
    found = load_checkpoint(tmp_path / "w.safetensors")
    for name, tensor in weights.items():
        torch.testing.assert_close(found[name], tensor)
    for command in (("modules",), ("audit", "--k", "2", "--shuffles", "0")):
        done = CliRunner().invoke(app, [command[0], str(tmp_path / "w.safetensors"), *command[1:]])
        assert done.exit_code == 0, done.exception


def test_thin_layers_of_very_many_units_are_refused(tmp_path: Path) -> None:
    save_file(
        {"a.weight": torch.ones(20_000, 1), "b.weight": torch.ones(1, 20_000)}, tmp_path / "w.safetensors"
    )
    assert (tmp_path / "w.safetensors").stat().st_size < 170_000
    assert "layer 1 has 20,000 units with paths through them" in said_by(
        "modules", tmp_path / "w.safetensors"
    )
    with pytest.raises(ShapeError, match="pairs of units"):
        _check_size([4_000] * 20)
    assert detect_modules([np.zeros((20_000, 1)), np.zeros((1, 20_000))]).unused  # no unit is on a path


@pytest.mark.parametrize("command", [("modules",), ("audit", "--k", "2")])
def test_very_many_layers_are_refused(command: tuple[str, ...], tmp_path: Path) -> None:
    layers = {f"l{number}.weight": torch.ones(1, 1) for number in range(MOST_LAYERS + 1)}
    save_file(layers, tmp_path / "w.safetensors")
    assert "2,001 layers" in said_by(command[0], tmp_path / "w.safetensors", *command[1:])


def hierarchy_text(sizes: list[int], *, wired: bool) -> str:
    """Return a hierarchy of layers that are wired one to one, or not at all."""
    last = len(sizes) - 1
    groups = [[[unit] for unit in range(size)] if wired else [] for size in sizes]
    counts = [len(found) for found in groups]
    return json.dumps(
        {
            "schema": "dovetail.hierarchy/1",
            "sizes": sizes,
            "connections": [[[unit] if wired else [] for unit in range(size)] for size in sizes[1:]],
            "layers": groups,
            "modules": [[[layer, unit] for layer in range(last + 1)] for unit in range(sizes[0])] if wired else [],
            "unused": [] if wired else [[layer, unit] for layer, size in enumerate(sizes) for unit in range(size)],
            "clusterings": [{"metric": {}, "chosen": count} for count in counts],
        }
    )  # fmt: skip


def test_a_hierarchy_of_very_many_unused_units_is_refused() -> None:
    with pytest.raises(FileFormatError, match=r"its network claims 64,000,000 entries, and the file holds 0"):
        Hierarchy.from_json(hierarchy_text([8_000, 8_000], wired=False))
    assert Hierarchy.from_json(hierarchy_text([80, 80], wired=False)).sizes == (80, 80)


def test_a_hierarchy_of_very_many_layers_is_refused() -> None:
    with pytest.raises(FileFormatError, match="2,001 layers"):
        Hierarchy.from_json(hierarchy_text([1] * (MOST_LAYERS + 1), wired=True))


def test_very_many_modules_are_told_and_not_drawn(tmp_path: Path) -> None:
    path = tmp_path / "modules.json"
    path.write_text(hierarchy_text([301, 301], wired=True))
    with pytest.raises(ShapeError, match=r"301 modules in 2 layers are too many to draw"):
        draw_hierarchy(Hierarchy.from_json(path.read_text()))
    done = CliRunner().invoke(app, ["report", str(path), "-o", str(tmp_path / "report.html")])
    assert done.exit_code == 0, done.exception
    assert "Not drawn here" in (tmp_path / "report.html").read_text()
    assert len(CliRunner().invoke(app, ["inspect", str(path)]).output.splitlines()) < 60


@pytest.mark.parametrize(
    "words",
    [
        ("train", "digits", "-r", "{}", "-o", "out"),
        ("sums", "digits", "-r", "{}", "-o", "out"),
        ("compose", "part.safetensors", "--without", "{}"),
        ("sculpt", "4,2,4", "--hidden", "{}"),
    ],
)
@pytest.mark.usefixtures("part")
def test_a_number_of_very_many_digits_is_told(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = said_by(*(word.format("9" * 5000) for word in words))
    assert "99999" in told
    assert len(told) < 2000
