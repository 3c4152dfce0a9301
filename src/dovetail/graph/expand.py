"""Composite functions of PyTorch, written out in the operations that they consist of.

PyTorch calls some functions as one where a reader needs to see what is inside. Both who writes down what a network does
(`trace`) and who changes what layers read (`intercept`) put these in their place, so that both count the same calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def _multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Any:
    """Return what ``multi_head_attention_forward`` does in evaluation mode, [places, samples, units] and weights."""
    if any(x is not None for x in (bias_k, bias_v, static_k, static_v)) or add_zero_attn or training:
        return NotImplemented
    single = query.dim() == 2
    if single:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    # Samples first, as everywhere else: who changes what layers read looks for them there.
    query, key, value = (x.transpose(0, 1) for x in (query, key, value))
    samples, places, width = query.shape
    if use_separate_proj_weight:
        weights = [x for x in (q_proj_weight, k_proj_weight, v_proj_weight) if x is not None]
    else:
        assert in_proj_weight is not None
        # Not chunk: what autograd calls a view of several cannot be told by where it lies.
        weights = [in_proj_weight[number * width : (number + 1) * width] for number in range(3)]
    biases = [None] * 3 if in_proj_bias is None else [*in_proj_bias.chunk(3)]
    queries, keys, values = (
        F.linear(x, weight, bias).unflatten(2, (num_heads, -1)).transpose(1, 2)
        for x, weight, bias in zip((query, key, value), weights, biases, strict=True)
    )
    scores = queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[3])
    if attn_mask is not None:
        mask = (
            attn_mask if attn_mask.dim() == 2 else attn_mask.reshape(samples, num_heads, *attn_mask.shape[1:])
        )
        scores = _masked(scores, mask)
    if key_padding_mask is not None:
        scores = _masked(scores, key_padding_mask[:, None, None])
    attention = scores.softmax(3)
    mixed = (attention @ values).transpose(1, 2).reshape(samples, places, -1)
    output = F.linear(mixed, out_proj_weight, out_proj_bias).transpose(0, 1)
    looks = None
    if need_weights:
        looks = attention.mean(1) if average_attn_weights else attention
        looks = looks.squeeze(0) if single else looks
    return (output.squeeze(1) if single else output), looks


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(mask, -math.inf) if mask.dtype == torch.bool else scores + mask


def _addmm(
    bias: Tensor, x: Tensor, weight: Tensor, *, beta: float = 1, alpha: float = 1, out: None = None
) -> Any:
    """Return the product of two matrices and a bias, which come first there, and last in a dense layer."""
    return x @ weight + bias if beta == alpha == 1 and out is None else NotImplemented


def _einsum(equation: Any, *operands: Any) -> Any:
    """Return a sum of products of two tensors as a product of matrices; weights come second."""
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    names, arrow, result = str(equation).replace(" ", "").partition("->")
    pair = names.split(",")
    if not arrow or "." in names or len(operands) != 2 or any(len(set(own)) < len(own) for own in pair):
        return NotImplemented
    if isinstance(operands[0], nn.Parameter) and not isinstance(operands[1], nn.Parameter):
        operands, pair = operands[::-1], pair[::-1]
    (first, second), (left, right) = operands, pair
    batch = [name for name in left if name in right and name in result]
    summed = [name for name in left if name in right and name not in result]
    rows, columns = (
        [name for name in own if name not in other] for own, other in ((left, right), (right, left))
    )
    if set(batch + rows + columns) != set(result):
        return NotImplemented
    size = {**dict(zip(left, first.shape, strict=True)), **dict(zip(right, second.shape, strict=True))}
    outer = [size[name] for name in batch]
    inner = math.prod(size[name] for name in summed)
    first = first.permute([left.index(name) for name in batch + rows + summed]).reshape(*outer, -1, inner)
    second = second.permute([right.index(name) for name in batch + summed + columns]).reshape(
        *outer, inner, -1
    )
    found = batch + rows + columns
    product = (first @ second).reshape([size[name] for name in found])
    return product.permute([found.index(name) for name in result])


EXPANSIONS: dict[str, Callable[..., Any]] = {
    "multi_head_attention_forward": _multi_head_attention,
    "addmm": _addmm,
    "einsum": _einsum,
}
"""By the name that `trace.one_word` gives; what they cannot write out they answer with ``NotImplemented``."""
