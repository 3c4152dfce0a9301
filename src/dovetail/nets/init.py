"""Initial weights: PyTorch's own, Kaiming normal (Neural Sculpting) or Glorot uniform (Clusterability)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn


def _kaiming_normal_(weight: torch.Tensor) -> None:
    nn.init.kaiming_normal_(weight, mode="fan_in", nonlinearity="relu")


def _glorot_uniform_(weight: torch.Tensor) -> None:
    nn.init.xavier_uniform_(weight)


# None leaves the values that PyTorch's constructors gave.
INITS: dict[str, Callable[[torch.Tensor], None] | None] = {
    "default": None,
    "kaiming-normal": _kaiming_normal_,
    "glorot-uniform": _glorot_uniform_,
}


def initialise_(net: nn.Module, init: str) -> None:
    """Draw the weights of all dense and convolutional layers anew; their biases become zero.

    Examples
    --------
    >>> layer = nn.Linear(2, 3)
    >>> initialise_(layer, "kaiming-normal")
    >>> layer.bias.tolist()
    [0.0, 0.0, 0.0]
    """
    draw_ = INITS[init]
    if draw_ is None:
        return
    for module in net.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            draw_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
