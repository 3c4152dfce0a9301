"""The output layer of a network: the last dense layer or convolution that it runs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..errors import SpecError

LAYERS = (nn.Linear, nn.modules.conv._ConvNd)
"""Layers with weights whose outputs are units."""


def output_layer(network: nn.Module, example: Tensor) -> str:
    """Return the name of the layer that gives the logits.

    Parameters
    ----------
    network : nn.Module
        The network.
    example : Tensor
        A batch of samples; of ours, whose last layer is called ``output``, it is not needed.

    Raises
    ------
    SpecError
        For a network without such a layer.

    Examples
    --------
    >>> output_layer(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)), torch.zeros(1, 2))
    '2'
    """
    modules = {name: module for name, module in network.named_modules() if isinstance(module, LAYERS)}
    if "output" in modules:
        return "output"
    run: list[str] = []
    hooks = [
        module.register_forward_pre_hook(lambda *_, name=name: run.append(name))
        for name, module in modules.items()
    ]
    was_training = network.training
    try:
        with torch.no_grad():
            network.eval()(example)
    finally:
        network.train(was_training)
        for hook in hooks:
            hook.remove()
    if not run:
        raise SpecError(
            f"{type(network).__name__} runs no dense layer and no convolution, so it has no output layer"
        )
    return run[-1]
