"""A file of weights as an audit reads it: tensors, and the order of layers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from ..errors import FileFormatError
from ..io.checkpoint import load_checkpoint
from ..io.header import read_header
from .layers import layer_chain

_MOST_NAMES = 8


def is_part(path: Path) -> bool:
    """Whether a file says that it is one of our specialists or composites."""
    from ..specialists.manifest import SCHEMA

    try:
        return read_header(path).get("schema") == SCHEMA
    except FileFormatError:
        return False  # reading it as weights says what is wrong with it, if anything is


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the weights in a file, without the masks of a sculpted network."""
    found = {name: tensor for name, tensor in load_checkpoint(path).items() if not name.startswith("masks/")}
    for prefix in ("module.", "_orig_mod."):  # what DataParallel and torch.compile put in front
        if all(name.startswith(prefix) for name in found):
            found = {name.removeprefix(prefix): tensor for name, tensor in found.items()}
    return found


def layers_in_order(tensors: Mapping[str, Tensor]) -> list[str]:
    """Return the names of the layers as they are read, each from the one before.

    Examples
    --------
    >>> from torch import nn
    >>> layers_in_order(nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)).state_dict())
    ['0', '2']
    """
    return [layer.weight.removesuffix(".weight") for layer in layer_chain(tensors)]


def chain_text(layers: list[str], *, sorted_by_name: bool) -> str:
    """Return in words which layers were read from a file, shortened in the middle if there are many.

    Examples
    --------
    >>> chain_text(["conv", "fc"], sorted_by_name=False)
    'Layers read from the file, each from the one before: conv -> fc; shortcuts and branches are not in a file.'
    """
    if len(layers) > _MOST_NAMES:
        layers = [*layers[:4], f"({len(layers) - 7} more)", *layers[-3:]]
    order = ", sorted by name" if sorted_by_name else ""
    return (
        f"Layers read from the file{order}, each from the one before: {' -> '.join(layers)}; shortcuts and branches "
        "are not in a file."
    )
