"""Files of specialists and composites: changed in their manifest, their tensors, their bytes, or not ours at all."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import strategies as st

import dovetail as dt
from dovetail.specialists import Composite, Part, open_file
from dovetail.specialists.files import read_file_manifest
from dovetail.specialists.manifest import _checksum

from ..specialists.helpers import inputs, make_specialist, make_team
from .hostile import altered, damaged, numbers, values, written
from .many import fuzz
from .tensor_files import TensorFile, with_other_tensors

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::dovetail.errors.CompatibilityWarning")]

_SMALL = 100_000
"""Parameters of networks that are also run: a small file may well stand for a large network."""


@cache
def good_parts() -> list[Part]:
    x = inputs(30)
    team = make_team(3)
    normed = [make_specialist((n,), "mlp:4-4,batch_norm=true") for n in range(2)]
    return [
        team[0],
        make_specialist((1, 3), density=1.1),
        make_specialist((2,), "mlp:15", slots=True),
        normed[0],
        dt.compose(normed, inputs=x),
        dt.compose(team),
        dt.compose(team, "ties", keep=0.5),
        dt.compose(team, "calibrated", inputs=x),
        dt.compose(team, "logits", weights=[1, 2, 3]),
    ]


@cache
def good_files(folder: Path) -> list[TensorFile]:
    return [
        TensorFile.taken_apart(part.save(folder / "good.safetensors").read_bytes()) for part in good_parts()
    ]


@st.composite
def with_other_manifests(draw: st.DrawFn, good: TensorFile) -> TensorFile:
    """Return a file with another manifest, mostly with the right checksum, as someone writes who wants to fool us."""
    file = good.copy()
    manifest = json.loads(file.metadata["dovetail"])
    del manifest["checksum"]
    manifest = draw(altered(manifest) | altered(manifest) | values)
    if isinstance(manifest, dict) and draw(st.integers(0, 9)):
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + 3000)
        try:
            manifest["checksum"] = _checksum(manifest)
        finally:
            sys.setrecursionlimit(limit)
    file.metadata["dovetail"] = written(manifest)
    return file


@st.composite
def lying_composites(draw: st.DrawFn, folder: Path) -> bytes:
    """Return a whole file, digest and all, of a composite that `compose` would never have made."""
    members = [
        draw(st.sampled_from([part for part in good_parts() if not isinstance(part, Composite)]))
    ] * draw(st.integers(1, 3))
    method = draw(st.sampled_from(["sum", "logits", "ties", "calibrated"]))
    floats = numbers.map(lambda number: float(max(min(number, 10**300), -(10**300))))
    coefficients = draw(st.none() | st.lists(floats, min_size=len(members), max_size=len(members)))
    part = Composite(members, method, coefficients=coefficients, keep=draw(floats))  # type: ignore[arg-type]
    return part.save(folder / "lie.safetensors").read_bytes()


def files(folder: Path) -> st.SearchStrategy[bytes]:
    good = st.sampled_from(good_files(folder))
    return st.one_of(
        good.flatmap(with_other_manifests).map(TensorFile.together),
        good.flatmap(with_other_tensors).map(TensorFile.together),
        good.flatmap(with_other_manifests).flatmap(with_other_tensors).map(TensorFile.together),
        good.map(TensorFile.together).flatmap(damaged),
        lying_composites(folder),
        st.binary(max_size=64),
    )


def use(part: Part) -> None:
    """Do with a part what people do with one that could be opened."""
    repr(part), part.digest, part.specialists[0].sparsity
    if sum(packed.shape.numel() for packed in part.specialists[0].weights.values()) <= _SMALL:
        part.state_dict()
        part.module()
        assert part.save(Path(part_path)).stat().st_size
        if part.blueprint.input_shape == (6,):
            part(inputs())


part_path = ""


def test_no_file_breaks_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "part_path", str(tmp_path / "again.safetensors"))
    path = tmp_path / "fuzzed.safetensors"

    def read(content: bytes) -> None:
        path.write_bytes(content)
        read_file_manifest(path)
        use(open_file(path))

    fuzz("specialist files", files(tmp_path), read)
