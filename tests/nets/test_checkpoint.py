"""Weights from files of all kinds, and what is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.utils import prune

import dovetail as dt
from dovetail.errors import FileFormatError
from dovetail.io.checkpoint import load_checkpoint


@pytest.mark.parametrize("how", ["safetensors", "torch", "nested"])
def test_weights_come_back(how: str, tmp_path: Path) -> None:
    state = nn.Linear(3, 2).state_dict()
    path = tmp_path / "net"
    if how == "safetensors":
        save_file(state, path)
    else:
        torch.save(state if how == "torch" else {"epoch": 3, "state_dict": state}, path)
    found = load_checkpoint(path)
    assert set(found) == set(state)
    assert all(torch.equal(found[name], state[name]) for name in state)


class Evil:
    """Unpickling this would call a function."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (print, ("run",))


def test_code_in_a_file_is_never_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"weight": Evil()}, tmp_path / "evil.pt")
    (tmp_path / "evil.pkl").write_bytes(pickle.dumps(Evil()))
    for name in ("evil.pt", "evil.pkl"):
        with pytest.raises(FileFormatError):
            load_checkpoint(tmp_path / name)
    assert "run" not in capsys.readouterr().out


@pytest.mark.parametrize("zipped", [True, False])
def test_a_whole_module_is_not_called_damaged(zipped: bool, tmp_path: Path) -> None:
    torch.save(nn.Linear(3, 2), tmp_path / "net.pt", _use_new_zipfile_serialization=zipped)
    with pytest.raises(FileFormatError, match=r"net\.pt.*holds Python objects.*state_dict") as raised:
        load_checkpoint(tmp_path / "net.pt")
    assert "damaged" not in str(raised.value)


def test_a_safetensors_file_that_is_cut_short_is_called_so(tmp_path: Path) -> None:
    save_file(nn.Linear(30, 20).state_dict(), tmp_path / "net.safetensors")
    whole = (tmp_path / "net.safetensors").read_bytes()
    for length in (len(whole) // 2, 30):
        (tmp_path / "net.safetensors").write_bytes(whole[:length])
        with pytest.raises(FileFormatError, match="it is damaged or cut short"):
            load_checkpoint(tmp_path / "net.safetensors")


@pytest.mark.parametrize("content", [b"", b"\0" * 40, b"no weights here", b'\x10\0\0\0\0\0\0\0{"a": '])
def test_damaged_and_foreign_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"net\.pt"):
        load_checkpoint(path)


def test_pruned_tensors_come_with_their_masks_applied(tmp_path: Path) -> None:
    first, last = nn.Linear(6, 6), nn.Linear(6, 6)
    network = nn.Sequential(first, nn.ReLU(), last)
    for layer in (first, last):
        prune.l1_unstructured(layer, "weight", 0.5)
    torch.save(network.state_dict(), tmp_path / "pruned.pt")
    found = load_checkpoint(tmp_path / "pruned.pt")
    assert set(found) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert torch.equal(found["0.weight"], first.weight)
    assert int((found["0.weight"] == 0).sum()) == 18


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    torch.save(nn.Linear(30, 20).state_dict(), path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_checkpoint(path)


def test_missing_and_empty_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="not there"):
        load_checkpoint(tmp_path / "nothing")
    with pytest.raises(FileFormatError, match="folder"):
        load_checkpoint(tmp_path)
    with pytest.raises(FileFormatError, match="cannot be read: File name too long"):
        load_checkpoint(tmp_path / ("a" * 300))
    torch.save({"epoch": 3}, tmp_path / "empty.pt")
    with pytest.raises(FileFormatError, match="no tensors"):
        load_checkpoint(tmp_path / "empty.pt")
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(FileFormatError, match="list"):
        load_checkpoint(tmp_path / "list.pt")


@pytest.mark.parametrize(
    ("tensor", "mask", "reason"),
    [
        (torch.ones(10**6, 1), torch.ones(1, 10**6), "has shape"),  # their product has 4 TB
        (torch.ones(3, 2), torch.ones(2, 3), "has shape"),
        (torch.ones(1, 1).expand(10**6, 10**6), torch.ones(1, 1).expand(10**6, 10**6), "many times"),
    ],
)
def test_masks_that_do_not_fit_are_refused(
    tensor: torch.Tensor, mask: torch.Tensor, reason: str, tmp_path: Path
) -> None:
    torch.save({"fc.weight_orig": tensor, "fc.weight_mask": mask}, tmp_path / "net.pt")
    with pytest.raises(FileFormatError, match=reason):
        load_checkpoint(tmp_path / "net.pt")


