from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file

import dovetail as dt
from dovetail.errors import DovetailError, FileFormatError
from dovetail.specialists import Part, open_file
from dovetail.specialists.manifest import _checksum
from dovetail.specialists.merge import METHODS

from .helpers import inputs, make_specialist, make_team

pytestmark = pytest.mark.filterwarnings("ignore::dovetail.errors.CompatibilityWarning")


def parts() -> dict[str, Part]:
    x = inputs(30)
    team = make_team(3)
    normed = [make_specialist((n,), "mlp:10-10,batch_norm=true") for n in range(2)]
    return {
        "sparse": team[0],
        "dense": make_specialist((1, 3), density=1.1),
        "slot": make_specialist((2,), "mlp:15", slots=True),
        "normed": normed[0],
        "merged and normed": dt.compose(normed, inputs=x),
        **{method: dt.compose(team, method, inputs=x) for method in METHODS},  # type: ignore[call-overload]
        "weighted": dt.compose(team, "logits", weights=[1, 2, 3]),
    }


@pytest.mark.parametrize(
    "which", ["sparse", "dense", "slot", "normed", "merged and normed", *METHODS, "weighted"]
)
def test_round_trips_are_exact(which: str, tmp_path: Path) -> None:
    part = parts()[which]
    again = open_file(part.save(tmp_path / "part.safetensors"))
    assert again == part
    assert type(again) is type(part)
    assert repr(again) == repr(part)
    assert again.digest == part.digest
    for name, tensor in part.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor)
    assert torch.equal(again(inputs()), part(inputs()))
    for ours, theirs in zip(part.specialists, again.specialists, strict=True):
        assert ours.provenance == theirs.provenance
        assert all(torch.equal(mask, theirs.masks[name]) for name, mask in ours.masks.items())
    assert [path.name for path in tmp_path.iterdir()] == ["part.safetensors"]


def test_members_can_be_taken_out_of_an_opened_composite(tmp_path: Path) -> None:
    team = make_team(3)
    opened = open_file(sum(team).save(tmp_path / "c.safetensors"))  # type: ignore[union-attr]
    assert isinstance(opened, dt.Composite)
    assert opened.without(1) == team[0] + team[2]
    calibrated = dt.compose(team, "calibrated", inputs=inputs(30)).save(tmp_path / "k.safetensors")
    opened = open_file(calibrated)
    assert isinstance(opened, dt.Composite)
    with pytest.raises(DovetailError, match="with_inputs"):
        opened.without(1)
    assert opened.with_inputs(inputs(30)) == opened
    assert opened.with_inputs(inputs(30)).without(1) == dt.compose(
        [team[0], team[2]], "calibrated", inputs=inputs(30)
    )


def test_the_papers_specialist_takes_less_than_60_kB(tmp_path: Path) -> None:
    classes = tuple(str(n) for n in range(10))
    rewarded = make_specialist((3,), "mlp:512", shape=(1, 28, 28), classes=classes)
    # .01 of the hidden weights, and .55² of the output's, which are pruned at half the rate
    keep = {"dense1.weight": 0.01, "dense1.bias": 0.01, "output.weight": 0.3025}
    draw = torch.Generator().manual_seed(0)
    from dovetail.specialists import Specialist
    from dovetail.specialists.blueprint import pack

    weights = {n: pack(t, torch.rand(t.shape, generator=draw) < keep[n]) for n, t in rewarded.state.items()}
    sparse = Specialist(rewarded.blueprint, (3,), weights, rewarded.provenance)
    assert sparse.save(tmp_path / "three.safetensors").stat().st_size < 60_000


