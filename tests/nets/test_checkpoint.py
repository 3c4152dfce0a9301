"""Weights from files of all kinds, and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.utils import prune

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
        (torch.ones(1, 1).expand(10**6, 10**6), torch.ones(1, 1).expand(10**6, 10**6), "repeats few numbers"),
        (torch.ones(3, 2).to(torch.float8_e4m3fn), torch.ones(3, 2), "cannot be read"),
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
        lambda: torch.quantize_per_tensor(torch.ones(3, 2), 0.1, 0, torch.qint8),
    ],
    ids=["meta", "nested", "quantised"],
)
def test_tensors_that_are_not_plain_numbers_are_named(
    make: Callable[[], torch.Tensor], tmp_path: Path
) -> None:
    torch.save({"fc.weight": make()}, tmp_path / "net.pt")
    with pytest.raises(FileFormatError, match=r"'fc.weight' is no plain tensor"):
        load_checkpoint(tmp_path / "net.pt")
