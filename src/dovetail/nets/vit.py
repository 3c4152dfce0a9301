"""A small vision transformer: patches as tokens, blocks of attention and dense layers on a residual stream.

The form is the plain one: layer norm in front of each half of a block, learned positions, four times the width in the
dense half, and the mean over all tokens at the end in place of a token for the class. With ``groups`` each group of
heads has layer norms of its own, so that slots, one or several groups each, do not feel one another: ten groups of four
heads are ten narrow transformers side by side.
"""

from __future__ import annotations

import math

import torch
from torch import nn

from ..errors import ShapeError, SpecError
from ..spec import FLAG, Option, share, whole
from .architecture import Architecture
from .layers import Layers, Positions, image_shape, sequential

_WIDTH = 192
_DENSE_WIDTHS = 4
_DEEPEST = 256


class Attention(nn.Module):
    """Each token asks all tokens, and takes from them what answers; in several heads of equal width."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        # A bias of the keys would add the same to all answers to a question, which the softmax takes out again.
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.value, self.together = nn.Linear(width, width), nn.Linear(width, width)
        self.softmax = nn.Softmax(-1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return for tokens ``[samples, tokens, width]`` what each has taken."""
        query, key, value = (
            layer(x).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        size = self.query.out_features // self.heads
        weights = self.softmax(query @ key.transpose(2, 3) / math.sqrt(size))
        taken: torch.Tensor = self.together((weights @ value).transpose(1, 2).flatten(2))
        return taken


class LayerNorms(nn.LayerNorm):
    """Layer norms side by side, each over its own share of the width."""

    def __init__(self, width: int, groups: int) -> None:
        super().__init__(width)
        self.groups = groups

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return tokens with each share brought to mean 0 and variance 1, then scaled and shifted."""
        shares = x.unflatten(-1, (self.groups, -1))
        even = nn.functional.layer_norm(shares, shares.shape[-1:], eps=self.eps).flatten(-2)
        return even * self.weight + self.bias

    def extra_repr(self) -> str:
        """Return what is printed of it."""
        return f"{super().extra_repr()}, groups={self.groups}"


def _norm(width: int, groups: int) -> nn.LayerNorm:
    return nn.LayerNorm(width) if groups == 1 else LayerNorms(width, groups)


class Block(nn.Module):
    """Attention, then two dense layers; each reads the normalised stream and is added to it."""

    def __init__(self, width: int, heads: int, dropout: float, groups: int) -> None:
        super().__init__()
        hidden = _DENSE_WIDTHS * width
        attend: Layers = [("norm", _norm(width, groups)), ("attention", Attention(width, heads))]
        dense: Layers = [
            ("norm", _norm(width, groups)),
            ("dense1", nn.Linear(width, hidden)),
            ("gelu", nn.GELU()),
            ("dense2", nn.Linear(hidden, width)),
        ]
        for half in (attend, dense):
            if dropout:
                half.append(("dropout", nn.Dropout(dropout)))
        self.attend, self.dense = sequential(attend), sequential(dense)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the stream with what the block adds."""
        x = x + self.attend(x)
        out: torch.Tensor = x + self.dense(x)
        return out


class Patches(nn.Module):
    """The image as a row of tokens, each a linear map of a square of pixels."""

    def __init__(self, channels: int, width: int, patch: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, width, patch, stride=patch)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return tokens ``[samples, tokens, width]`` for images."""
        tokens: torch.Tensor = self.conv(x).flatten(2).transpose(1, 2)
        return tokens


class TokenMean(nn.Module):
    """The mean over all tokens."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return ``[samples, width]`` for ``[samples, tokens, width]``."""
        return x.mean(1)


def _build(
    sizes: tuple[int, ...],
    input_shape: tuple[int, ...],
    outputs: int,
    *,
    patch: int,
    depth: int,
    heads: int,
    groups: int,
    dropout: float,
    output_bias: bool,
) -> nn.Module:
    channels, *sides = image_shape("vit", input_shape, smallest=patch)
    (width,) = sizes
    if width % heads:
        raise SpecError(f"vit:{width} does not divide into {heads} heads; say heads=, or another width")
    if heads % groups:
        raise SpecError(f"vit has {heads} heads, which do not divide into {groups} groups; say heads=")
    if any(side % patch for side in sides):
        raise ShapeError(
            f"vit cuts images into patches of {patch} x {patch} pixels, and {sides[0]} x {sides[1]} does not divide "
            "so; say patch="
        )
    tokens = math.prod(side // patch for side in sides)
    layers: Layers = [("patches", Patches(channels, width, patch)), ("positions", Positions(tokens, width))]
    layers += [(f"block{number}", Block(width, heads, dropout, groups)) for number in range(1, depth + 1)]
    layers += [("norm", _norm(width, groups)), ("mean", TokenMean())]
    return sequential([*layers, ("output", nn.Linear(width, outputs, bias=output_bias))])


VIT = Architecture(
    "vit",
    _build,
    (
        Option("patch", 4, whole(1, 1024)),
        Option("depth", 6, whole(1, _DEEPEST)),
        Option("heads", 4, whole(1, 1024)),
        Option("groups", 1, whole(1, 1024)),
        Option("dropout", 0.0, share(zero=True)),
        Option("output_bias", True, FLAG),
    ),
    sizes_mean="width of the tokens",
    default_sizes=(_WIDTH,),
    most_sizes=1,
    shapes_tell=False,
    shared=("heads", "groups"),
)
