"""Shuffled copies of a network's weights: what chance would make of them."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import unknown_name
from ..graph.graph import Block, Floats, Indices, NetworkGraph

Shuffle: TypeAlias = Literal["layer", "layer-nonzero"]


class Shuffles:
    """Makes shuffled copies of a graph's weights, layer by layer.

    Units without any connection stay without: they were left out of the network, so chance gets no use of them either.

    Parameters
    ----------
    graph : NetworkGraph
        Whose weights to shuffle.
    how : str
        ``"layer"``: every weight may go to every place of its layer. ``"layer-nonzero"``: weights other than 0 change
        places among themselves, so that the same units stay connected.

    Examples
    --------
    >>> import dovetail as dt
    >>> graph = dt.network_graph([[[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]])
    >>> (mixed,) = Shuffles(graph, "layer-nonzero").draw(np.random.default_rng(0))
    >>> sorted(mixed.ravel().tolist())
    [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]
    >>> bool(((mixed == 0) == (graph.blocks[0].weights == 0)).all())
    True
    """

    def __init__(self, graph: NetworkGraph, how: Shuffle) -> None:
        if how not in get_args(Shuffle):
            raise unknown_name("shuffle", how, get_args(Shuffle))
        live = np.asarray(graph.adjacency.sum(1) > 0)
        self._shapes = [block.weights.shape for block in graph.blocks]
        self._values = [block.weights[block.weights != 0] for block in graph.blocks]
        if how == "layer":
            self._places = [np.flatnonzero(_allowed(block, live)) for block in graph.blocks]
        else:
            self._places = [np.flatnonzero(block.weights) for block in graph.blocks]

    def draw(self, rng: np.random.Generator) -> list[Floats]:
        """Return the weights of all blocks in random order."""
        return [
            _scattered(shape, places, values, rng)
            for shape, places, values in zip(self._shapes, self._places, self._values, strict=True)
        ]


def _scattered(shape: tuple[int, ...], places: Indices, values: Floats, rng: np.random.Generator) -> Floats:
    """Put values at places drawn at random: the same as permuting all with their zeros, and less work."""
    mixed = np.zeros(shape)
    mixed.reshape(-1)[places[rng.choice(len(places), len(values), replace=False)]] = values
    return mixed


def _allowed(block: Block, live: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return where a layer may have weights: within its groups, between units that have connections."""
    outputs, inputs = block.weights.shape
    of_output = np.arange(outputs) // (outputs // block.groups)
    of_input = np.arange(inputs) // (inputs // block.groups)
    within = of_output[:, None] == of_input
    return np.asarray(within & live[block.outputs][:, None] & live[block.inputs])