def test_sparse_tensors_stay_sparse_under_their_masks(tmp_path: Path) -> None:
    size = 10**6, 10**6
    sparse = torch.sparse_coo_tensor(torch.zeros(2, 1), torch.ones(1), size, check_invariants=True)
    torch.save({"fc.weight_orig": sparse, "fc.weight_mask": sparse}, tmp_path / "net.pt")
    assert load_checkpoint(tmp_path / "net.pt")["fc.weight"].is_sparse


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch itself advises against some of them
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(3, 2, device="meta"),
        lambda: torch.nested.nested_tensor([torch.ones(2, 2), torch.ones(3, 2)]),
    ],
    ids=["meta", "nested"],
)
def test_tensors_that_are_not_plain_numbers_are_named(
    make: Callable[[], torch.Tensor], tmp_path: Path
) -> None:
    torch.save({"fc.weight": make()}, tmp_path / "net.pt")
    with pytest.raises(FileFormatError, match=r"'fc.weight' is no plain tensor"):
        load_checkpoint(tmp_path / "net.pt")


@pytest.mark.filterwarnings("ignore")  # PyTorch advises against its own way to quantise
def test_quantised_weights_come_as_numbers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))
    dynamic = torch.ao.quantization.quantize_dynamic(network, {nn.Linear}, dtype=torch.qint8)
    torch.save(dynamic.state_dict(), tmp_path / "dynamic.pt")
    found = load_checkpoint(tmp_path / "dynamic.pt")
    for name in ("0.weight", "2.weight"):
        torch.testing.assert_close(found[name], network.state_dict()[name], atol=3e-3, rtol=0)
    rows = torch.quantize_per_channel(
        network.state_dict()["0.weight"], torch.full((5,), 0.01), torch.zeros(5), 0, torch.qint8
    )
    torch.save({"fc.weight": rows}, tmp_path / "rows.pt")
    torch.testing.assert_close(
        load_checkpoint(tmp_path / "rows.pt")["fc.weight"],
        network.state_dict()["0.weight"],
        atol=6e-3,
        rtol=0,
    )
    for kind, scale in ((torch.int8, torch.rand(5, 1)), (torch.float8_e4m3fn, torch.rand(()))):
        whole = torch.randint(-9, 9, (5, 6)).to(kind)
        save_file({"fc.weight": whole, "fc.weight_scale": scale}, tmp_path / "scaled.safetensors")
        scaled = load_checkpoint(tmp_path / "scaled.safetensors")
        assert list(scaled) == ["fc.weight"]
        torch.testing.assert_close(scaled["fc.weight"], whole.float() * scale)


def test_halves_and_8_bit_floats_are_read(tmp_path: Path) -> None:
    weight = torch.randn(3, 4)
    for kind in (torch.bfloat16, torch.float16, torch.float8_e5m2):
        save_file({"0.weight": weight.to(kind)}, tmp_path / "half.safetensors")
        graph = dt.network_graph(load_checkpoint(tmp_path / "half.safetensors"))
        np.testing.assert_allclose(graph.blocks[0].weights, weight.to(kind).double().abs().numpy())


def test_weights_in_several_files_are_one(tmp_path: Path) -> None:
    state = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2)).state_dict()
    files = {"2.weight": "b", "2.bias": "b", "0.weight": "a", "0.bias": "b"}
    for shard in "ab":
        save_file(
            {n: state[n] for n, file in files.items() if file == shard}, tmp_path / f"{shard}.safetensors"
        )
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(
        json.dumps({"weight_map": {name: f"{file}.safetensors" for name, file in files.items()}})
    )
    found = load_checkpoint(index)
    assert list(found) == list(state)
    assert all(torch.equal(found[name], tensor) for name, tensor in state.items())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"weight_map": {"a": "../a.safetensors"}}, "no file beside it"),
        ({"weight_map": {"a": "/etc/passwd"}}, "no file beside it"),
        ({"weight_map": {"a": "model.safetensors.index.json"}}, "no file beside it"),
        ({"weight_map": {}}, "names no files"),
        ([1], "no index of weights"),
        ({"weights": {}}, "no index of weights"),
        ({"weight_map": {"a": "missing.safetensors"}}, "not there"),
    ],
)
def test_an_index_leads_nowhere_else(content: object, reason: str, tmp_path: Path) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match=reason):
        load_checkpoint(index)
