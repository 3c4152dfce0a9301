"""Block networks: random weights, strong within modules and weak between them."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor, nn

from ..errors import SpecError, unknown_name
from ..graph.graph import Indices
from .known import KnownNetwork
from .transformer import Attention, Block, Transformer, random_rows

Kind: TypeAlias = Literal["mlp", "cnn", "attention"]

_PLACES = 6
"""Tokens in a row, and pixels along a side."""


def block_network(
    kind: Kind = "mlp",
    *,
    modules: int = 4,
    units: int = 8,
    layers: int = 3,
    strength: float = 1.0,
    seed: int = 0,
) -> KnownNetwork:
    """Return a random network whose weights are in blocks, with noise between them.

    Every layer has as many units of each module, in random order. A weight is drawn from a normal distribution, of
    standard deviation 1 within a module and ``1 - strength`` between two, and scaled by the layer's width.
    Biases are 0.

    Parameters
    ----------
    kind : {"mlp", "cnn", "attention"}
        Dense layers; convolutions of 3 x 3 and a readout; or a transformer in which every module has a head in every
        block, a share of the dense units, and a share of the residual stream.
    modules : int
        How many there are.
    units : int
        Units of a module in a layer, or channels; inputs and outputs too.
    layers : int
        Hidden layers, convolutions, or blocks of a transformer.
    strength : float
        From 0, where modules are but names, to 1, where nothing is between them.
    seed : int
        Decides everything else.

    Examples
    --------
    >>> import dovetail as dt
    >>> known = block_network("mlp", modules=3, strength=0.9)
    >>> graph = known.graph()
    >>> found = dt.clusterability(graph, k=3, shuffles=20, progress=False)
    >>> from dovetail.planted import agreement_with
    >>> agreement_with(known.labels(graph), found.labels).rand
    1.0
    """
    if kind not in get_args(Kind):
        raise unknown_name("kind", kind, get_args(Kind))
    for name, value, least in (("modules", modules, 2), ("units", units, 1), ("layers", layers, 1)):
        if value < least:
            raise SpecError(f"{name} must be at least {least}; got {value}")
    if not 0 <= strength <= 1:
        raise SpecError(f"strength is from 0 (no modules) to 1 (nothing between them); got {strength}")
    drawn = _Drawn(np.random.default_rng((seed, modules, units, layers)), modules, units, strength)
    with torch.no_grad():
        made = {"mlp": _mlp, "cnn": _cnn, "attention": _attention}[kind](drawn, layers)
    names = tuple(f"module {number}" for number in range(modules))
    network, samples, ends = made
    for name, tensor in network.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(tensor)
    return KnownNetwork(network.eval(), samples, names, drawn.owners, ends)


class _Drawn:
    """Draws owners and weights; `owners` keeps those of each layer."""

    def __init__(self, rng: np.random.Generator, modules: int, units: int, strength: float) -> None:
        self._rng, self._between = rng, 1 - strength
        self._units, self.modules, self.width = units, modules, modules * units
        self.in_order = np.repeat(np.arange(modules), units)
        self.owners: dict[str, Indices] = {}

    def mixed(self, name: str) -> Indices:
        """Return the module of each unit of a layer, in random order."""
        self.owners[name] = self._rng.permutation(self.in_order)
        return self.owners[name]

    def fill(self, weight: Tensor, outputs: Indices, inputs: Indices) -> None:
        """Draw the weights from units of these modules to units of those."""
        same = torch.from_numpy(outputs[:, None] == inputs).reshape(
            *weight.shape[:2], *[1] * (weight.dim() - 2)
        )
        # Scaled as for ordinary networks with ReLU: what comes out varies as much as what goes in.
        fan_in = self._units * (1 + (self.modules - 1) * self._between**2) * weight[0, 0].numel()
        normal = torch.from_numpy(self._rng.normal(0, (2 / fan_in) ** 0.5, tuple(weight.shape)))
        weight.copy_(normal * torch.where(same, 1.0, self._between))


_Made: TypeAlias = tuple[nn.Module, Tensor, tuple[str, ...]]
"""A network, samples for it, and the layers at its ends."""


def _normal(count: int, *shape: int) -> Tensor:
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(0))


def _mlp(drawn: _Drawn, layers: int) -> _Made:
    dense = [nn.Linear(drawn.width, drawn.width) for _ in range(layers + 1)]
    network = nn.Sequential(*[module for layer in dense for module in (layer, nn.ReLU())][:-1])
    _fill_chain(drawn, network)
    return network, _normal(64, drawn.width), ("input", str(2 * layers))


def _cnn(drawn: _Drawn, layers: int) -> _Made:
    convolutions = [nn.Conv2d(drawn.width, drawn.width, 3, padding=1) for _ in range(layers)]
    chain = [module for layer in convolutions for module in (layer, nn.ReLU())]
    network = nn.Sequential(
        *chain, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(drawn.width, drawn.width)
    )
    _fill_chain(drawn, network)
    return network, _normal(8, drawn.width, _PLACES, _PLACES), ("input", str(2 * layers + 2))


def _fill_chain(drawn: _Drawn, network: nn.Sequential) -> None:
    before = drawn.mixed("input")
    for name, layer in network.named_children():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            drawn.fill(layer.weight, drawn.mixed(name), before)
            before = drawn.owners[name]


def _attention(drawn: _Drawn, layers: int) -> _Made:
    width, heads = drawn.width, drawn.in_order
    network = Transformer(
        width, _PLACES, width, [(drawn.modules, width // drawn.modules, width)] * layers, width
    )
    words, stream = drawn.mixed("tokens:tokens"), drawn.mixed("tokens")
    drawn.fill(network.tokens.weight, words, stream)
    for number, block in enumerate(network.blocks):
        assert isinstance(block, Block)
        assert isinstance(block.attention, Attention)
        assert block.up is not None
        assert block.down is not None
        for role in ("query", "key", "value"):
            drawn.fill(getattr(block.attention, role).weight, heads, stream)
            drawn.owners[f"blocks.{number}.attention.{role}"] = heads
        drawn.fill(block.attention.out.weight, stream, heads)
        hidden = drawn.mixed(f"blocks.{number}.up")
        drawn.fill(block.up.weight, hidden, stream)
        drawn.fill(block.down.weight, stream, hidden)
    drawn.fill(network.readout.weight, drawn.mixed("readout"), stream)
    return network, random_rows(width, _PLACES), ("tokens:tokens", "readout")