def test_the_format_is_what_the_documentation_says(tmp_path: Path) -> None:
    part = make_specialist((1,))
    with safe_open(part.save(tmp_path / "p.safetensors"), framework="pt") as file:
        manifest = json.loads(file.metadata()["dovetail"])
        values, positions = (file.get_tensor(f"0/dense1.weight.{what}") for what in ("values", "positions"))
    assert manifest["schema"] == "dovetail/2"
    assert manifest["kind"] == "specialist"
    assert manifest["net"] == "mlp:12"
    (entry,) = manifest["specialists"]
    assert entry["rewarded"] == [1]
    assert entry["start"] == part.provenance.start
    flat = torch.zeros(12 * 6)
    flat[positions.long()] = values
    assert torch.equal(flat.reshape(12, 6), part.state["dense1.weight"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_altered_file_is_taken_for_a_good_one(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "p.safetensors"
    part = make_specialist((1,))
    content = bytearray(part.save(path).read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        again = open_file(path)
    except FileFormatError:
        return
    # Only how the header is written, not what it says, may change unnoticed.
    assert again == part
    assert again.specialists[0].provenance == part.provenance


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999])
def test_truncated_files_are_refused(share: float, tmp_path: Path) -> None:
    path = make_specialist((1,)).save(tmp_path / "p.safetensors")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileFormatError, match="not a safetensors file, or is cut short"):
        open_file(path)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.safetensors"
    save_file({"w": torch.ones(2)}, foreign)
    with pytest.raises(FileFormatError, match="without dovetail's manifest"):
        open_file(foreign)
    torch.save({"w": torch.ones(2)}, tmp_path / "pickle.pt")
    with pytest.raises(FileFormatError, match="not a safetensors file"):
        open_file(tmp_path / "pickle.pt")
    with pytest.raises(FileFormatError, match="there is no file"):
        open_file(tmp_path / "nowhere.safetensors")
    with pytest.raises(FileFormatError, match="is a folder"):
        open_file(tmp_path)


def rewritten(path: Path, change: dict[str, object], tensors: dict[str, torch.Tensor] | None = None) -> Path:
    """Write a file again with some of its manifest and tensors changed."""
    with safe_open(path, framework="pt") as file:
        manifest = json.loads(file.metadata()["dovetail"])
        content = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    del manifest["checksum"]
    manifest.update(change)
    manifest["checksum"] = _checksum(manifest)  # as someone would who wants to fool the reader
    content.update(tensors or {})
    save_file(content, path, metadata={"dovetail": json.dumps(manifest)})
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "dovetail/9"}, "reads up to 'dovetail/2'; install dovetail-nn"),
        ({"kind": "chimera"}, "'chimera'"),
        ({"net": "mlp:9999999999"}, "cannot be built"),
        ({"net": "transformer"}, "unknown architecture"),
        ({"net": "mlp:13"}, "altered or damaged"),
        ({"net": "mlp:2"}, "not ascending places"),
        ({"input_shape": [0]}, "cannot be built"),
        ({"input_shape": "6"}, "'input_shape' should be a list"),
        ({"classes": [1, 2]}, "list of names"),
        ({"classes": ["a", "b", "c", "d", "z"]}, "altered or damaged"),
        ({"temperature": 0}, "not above 0"),
        ({"temperature": None}, "where a number should be"),
        ({"specialists": []}, "0 specialists"),
        ({"specialists": [1]}, "not an object"),
        ({"specialists": [{"rewarded": [7]}]}, "rewarded classes"),
        ({"specialists": [{"rewarded": [1], "loss": "mse"}]}, "unknown loss"),
        ({"digest": "0"}, "altered or damaged"),
    ],
)
def test_manifests_are_checked(change: dict[str, object], message: str, tmp_path: Path) -> None:
    path = rewritten(make_specialist((1,)).save(tmp_path / "p.safetensors"), change)
    with pytest.raises(FileFormatError, match=message):
        open_file(path)


def test_a_changed_record_is_noticed(tmp_path: Path) -> None:
    path = make_specialist((1,)).save(tmp_path / "p.safetensors")
    content = path.read_bytes()
    assert content.count(b"entropy") == 1
    path.write_bytes(content.replace(b"1.5}", b"2.3}").replace(b"1.5\\", b"2.3\\"))
    with pytest.raises(FileFormatError, match="does not match its checksum"):
        open_file(path)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"0/extra": torch.ones(1)}, "belongs to nothing"),
        ({"0/dense1.bias": torch.full((12,), torch.nan)}, "NaN"),
        ({"0/dense1.bias": torch.ones(12, dtype=torch.float64)}, "float64"),
        ({"0/dense1.bias": torch.ones(11)}, r"takes torch.float32 \(12,\)"),
        ({"0/dense1.weight.positions": torch.tensor([5, 3], dtype=torch.int32)}, "not ascending"),
        ({"0/dense1.weight.positions": torch.tensor([-1, 3], dtype=torch.int32)}, "not ascending"),
        ({"0/dense1.weight.positions": torch.tensor([1, 72], dtype=torch.int32)}, "not ascending"),
        ({"0/dense1.weight.positions": torch.tensor([1.0])}, "int32"),
    ],
)
def test_tensors_are_checked(tensors: dict[str, torch.Tensor], message: str, tmp_path: Path) -> None:
    path = rewritten(make_specialist((1,)).save(tmp_path / "p.safetensors"), {}, tensors)
    with pytest.raises(FileFormatError, match=message):
        open_file(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(DovetailError, match="cannot write"):
            make_specialist((1,)).save(tmp_path / "p.safetensors")
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_specialist((1,)).save(tmp_path / "p.safetensors")
    before = path.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save", full)
    with pytest.raises(DovetailError, match="No space left"):
        make_specialist((2,)).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(DovetailError, match="cannot write"):
        make_specialist((2,)).save(tmp_path / "nowhere" / "p.safetensors")
