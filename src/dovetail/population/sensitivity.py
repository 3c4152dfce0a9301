"""How much the loss hangs on each hidden unit, for every member at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.func import vmap

from ..data.dataset import Split
from ..errors import SpecError, unknown_name
from ..prune import unit_sensitivity
from .forward import member_forward
from .graph import clear_errors
from .objectives import Objective, with_own
from .stack import Tensors


def default_layers(network: nn.Module) -> list[str]:
    """Return the names of a network's ReLU layers: their outputs are the hidden units' activations."""
    return [name for name, module in network.named_modules() if isinstance(module, nn.ReLU)]


def activation_shapes(network: nn.Module, layers: Sequence[str], x: Tensor) -> dict[str, torch.Size]:
    """Return the shapes of one sample's activations, from a forward pass."""
    modules = {name: module for name, module in network.named_modules() if name}
    if not layers:
        raise SpecError(
            f"the network has no ReLU modules; name the layers to score, some of {', '.join(modules)}"
        )
    for name in layers:
        if name not in modules:
            raise unknown_name("layer", name, modules)
    seen: dict[str, list[Tensor]] = {name: [] for name in layers}

    def note(name: str, out: Tensor) -> Tensor:
        seen[name].append(out)
        return out

    with _hooked(network, layers, note), torch.no_grad():
        network.eval()(x[:1])
    for name, outputs in seen.items():
        if len(outputs) != 1:
            raise SpecError(
                f"layer {name!r} runs {len(outputs)} times in a pass; scores need one that runs once"
            )
    return {name: outputs[0].shape[1:] for name, outputs in seen.items()}


def averaged_sensitivity(
    template: nn.Module,
    params: Tensors,
    buffers: Tensors,
    split: Split,
    objective: Objective,
    own: Tensors,
    shapes: Mapping[str, torch.Size],
    batch_size: int,
) -> Tensors:
    """Return mean ``abs(∂L/∂a · a)`` of every unit of these layers over a split, ``{layer: [members, units]}``."""
    total: Tensors = {}
    for start in range(0, len(split), batch_size):
        batch = split.where(torch.arange(start, min(start + batch_size, len(split)), device=split.x.device))
        scores = _batch_sensitivity(template, params, buffers, batch, with_own(objective, own), own, shapes)
        # A batch's scores are a mean, of derivatives of a mean: it counts by the square of its share.
        share = (len(batch) / len(split)) ** 2
        for name, score in scores.items():
            total[name] = total.get(name, torch.zeros_like(score)) + share * score
    return total


def _batch_sensitivity(
    template: nn.Module,
    params: Tensors,
    buffers: Tensors,
    batch: Split,
    objective: Callable[[Tensor, Tensor, Mapping[str, Tensor]], Tensor],
    own: Tensors,
    shapes: Mapping[str, torch.Size],
) -> Tensors:
    """Return the scores over one batch.

    The derivative is taken with respect to zeros that are added to the activations: unlike the activations
    themselves they can be handed to a mapped function.
    """
    x, y = batch
    members = len(next(iter(params.values())))
    zeros = {name: x.new_zeros(members, len(x), *shape).requires_grad_() for name, shape in shapes.items()}

    def one(params: Tensors, buffers: Tensors, own: Tensors, zeros: Tensors) -> tuple[Tensor, Tensors]:
        seen: Tensors = {}

        def add(name: str, out: Tensor) -> Tensor:
            seen[name] = out + zeros[name]
            return seen[name]

        with _hooked(template, list(zeros), add):
            logits = member_forward(template, params, buffers, x, None)
        return objective(logits, y, own).mean(), seen

    template.eval()
    with clear_errors():
        loss, activations = vmap(one)(params, buffers, own, zeros)
    gradients = torch.autograd.grad(loss.sum(), list(zeros.values()))
    detached = {name: tensor.detach() for name, tensor in activations.items()}
    return unit_sensitivity(detached, dict(zip(zeros, gradients, strict=True)), population=True)


@contextmanager
def _hooked(
    network: nn.Module, layers: Sequence[str], hook: Callable[[str, Tensor], Tensor]
) -> Iterator[None]:
    """Call ``hook(name, output)`` after each of these layers; what it returns is the layer's output."""
    modules = dict(network.named_modules())
    handles = [
        modules[name].register_forward_hook(lambda _m, _i, out, name=name: hook(name, out)) for name in layers
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
