"""Stacked tensors: many networks of one architecture as ``{name: [members, ...]}``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from ..errors import ShapeError, TrainingError

Tensors = dict[str, Tensor]


def build_seeded(build: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Build a network from a seed, leaving the global random state as it was."""
    if isinstance(build, nn.Module) or not callable(build):
        raise TrainingError(
            f"a population needs a builder, a function that makes a network, not {build!r:.60}"
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = build()
    if not isinstance(network, nn.Module):
        raise TrainingError(f"a builder must return an nn.Module, not {type(network).__name__}: {build!r}")
    return network


def stack(networks: Sequence[nn.Module], places: Sequence[int]) -> tuple[Tensors, Tensors]:
    """Stack parameters and buffers: member ``i`` gets the tensors of ``networks[places[i]]``."""
    index = torch.tensor(places)
    kinds = []
    for kind in ("parameters", "buffers"):
        tensors = [dict(getattr(network, f"named_{kind}")()) for network in networks]
        first = {name: (tuple(t.shape), t.dtype) for name, t in tensors[0].items()}
        for other in tensors[1:]:
            if {name: (tuple(t.shape), t.dtype) for name, t in other.items()} != first:
                raise ShapeError(
                    "the builder returns networks of different shapes; a population has one architecture"
                )
        # Gathering from the distinct networks keeps one copy of each until the stack is made.
        kinds.append({name: torch.stack([t[name].detach() for t in tensors])[index] for name in first})
    return kinds[0], kinds[1]


def template_of(network: nn.Module) -> nn.Module:
    """Return the network's code without its tensors."""
    return copy.deepcopy(network).to("meta")


def unstack(
    network: nn.Module, params: Mapping[str, Tensor], buffers: Mapping[str, Tensor], place: int
) -> nn.Module:
    """Load one member's tensors into a network."""
    tensors = {name: stacked[place].clone() for name, stacked in {**params, **buffers}.items()}
    network.to(next(iter(tensors.values())).device)
    for name, tensor in tensors.items():
        *path, last = name.split(".")
        owner = network.get_submodule(".".join(path))
        if last in owner._parameters:
            owner._parameters[last] = nn.Parameter(tensor)
        else:
            owner._buffers[last] = tensor
    return network.eval()


def take(tensors: Mapping[str, Tensor], members: Tensor, device: torch.device | None = None) -> Tensors:
    """Return the tensors of some members, as copies, on a device."""
    return {name: tensor[members.to(tensor.device)].to(device) for name, tensor in tensors.items()}


def put(tensors: Mapping[str, Tensor], members: Tensor, values: Mapping[str, Tensor]) -> None:
    """Write the tensors of some members, in place."""
    for name, tensor in tensors.items():
        tensor[members.to(tensor.device)] = values[name].to(tensor.device)
