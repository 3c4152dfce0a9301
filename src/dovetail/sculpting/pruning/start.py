"""Networks that sculpting starts from: fresh networks by seed, or one that is trained already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from ...data.dataset import is_finite
from ...errors import DataError, DovetailError, ShapeError, SpecError
from ...graph.chain import layer_chain
from ...graph.read import read_network as follow_network
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
    layers = _dense_layers(network, problem)
    if len(layers) < 2:
        raise SpecError(
            f"sculpting needs a network with a hidden layer: dense layers with ReLUs between them; this "
            f"{type(network).__name__} has {len(layers)} dense layers"
        )
    sizes = (layers[0].in_features, layers[-1].out_features)
    if sizes != (problem.inputs, problem.outputs):
        raise ShapeError(
            f"the network maps {sizes[0]} inputs to {sizes[1]} outputs, but {problem.name} has {problem.inputs} and "
            f"{problem.outputs}"
        )
    weights = [layer.weight.detach().to_dense().cpu().float() for layer in layers]
    if not all(is_finite(weight) for weight in weights):
        raise DataError("the network's weights hold NaN or infinity")
    biases = [
        torch.zeros(layer.out_features) if layer.bias is None else layer.bias.detach().cpu().float()
        for layer in layers
    ]
    stack = Perceptrons.from_matrices([w[None] for w in weights], [b[None] for b in biases], problem.head)
    # Edges that are not there stay away; a bias of 0 may just not have been trained, unless the layer has none.
    stack.kept[:, : stack.edges] = stack.values[:, : stack.edges] != 0
    for layer, kept in zip(layers, stack.biases(stack.kept), strict=True):
        kept[:] = layer.bias is not None
    x = problem.val.x[:64].cpu()
    # What half precision rounds is no other network.
    close = 0.05 if next(network.parameters()).element_size() < 4 else 1e-3
    if not torch.allclose(stack.logits(x)[0], _outputs(network, x), rtol=close, atol=close / 10):
        raise SpecError(
            "the network is not a plain perceptron: dense layers with ReLUs between them give other outputs than it "
            "does; other activations, shortcuts, convolutions and normalisation cannot be sculpted"
        )
    return stack


def _dense_layers(network: nn.Module, problem: Problem) -> list[nn.Linear]:
    """Return the dense layers in the order of their use; as they were defined where the network cannot be followed."""
    defined = {name: part for name, part in network.named_modules() if isinstance(part, nn.Linear)}
    try:
        used = [layer.name for layer in follow_network(network, problem.val.x[:1].cpu()).layers]
    except DovetailError:  # whatever it is, it is no perceptron, which its outputs will show
        used = []
    return [defined[name] for name in used] if set(used) == set(defined) else list(defined.values())


def _outputs(network: nn.Module, x: Tensor) -> Tensor:
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
    chain = layer_chain({name: tensor for name, tensor in tensors.items() if not name.startswith("masks/")})
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
