"""Embeddings: every token is a unit, and looking up its row is a dense layer that reads which token there is."""

from __future__ import annotations

import torch
from torch import Tensor

from ..follow import Carried, Follower
from ..layers import WeightedLayer
from ..trace import Call, Value


def _embedding(follower: Follower, call: Call) -> None:
    value, weight = call.argument(0, "input"), call.argument(1, "weight")
    if not isinstance(value, Value) or not isinstance(weight, Tensor):
        raise follower.refusal(call, "its weights depend on the input")
    if not follower.is_constant(value):
        raise follower.refusal(call, "which row it takes depends on units")
    if call.name == "embedding_bag" and call.argument(7, "per_sample_weights") is not None:
        raise follower.refusal(call, "tokens have weights of their own")
    name = follower.layer_name(call)
    tokens = follower.units.add(f"{name}:tokens", len(weight), convolutional=False)
    outputs = follower.units.add(name, weight.shape[1], convolutional=False)
    # No call to change what it reads in: a token is a number, and 0 is one of them.
    layer = WeightedLayer(name, weight.detach().T, outputs, tokens)
    follower.layers.append(layer)
    shape = call.results[0].shape
    follower.keep(call.results[0], Carried(torch.from_numpy(outputs).expand(shape), makers=(layer,)))


def _one_hot(follower: Follower, call: Call) -> None:
    if not follower.is_constant(call.operands[0]):
        raise follower.refusal(call, "which entry is 1 depends on units")
    shape = call.results[0].shape
    tokens = follower.units.add(follower.used_name("tokens"), shape[-1], convolutional=False)
    follower.keep(call.results[0], Carried(torch.from_numpy(tokens).expand(shape)))


EMBEDDING_RULES = {"embedding": _embedding, "embedding_bag": _embedding, "one_hot": _one_hot}
