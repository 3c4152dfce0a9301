"""Checkpoints, weights in a file that may come from anywhere: safetensors, or PyTorch's format without its code."""

from __future__ import annotations

import os
import pickle
import re
import struct
import warnings
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch import Tensor

from ..errors import FileFormatError
from .bounds import FREE, check_borne_out
from .header import read_header
from .plain import check_plain, open_plain, opened_tensors, tensors_in
from .quantised import dequantised, unpacked
from .shards import INDEX, shards_of

_PACKED = 2
"""How many times its size a file of `torch.save` may unpack to."""
_SHARED = 16
"""How many times as many numbers tensors may have in all as their memory holds: some networks share weights."""
_NESTED = ("state_dict", "model_state_dict", "model")
"""Where checkpoints of other programs often keep the weights."""

_LAYOUTS = (
    torch.strided, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc,
)  # fmt: skip
"""Those that can be made dense."""


def load_checkpoint(path: str | Path) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint by name, on the CPU.

    Nothing in the file is ever run: of PyTorch's files only plain weights are read (``weights_only=True``). A
    safetensors file does not keep the order of its tensors; they come sorted by name, ``fc2`` before ``fc10``. What
    `torch.nn.utils.prune` left as a tensor and its mask comes as their product.

    Parameters
    ----------
    path : str or Path
        A ``.safetensors`` file, or what `torch.save` made of a state dict (also inside of a dict, under ``state_dict``,
        ``model_state_dict`` or ``model``). Or the index of weights in several such files,
        ``model.safetensors.index.json``, which lie beside it.

    Raises
    ------
    FileFormatError
        For a file that is missing, damaged, foreign, or holds no tensors, or ones that are not plain numbers: without
        values (``meta``), or nested.

    Notes
    -----
    Quantised weights come as the numbers that they stand for: PyTorch's own, those of its quantised modules, and whole
    numbers or 8-bit floats that have a ``weight_scale`` beside them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     torch.save(torch.nn.Linear(2, 3).state_dict(), f"{folder}/linear.pt")
    ...     {name: tuple(tensor.shape) for name, tensor in load_checkpoint(f"{folder}/linear.pt").items()}
    {'weight': (3, 2), 'bias': (3,)}
    """
    path = Path(path)
    try:
        check_plain(path)
        if not path.is_file():
            raise FileFormatError(
                f"{str(path)!r} is {'a folder' if path.is_dir() else 'not there'}; name a file of weights"
            )
        if path.name.endswith(INDEX):
            shards = [load_checkpoint(shard) for shard in shards_of(path)]
            content: object = _in_order({name: tensor for shard in shards for name, tensor in shard.items()})
        elif is_safetensors(path):
            with opened_tensors(path) as file:
                content = _in_order(tensors_in(file))
            read_header(path)  # one of ours that needs a newer version is not taken for plain weights
        else:
            content = _load_torch(path)
    except SafetensorError as error:
        raise FileFormatError(
            f"{str(path)!r} cannot be read: it is damaged or cut short ({_first_line(error)})"
        ) from error
    except OSError as error:
        raise FileFormatError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    except (RuntimeError, ValueError, KeyError) as error:
        raise FileFormatError(f"{str(path)!r} cannot be read: {_first_line(error)}") from error
    return _tensors(content, path)


def _in_order(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors in the order of their names, with numbers in them as numbers, weights before biases."""

    def key(name: str) -> list[tuple[int, int, str]]:
        place, _, kind = name.rpartition(".")
        parts = [
            (0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", place)
        ]
        return [*parts, (2, int(kind != "weight"), kind)]

    return {name: tensors[name] for name in sorted(tensors, key=key)}


def is_safetensors(path: Path) -> bool:
    """Whether a file is safetensors, by its first bytes."""
    # A safetensors file starts with the length of its header, eight bytes, and the header's brace.
    with open_plain(path) as file:
        return bool(file.read(9)[8:] == b"{")


def _load_torch(path: Path) -> object:
    _check_packing(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on files that are refused anyway
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file makes torch fail in a dozen ways
        if isinstance(error, pickle.UnpicklingError) and "Unsupported global" in str(error):
            raise ValueError(
                "it holds Python objects, which are never loaded; save the weights alone, with "
                "torch.save(model.state_dict(), ...)"
            ) from error
        raise ValueError(
            "it is damaged, or no file of weights; write the state dict, with safetensors or with "
            "torch.save(model.state_dict(), ...)"
        ) from error


def _check_packing(path: Path) -> None:
    """Refuse an archive that unpacks to far more than it is; torch.save packs nothing."""
    with suppress(zipfile.BadZipFile, NotImplementedError, struct.error), open_plain(path) as file:
        with zipfile.ZipFile(file) as archive:
            unpacked_bytes = sum(entry.file_size for entry in archive.infolist())
        size = os.fstat(file.fileno()).st_size
        if unpacked_bytes > _PACKED * size + FREE:
            raise ValueError(f"its {size:,} bytes unpack to {unpacked_bytes:,}; save it with torch.save(...)")


def _tensors(content: object, path: Path) -> dict[str, Tensor]:
    for key in _NESTED:
        if isinstance(content, Mapping) and isinstance(content.get(key), Mapping):
            content = content[key]
    if not isinstance(content, Mapping):
        raise FileFormatError(
            f"{str(path)!r} holds a {type(content).__name__}, not a dict of tensors by name"
        )
    found = {str(name): value for name, value in unpacked(content) if isinstance(value, Tensor)}
    if not found:
        raise FileFormatError(f"{str(path)!r} holds no tensors")
    try:
        for name, tensor in found.items():
            _check_plain(name, tensor)
        _check_sizes(found)
        return _pruned(dequantised(found))
    except (ValueError, RuntimeError) as error:
        raise FileFormatError(f"{str(path)!r} cannot be read: {_first_line(error)}") from error


def _check_plain(name: str, tensor: Tensor) -> None:
    """Refuse what only looks like numbers: placeholders without any, ragged lists of tensors."""
    special = tensor.is_nested or tensor.layout not in _LAYOUTS
    if special or tensor.device.type != "cpu":
        raise ValueError(
            f"{name!r:.100} is no plain tensor of numbers; save dense or sparse ones, with their values, from the CPU"
        )


def _check_sizes(tensors: Mapping[str, Tensor]) -> None:
    """Refuse tensors that would be far larger, once each number of each stands for itself, than what the file holds."""
    claimed, stored = 0, dict[int, int]()
    for tensor in tensors.values():
        if tensor.layout != torch.strided:  # stays as it is; see `check_dense`
            continue
        claimed += tensor.numel()
        storage = tensor.untyped_storage()
        stored[storage.data_ptr()] = storage.nbytes() // tensor.itemsize
    if claimed > FREE + _SHARED * sum(stored.values()):
        raise ValueError(
            f"its tensors claim {claimed:,} numbers and repeat {sum(stored.values()):,} many times; save them one by "
            "one, contiguous"
        )


def check_dense(name: str, tensor: Tensor) -> None:
    """Refuse a sparse tensor that would be far larger, once it is dense, than what it holds.

    Raises
    ------
    FileFormatError
        That says how large.

    Examples
    --------
    >>> check_dense("fc.weight", torch.eye(3).to_sparse())
    """
    if tensor.layout != torch.strided:
        values = tensor._values() if tensor.layout == torch.sparse_coo else tensor.values()
        check_borne_out(repr(name)[:100], tensor.numel(), values.numel())


def _pruned(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors with PyTorch's pairs of a pruned tensor, ``X_orig`` and ``X_mask``, as the one they stand for."""
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        whole, mask = name.removesuffix("_orig"), f"{name.removesuffix('_orig')}_mask"
        if name.endswith("_orig") and mask in tensors:
            _check_pair(whole, tensor, tensors[mask])
            found[whole] = tensor * tensors[mask]
        elif not (name.endswith("_mask") and f"{name.removesuffix('_mask')}_orig" in tensors):
            found[name] = tensor
    return found


def _check_pair(name: str, tensor: Tensor, mask: Tensor) -> None:
    """Refuse a mask for something else, and a pair whose product would be far larger than what the file holds."""
    if tensor.shape != mask.shape:
        raise ValueError(
            f"{name!r:.100} has shape {tuple(tensor.shape)}, but its mask has {tuple(mask.shape)}; save them as "
            "torch.nn.utils.prune has made them"
        )
    for one in (tensor, mask):
        if one.layout == torch.strided and one.numel() * one.itemsize > one.untyped_storage().nbytes():
            raise ValueError(
                f"{name!r:.100} repeats few numbers many times; save them one by one, contiguous"
            )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
