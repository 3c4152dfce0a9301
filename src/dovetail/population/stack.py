"""Stacked tensors: many networks of one architecture as ``{name: [members, ...]}``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from ..errors import ShapeError, TrainingError
from ..nets import seeded_build

Tensors = dict[str, Tensor]


def build_seeded(build: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Build a network on the CPU from a seed, leaving all random states as they were."""
    if isinstance(build, nn.Module) or not callable(build):
        raise TrainingError(
            f"a population needs a builder, a function without arguments that makes a network, not this "
            f"{type(build).__name__}; try a lambda, or dovetail.net_builder"
        )
    try:
        network = seeded_build(build, seed)
    except TypeError as error:
        raise TrainingError(f"the builder {build!r:.80} must work without arguments ({error})") from error
    if not isinstance(network, nn.Module):
        raise TrainingError(
            f"a builder must return an nn.Module, not {type(network).__name__}: {build!r:.80}"
        )
    if any(isinstance(p, nn.UninitializedParameter) for p in network.parameters()):
        raise TrainingError("lazy layers have no shape yet; give their input sizes")
    return network


def stack(networks: Sequence[nn.Module], places: Sequence[int]) -> tuple[Tensors, Tensors]:
    """Stack parameters and constants: member ``i`` gets the tensors of ``networks[places[i]]``.

    Constants are buffers and parameters that are not to be trained.
    """
    if len({id(network) for network in networks}) < len(networks):
        raise TrainingError("the builder returns the same network every time; it must make a new one")
    index = torch.tensor(places)
    named = [_tensors(network) for network in networks]
    shapes = [
        {name: (tuple(t.shape), t.dtype, t.requires_grad) for name, t in tensors.items()} for tensors in named
    ]
    if any(other != shapes[0] for other in shapes):
        raise ShapeError(
            "the builder returns networks of different shapes; a population has one architecture"
        )
    # Contiguous, because the optimizers' kernels take every tensor as one run of memory.
    stacked = {name: torch.stack([t[name].detach() for t in named])[index].contiguous() for name in named[0]}
    trained = {name for name, tensor in named[0].items() if tensor.requires_grad}
    params = {name: tensor for name, tensor in stacked.items() if name in trained}
    return params, {name: tensor for name, tensor in stacked.items() if name not in trained}


def _tensors(network: nn.Module) -> Tensors:
    """Return a network's parameters and buffers by name; tensors that are tied come once."""
    return {**dict(network.named_parameters()), **dict(network.named_buffers())}


def unstack(
    network: nn.Module, params: Mapping[str, Tensor], buffers: Mapping[str, Tensor], place: int
) -> nn.Module:
    """Load one member's tensors into a network."""
    network.to(next(iter(params.values())).device)
    with torch.no_grad():
        for name, tensor in _tensors(network).items():
            tensor.copy_((params if name in params else buffers)[name][place])
    return network.eval()


def take(tensors: Mapping[str, Tensor], members: Tensor, device: torch.device | None = None) -> Tensors:
    """Return the tensors of some members, as copies, on a device."""
    return {
        name: tensor[members.to(tensor.device)].to(device).contiguous() for name, tensor in tensors.items()
    }


def put(tensors: Mapping[str, Tensor], members: Tensor, values: Mapping[str, Tensor]) -> None:
    """Write the tensors of some members, in place."""
    for name, tensor in tensors.items():
        tensor[members.to(tensor.device)] = values[name].to(tensor.device)


def rows_of(tensor: Tensor, index: Tensor) -> Tensor:
    """Return ``tensor[index]``; on the CPU rows are copied whole, which is two to four times as fast.

    Examples
    --------
    >>> rows_of(torch.tensor([[5], [6], [7]]), torch.tensor([[2, 0]]))
    tensor([[[7],
             [5]]])
    """
    if tensor.is_cuda:
        return tensor[index]
    rows: Tensor = tensor.index_select(0, index.flatten()).unflatten(0, index.shape)
    return rows
