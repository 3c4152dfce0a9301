"""What tells one trunk from another: hashes of a network's weights, of its code, and of how it is set up."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

_DEEPEST = 4
"""How deep lists in lists are looked through: one that holds itself has no end."""


def weights_hash(network: nn.Module) -> str:
    """Return a hash of a network's weights, with their names.

    Examples
    --------
    >>> weights_hash(nn.Flatten()) == weights_hash(nn.ReLU()), len(weights_hash(nn.Linear(1, 1)))
    (True, 32)
    """
    digest = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        if isinstance(tensor, Tensor):
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
            digest.update(_bytes_of(tensor))
    return digest.hexdigest()[:32]


def code_hash(network: nn.Module) -> str:
    """Return a hash of the code of a network's classes, as far as it can be read, and of how its modules are set up.

    Settings are numbers, texts, functions and tensors that a module holds, also in lists, tuples and dictionaries; and
    the hooks that were put on it. What other objects hold is not seen.

    Examples
    --------
    >>> one, other = nn.Identity(), nn.Identity()
    >>> one.act, other.act = torch.relu, torch.tanh
    >>> code_hash(one) == code_hash(other)
    False
    """
    digest = hashlib.sha256(without_places(network).encode())
    kinds: set[type] = set()
    for name, module in network.named_modules():
        kinds.update(type(module).__mro__)
        digest.update(name.encode())
        for key, value in sorted(_settings(module), key=itemgetter(0)):
            digest.update(f"{key} ".encode() + b" ".join(_pieces(value, _DEEPEST)))
    for kind in sorted(kinds, key=lambda one: f"{one.__module__}.{one.__qualname__}"):
        if kind.__module__.partition(".")[0] not in ("torch", "builtins"):
            digest.update(code_of(kind).encode())
    return digest.hexdigest()[:16]


def code_of(one: Any) -> str:
    """Return the code of a class or function as far as it can be read, or else its name.

    Examples
    --------
    >>> code_of(len)
    'len'
    """
    try:
        return inspect.getsource(one)
    except (OSError, TypeError):  # typed at a prompt, or not Python
        return str(getattr(one, "__qualname__", type(one).__qualname__))


def without_places(one: object) -> str:
    """Return the representation of an object without places in memory, which are others in every process.

    Examples
    --------
    >>> without_places(print), without_places(without_places)
    ('<built-in function print>', '<function without_places>')
    """
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(one))


def _settings(module: nn.Module) -> Iterator[tuple[str, object]]:
    """Yield what decides what a module computes, beside its weights and its class."""
    for key, value in vars(module).items():
        if not key.startswith("_") and key not in ("training", "name_or_path"):
            yield key, value
    for key in module._non_persistent_buffers_set:  # not in its state dict, so not in the other hash
        yield key, module._buffers[key]
    for key in ("_forward_pre_hooks", "_forward_hooks"):
        yield key, list(vars(module).get(key, {}).values())


def _pieces(value: object, deepest: int) -> Iterator[bytes | memoryview]:
    """Yield what a setting is made of, the same in every process."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        yield repr(value).encode()
    elif isinstance(value, Tensor) and value.layout is torch.strided and not value.is_meta:
        yield f"{value.dtype} {tuple(value.shape)}".encode()
        yield _bytes_of(value)
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield f"{value.dtype} {value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, partial):
        yield from _pieces([value.func, list(value.args), value.keywords], deepest)
    elif inspect.isroutine(value) or isinstance(value, type):
        yield code_of(value).encode()
    elif isinstance(value, Mapping | list | tuple) and deepest:
        yield f"{type(value).__name__} {len(value)}".encode()
        for one in sorted(value.items(), key=repr) if isinstance(value, Mapping) else value:
            yield from _pieces(one, deepest - 1)


def _bytes_of(tensor: Tensor) -> memoryview:
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data
