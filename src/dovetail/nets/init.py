"""Initial weights: PyTorch's own, Kaiming normal (Neural Sculpting) or Glorot uniform (Clusterability).

PyTorch's layers draw their first weights from one generator that the whole process shares. Here every weight is drawn
from a generator that is passed in, by the same formulas and in the same order, so that a seed gives the weights that
``torch.manual_seed`` and a plain construction give, whatever other threads do meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from .layers import Positions

Generator = torch.Generator | None
"""Where random numbers come from; None is PyTorch's own generator of the tensor's device."""


def _kaiming_normal_(weight: Tensor, generator: Generator) -> None:
    nn.init.kaiming_normal_(weight, mode="fan_in", nonlinearity="relu", generator=generator)


def _glorot_uniform_(weight: Tensor, generator: Generator) -> None:
    nn.init.xavier_uniform_(weight, generator=generator)


# None leaves the values that PyTorch's constructors give.
INITS: dict[str, Callable[[Tensor, Generator], None] | None] = {
    "default": None,
    "kaiming-normal": _kaiming_normal_,
    "glorot-uniform": _glorot_uniform_,
}


def initialise_(net: nn.Module, init: str, generator: Generator = None) -> None:
    """Give all parameters and buffers of a network their first values.

    Parameters
    ----------
    net : Module
        Its layers are dense, convolutional, norms or positions; others have no parameters.
    init : str
        A name of `INITS`: how the weights of dense and convolutional layers are drawn. With any but "default" their
        biases become zero.
    generator : torch.Generator, optional
        Where the random numbers come from; PyTorch's global one if none is given.

    Examples
    --------
    >>> layer = nn.Linear(2, 3)
    >>> initialise_(layer, "kaiming-normal")
    >>> layer.bias.tolist()
    [0.0, 0.0, 0.0]
    """
    modules = [module for module in net.modules() if not list(module.children())]
    for module in modules:
        _as_constructed_(module, generator)
    draw_ = INITS[init]
    if draw_ is None:
        return
    # After all of the above, not in its place: so do the numbers follow a construction and a second drawing.
    for module in modules:
        if isinstance(module, nn.Linear | nn.Conv2d):
            draw_(module.weight, generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def _as_constructed_(module: nn.Module, generator: Generator) -> None:
    """Do what the module's ``reset_parameters`` does, which takes no generator."""
    if isinstance(module, nn.Linear | nn.Conv2d):
        nn.init.kaiming_uniform_(module.weight, a=math.sqrt(5), generator=generator)
        if module.bias is not None:
            bound = 1 / math.sqrt(module.weight[0].numel())
            nn.init.uniform_(module.bias, -bound, bound, generator=generator)
    elif isinstance(module, Positions):
        module.reset_parameters(generator)
    elif isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d | nn.LayerNorm):
        module.reset_parameters()  # zeros and ones
    elif any(True for _ in module.parameters()) or any(True for _ in module.buffers()):
        raise NotImplementedError(f"say here how a {type(module).__name__} begins")
