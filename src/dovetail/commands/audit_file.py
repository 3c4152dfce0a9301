"""What ``dovetail audit`` makes of a file of weights: tensors, the order of layers, and a network to measure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from ..cluster.graph.matrices import PASS_MODULE
from ..errors import ShapeError, SpecError
from ..nets.checkpoint import load_checkpoint
from ..prune import layer_chain

ASSUMED = "dense layers with ReLU between them"
_MOST_NAMES = 8


def is_part(path: Path) -> bool:
    """Whether a file says that it is one of our specialists or composites."""
    try:
        with safe_open(path, framework="pt") as file:
            content = json.loads((file.metadata() or {}).get("dovetail", "null"))
    except (SafetensorError, OSError, ValueError):
        return False  # reading it as weights says what is wrong with it, if anything is
    return isinstance(content, dict) and content.get("schema") == "dovetail/1"


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
    >>> layers_in_order(nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)).state_dict())
    ['0', '2']
    """
    return [layer.weight.removesuffix(".weight") for layer in layer_chain(tensors)]


def chain_text(layers: list[str]) -> str:
    """Return layers with arrows between them, shortened in the middle if there are many.

    Examples
    --------
    >>> chain_text(["conv", "fc"]), chain_text([str(number) for number in range(20)])
    ('conv -> fc', '0 -> 1 -> 2 -> 3 -> (13 more) -> 17 -> 18 -> 19')
    """
    if len(layers) > _MOST_NAMES:
        layers = [*layers[:4], f"({len(layers) - 7} more)", *layers[-3:]]
    return " -> ".join(layers)


def dense_network(tensors: Mapping[str, Tensor]) -> nn.Module:
    """Return dense layers with ReLUs between them, if the tensors are their weights and biases and nothing else."""
    from ..sculpting.pruning.start import perceptron_of

    try:
        layers = layer_chain(tensors)
    except ShapeError as error:
        raise ShapeError(f"{error}; {PASS_MODULE}") from error
    if not layers:
        raise _not_dense(f"there is no weight matrix among {len(tensors)} tensors")
    used = set()
    for layer in layers:
        if layer.convolutional:
            raise _not_dense(f"{layer.weight!r} is a convolution")
        used.add(layer.weight)
        # The first vector after a matrix is its bias, unless it is the scale of a norm.
        used.update(name for name in layer.vectors[:1] if not name.endswith("weight"))
    for name in tensors:
        if name not in used:
            kind = "batch norm" if "running_" in name else "something else"
            raise _not_dense(f"{name!r} is neither the weights of a dense layer nor its bias, but of {kind}")
    return nn.Sequential(nn.Flatten(), *perceptron_of(tensors))


def _not_dense(why: str) -> SpecError:
    return SpecError(
        f"--lesion needs a network to measure, and weights alone say which for {ASSUMED} only; {why}; name a "
        "builder, package.module:builder, and the file with --weights"
    )
