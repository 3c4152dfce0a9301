"""A plain transformer: embeddings, attention, dense units with ReLU, and a residual stream that all of them add to."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class Attention(nn.Module):
    """Heads of attention, each with a sink: a place that is no token, where a head looks that finds nothing.

    Parameters
    ----------
    width : int
        Of the stream.
    heads, head_width : int
        How many heads there are, and how many units of queries, keys and values each has.
    """

    def __init__(self, width: int, heads: int, head_width: int) -> None:
        super().__init__()
        self.heads, self.head_width = heads, head_width
        self.query = nn.Linear(width, heads * head_width, bias=False)
        self.key = nn.Linear(width, heads * head_width, bias=False)
        self.value = nn.Linear(width, heads * head_width, bias=False)
        self.out = nn.Linear(heads * head_width, width, bias=False)
        self.sink_key = nn.Parameter(torch.zeros(heads, 1, head_width))
        self.sink_value = nn.Parameter(torch.zeros(heads, 1, head_width))

    def forward(self, x: Tensor) -> Tensor:
        """Return what the heads write, ``[batch, places, width]``."""
        mixed = scaled_dot_product_attention(*self._with_sinks(x), scale=1.0)
        return self.out(mixed.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def looks(self, x: Tensor) -> Tensor:
        """Return where each place looks, ``[batch, heads, places, 1 + places]``: first at the sink."""
        query, key, _ = self._with_sinks(x)
        return (query @ key.mT).softmax(-1)

    def _with_sinks(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, ``[batch, heads, places, units]``."""
        query, key, value = (
            layer(x).unflatten(-1, (self.heads, self.head_width)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        key = torch.cat([self.sink_key.expand(len(x), -1, -1, -1), key], dim=2)
        value = torch.cat([self.sink_value.expand(len(x), -1, -1, -1), value], dim=2)
        return query, key, value


class Block(nn.Module):
    """Attention, then dense units; each may be missing, and each adds to the stream."""

    def __init__(self, width: int, heads: int, head_width: int, hidden: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads, head_width) if heads else None
        self.up = nn.Linear(width, hidden) if hidden else None
        self.down = nn.Linear(hidden, width) if hidden else None

    def forward(self, x: Tensor) -> Tensor:
        """Return the stream with what the block has added."""
        if self.attention is not None:
            x = x + self.attention(x)
        if self.up is not None and self.down is not None:
            x = x + self.down(self.up(x).relu())
        return x


class Transformer(nn.Module):
    """A transformer that reads rows of tokens and gives logits at each place.

    Parameters
    ----------
    tokens, places : int
        How many tokens there are, and how long rows are.
    width : int
        Of the residual stream.
    blocks : list of (int, int, int)
        Of each block the heads, the units of each, and the dense units.
    outputs : int
        Logits at each place.

    Examples
    --------
    >>> Transformer(3, 5, 8, [(2, 4, 6)], 4)(torch.zeros(1, 5, dtype=torch.long)).shape
    torch.Size([1, 5, 4])
    """

    def __init__(
        self, tokens: int, places: int, width: int, blocks: list[tuple[int, int, int]], outputs: int
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(tokens, width)
        self.positions = nn.Parameter(torch.zeros(places, width))
        self.blocks = nn.ModuleList(Block(width, *sizes) for sizes in blocks)
        self.readout = nn.Linear(width, outputs, bias=False)

    def forward(self, rows: Tensor) -> Tensor:
        """Return logits, ``[batch, places, outputs]``, for rows of tokens, ``[batch, places]``."""
        x = self.embedded(rows)
        for block in self.blocks:
            x = block(x)
        return self.readout(x)  # type: ignore[no-any-return]

    def embedded(self, rows: Tensor) -> Tensor:
        """Return the stream before the first block."""
        return self.tokens(rows) + self.positions  # type: ignore[no-any-return]


def random_rows(tokens: int, places: int, count: int = 64) -> Tensor:
    """Return random rows of tokens, always the same, ``[count, places]``."""
    return torch.randint(tokens, (count, places), generator=torch.Generator().manual_seed(0))


@torch.no_grad()
def turn_stream_(network: Transformer, turn: Tensor) -> None:
    """Turn the residual stream of a transformer, in place: it computes the same in another basis.

    Parameters
    ----------
    network : Transformer
        All that reads the stream and all that writes into it is turned.
    turn : Tensor
        An orthogonal matrix, ``[width, width]``.

    Examples
    --------
    >>> network = Transformer(3, 5, 2, [(1, 4, 6)], 4)
    >>> rows = torch.tensor([[0, 1, 2, 1, 0]])
    >>> before = network(rows)
    >>> turn_stream_(network, torch.tensor([[0.6, -0.8], [0.8, 0.6]]))
    >>> torch.allclose(network(rows), before, atol=1e-5)
    True
    """
    network.tokens.weight.copy_(network.tokens.weight @ turn.T)
    network.positions.copy_(network.positions @ turn.T)
    reading, writing = [network.readout], []
    for block in network.blocks:
        assert isinstance(block, Block)
        if block.attention is not None:
            reading += [block.attention.query, block.attention.key, block.attention.value]
            writing.append(block.attention.out)
        if block.up is not None and block.down is not None:
            reading.append(block.up)
            writing.append(block.down)
    for layer in reading:
        layer.weight.copy_(layer.weight @ turn.T)
    for layer in writing:
        layer.weight.copy_(turn @ layer.weight)
        if layer.bias is not None:
            layer.bias.copy_(turn @ layer.bias)
