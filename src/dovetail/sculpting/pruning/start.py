"""Networks that sculpting starts from: fresh networks by seed, or one that is trained already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from ...errors import ShapeError, SpecError
from ...graph.chain import layer_chain
from ...graph.matrices import BESIDE_WEIGHTS
from ...graph.read import dense_matrices
from ...graph.trace import evaluating
from ...nets import NetBuilder, net_builder
from ...population import Population
from .perceptrons import Perceptrons
from .problem import Problem


def builder_of(widths: Sequence[int]) -> NetBuilder:
    """Return a builder of the paper's networks: ReLU layers with biases, Kaiming normal weights.

    Examples
    --------
    >>> builder_of([4, 24, 2])().output
    Linear(in_features=24, out_features=2, bias=True)
    """
    inputs, *hidden, outputs = widths
    sizes = "-".join(map(str, hidden))
    return net_builder(f"mlp:{sizes},dropout=0,output_bias=true,init=kaiming-normal", (inputs,), outputs)


def fresh_networks(
    build: NetBuilder, seeds: Sequence[int], problem: Problem, device: torch.device
) -> Perceptrons:
    """Return an untrained network for each seed."""
    params = Population(build, seeds=seeds, device="cpu").params
    weights = [tensor for name, tensor in params.items() if name.endswith("weight")]
    biases = [tensor for name, tensor in params.items() if name.endswith("bias")]
    return Perceptrons.from_matrices(weights, biases, problem.head).to(device, problem.dtype)


def read_network(network: nn.Module, problem: Problem) -> Perceptrons:
    """Return a trained perceptron as a stack of one, after checking that it is one.

    It is one if its dense layers with ReLUs between them give the same logits as the network itself.
    """
    weights, own = weights_and_biases(network)
    sizes = (weights[0].shape[1], len(weights[-1]))
    if sizes != (problem.inputs, problem.outputs):
        raise ShapeError(
            f"the network maps {sizes[0]} inputs to {sizes[1]} outputs, but {problem.name} has {problem.inputs} and "
            f"{problem.outputs}"
        )
    biases = [torch.zeros(len(w)) if bias is None else bias for w, bias in zip(weights, own, strict=True)]
    stack = Perceptrons.from_matrices([w[None] for w in weights], [b[None] for b in biases], problem.head)
    # Edges that are not there stay away; a bias of 0 may just not have been trained, unless the layer has none.
    stack.kept[:, : stack.edges] = stack.values[:, : stack.edges] != 0
    for bias, kept in zip(own, stack.biases(stack.kept), strict=True):
        kept[:] = bias is not None
    x = problem.val.x[:64].cpu()
    # What half precision rounds is no other network.
    close = 0.05 if next(network.parameters()).element_size() < 4 else 1e-3
    if not torch.allclose(stack.logits(x)[0], outputs_of(network, x), rtol=close, atol=close / 10):
        raise SpecError(
            "the network is not a plain perceptron: dense layers with ReLUs between them give other outputs than it "
            "does; other activations, shortcuts and normalisation cannot be sculpted so (convolutions, activations and "
            "batch norm in a row can, by dovetail.sculpt_channels)"
        )
    return stack


def weights_and_biases(network: nn.Module) -> tuple[list[Tensor], list[Tensor | None]]:
    """Return the weights ``[units, units before]`` of a perceptron's layers and their biases, None where there is none.

    Raises
    ------
    SpecError
        When its layers are not dense ones, two or more, each reading the one before.
    """
    try:
        layers = dense_matrices(network)
    except (ShapeError, SpecError) as error:
        raise SpecError(f"the network is not a plain perceptron, which sculpting needs: {error}") from error
    if len(layers) < 2:
        raise SpecError(
            f"sculpting needs a network with a hidden layer: dense layers with ReLUs between them; this "
            f"{type(network).__name__} has {len(layers)} dense layers"
        )
    modules = dict(network.named_modules())
    biases = [getattr(modules.get(name), "bias", None) for name in layers]
    return (
        [weight.to_dense().cpu().float() for weight in layers.values()],
        [None if bias is None else bias.detach().cpu().float() for bias in biases],
    )


def outputs_of(network: nn.Module, x: Tensor) -> Tensor:
    """Return what a network gives for inputs, by its own forward pass."""
    try:
        with evaluating(network), torch.no_grad():
            out = network(x.to(next(network.parameters())))
    except (RuntimeError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ShapeError(f"the network cannot take inputs of shape {tuple(x.shape[1:])}: {reason}") from error
    if not isinstance(out, Tensor):
        raise ShapeError(f"the network must return logits, not a {type(out).__name__}")
    return out.cpu().float()


def perceptron_of(tensors: Mapping[str, Tensor]) -> nn.Sequential:
    """Return dense layers with ReLUs between them, from a state dict with their weights and biases in order."""
    layers: list[nn.Module] = []
    chain = layer_chain(
        {name: tensor for name, tensor in tensors.items() if not name.startswith(BESIDE_WEIGHTS)}
    )
    if not chain:
        raise SpecError(
            f"there is no weight matrix among {len(tensors)} tensors, and sculpting needs dense layers"
        )
    for layer in chain:
        if layer.convolutional:
            raise SpecError(f"{layer.weight!r} is a convolution; only dense layers can be sculpted")
        dense = nn.Linear(layer.inputs, layer.units, bias=bool(layer.vectors))
        with torch.no_grad():
            dense.weight.copy_(tensors[layer.weight].to_dense())
            if layer.vectors:
                dense.bias.copy_(tensors[layer.vectors[0]].to_dense())
        layers += [dense, nn.ReLU()]
    return nn.Sequential(*layers[:-1])
