"""Convolution and max-pooling without the convolution's output, as Triton kernels for CUDA.

A program takes a block of pooling windows, counted through all samples of one member, and a block of channels. For
each place in the window it gathers the patches there, which lie in the nearest cache, and multiplies them with the
kernels; forward keeps the largest product, backward adds up gradients that belong to this place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

_CHANNELS = 64
"""Most channels of a program."""

_COMPILED = {"block": 32, "num_warps": 4, "num_stages": 1}
"""Windows that a program takes at a time, and how it is compiled: the fastest of seven on an H200, both ways."""

_SPLITS = 16
"""Parts in which a member's gradient is summed; always as many, so that sums do not depend on other members."""


@triton.jit
def _patches(
    x, corner, inside, inputs: tl.constexpr, height: tl.constexpr, width: tl.constexpr,
    size_h: tl.constexpr, size_w: tl.constexpr, values_padded: tl.constexpr,
):  # fmt: skip
    """Gather patches ``[values, windows]``; the value after the last is 1 and meets the bias, if there is one."""
    value = tl.arange(0, values_padded)
    area: tl.constexpr = size_h * size_w
    offset = value // area * (height * width) + value % area // size_w * width + value % size_w
    within = (value < inputs * area)[:, None] & inside[None, :]
    patch = tl.load(x + (offset[:, None] + corner[None, :]), mask=within, other=0.0)
    return tl.where((value == inputs * area)[:, None], 1.0, patch)


@triton.jit
def _windows(
    window, channel, channels, inputs: tl.constexpr, height: tl.constexpr, width: tl.constexpr,
    window_h: tl.constexpr, window_w: tl.constexpr, rows: tl.constexpr, cols: tl.constexpr,
):  # fmt: skip
    """Return where windows begin in ``x``, and where they and their channels stand in pooled values."""
    sample, window = window // (rows * cols), window % (rows * cols)
    corner = (
        sample * (inputs * height * width) + window // cols * (window_h * width) + window % cols * window_w
    )
    pooled = (sample * (channels * rows * cols) + window)[None, :] + channel[:, None] * (rows * cols)
    # Not quite so where the next sample begins. Only neighbouring threads take what is called contiguous; one thread
    # takes more than one value only if their number divides that of a sample's windows.
    return corner, tl.max_contiguous(pooled, [1, window.shape[0]])


@triton.jit
def _conv_pool(
    x, kernels, pooled, places, x_stride, total, blocks, channels, values,
    inputs: tl.constexpr, height: tl.constexpr, width: tl.constexpr, size_h: tl.constexpr, size_w: tl.constexpr,
    window_h: tl.constexpr, window_w: tl.constexpr, channels_padded: tl.constexpr, values_padded: tl.constexpr,
    precision: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Convolve and pool ``block`` windows; sizes are constants, because dividing by them must be cheap."""
    rows: tl.constexpr = (height - size_h + 1) // window_h
    cols: tl.constexpr = (width - size_w + 1) // window_w
    program = tl.program_id(0)
    groups = tl.cdiv(channels, channels_padded)
    member = (program // blocks // groups).to(tl.int64)
    channel = program // blocks % groups * channels_padded + tl.arange(0, channels_padded)
    value = tl.arange(0, values_padded)
    known = (channel < channels)[:, None]
    kernel = tl.load(
        kernels + member * channels * values + (channel[:, None] * values + value[None, :]),
        mask=known & (value < values)[None, :], other=0.0,
    )  # fmt: skip

    first = program % blocks * block
    inside = first + tl.arange(0, block) < total
    # 64 bits for the first sample only: in one block all other distances are small.
    sample = (first // (rows * cols)).to(tl.int64)
    corner, target = _windows(
        first % (rows * cols) + tl.arange(0, block), channel, channels,
        inputs, height, width, window_h, window_w, rows, cols,
    )  # fmt: skip
    x += member * x_stride + sample * (inputs * height * width)
    top = tl.full([channels_padded, block], float("-inf"), tl.float32)
    place = tl.zeros([channels_padded, block], tl.int32)
    for q in range(window_h * window_w):
        patch = _patches(
            x + (q // window_w * width + q % window_w), corner, inside,
            inputs, height, width, size_h, size_w, values_padded,
        )  # fmt: skip
        output = tl.dot(kernel, patch, input_precision=precision)
        better = (output > top) | (output != output)  # the first of equals, and NaN stays, as in torch
        top = tl.where(better, output, top)
        place = tl.where(better, q, place)
    start = (member * total + sample * (rows * cols)) * channels
    tl.store(pooled + start + target, top, mask=known & inside[None, :])
    tl.store(places + start + target, place.to(tl.uint8), mask=known & inside[None, :])


@triton.jit
def _kernel_gradient(
    gradient, places, x, parts, x_stride, total, steps, splits, channels, values,
    inputs: tl.constexpr, height: tl.constexpr, width: tl.constexpr, size_h: tl.constexpr, size_w: tl.constexpr,
    window_h: tl.constexpr, window_w: tl.constexpr, channels_padded: tl.constexpr, values_padded: tl.constexpr,
    precision: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Sum the kernels' gradient over ``steps`` blocks of a member's windows."""
    rows: tl.constexpr = (height - size_h + 1) // window_h
    cols: tl.constexpr = (width - size_w + 1) // window_w
    program = tl.program_id(0)
    groups = tl.cdiv(channels, channels_padded)
    split = program % splits
    member = (program // splits // groups).to(tl.int64)
    channel = program // splits % groups * channels_padded + tl.arange(0, channels_padded)
    known = (channel < channels)[:, None]
    x += member * x_stride
    gradient += member * total * channels
    places += member * total * channels
    sums = tl.zeros([channels_padded, values_padded], tl.float32)
    for step in range(steps):
        first = (split * steps + step) * block
        inside = first + tl.arange(0, block) < total
        sample = (first // (rows * cols)).to(tl.int64)
        corner, source = _windows(
            first % (rows * cols) + tl.arange(0, block), channel, channels,
            inputs, height, width, window_h, window_w, rows, cols,
        )  # fmt: skip
        start = sample * (rows * cols) * channels
        g = tl.load(gradient + start + source, mask=known & inside[None, :], other=0.0)
        place = tl.load(places + start + source, mask=known & inside[None, :], other=0)
        for q in range(window_h * window_w):
            patch = _patches(
                x + sample * (inputs * height * width) + (q // window_w * width + q % window_w), corner, inside,
                inputs, height, width, size_h, size_w, values_padded,
            )  # fmt: skip
            sums = tl.dot(tl.where(place == q, g, 0.0), tl.trans(patch), sums, input_precision=precision)
    value = tl.arange(0, values_padded)
    parts += (member * splits + split) * channels * values
    tl.store(
        parts + (channel[:, None] * values + value[None, :]), sums, mask=known & (value < values)[None, :]
    )


def conv_pool(
    x: Tensor, kernels: Tensor, size: Sequence[int], window: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Return each window's maximum of the convolution and, as uint8, its place in the window."""
    members = torch.broadcast_shapes(x.shape[:-4], kernels.shape[:-2])
    channels, values = kernels.shape[-2:]
    x, x_stride = _by_member(x, members)
    kernels = kernels.expand(*members, channels, values).contiguous()
    rows, cols = (
        (whole - side + 1) // by for whole, side, by in zip(x.shape[-2:], size, window, strict=True)
    )
    pooled = x.new_empty(*members, x.shape[-4], channels, rows, cols)
    places = torch.empty_like(pooled, dtype=torch.uint8)
    total = x.shape[-4] * rows * cols
    blocks = triton.cdiv(total, _COMPILED["block"])
    constants = _constants(x, channels, values, size, window)
    groups = triton.cdiv(channels, constants["channels_padded"])
    _conv_pool[(members.numel() * groups * blocks,)](
        x, kernels, pooled, places, x_stride, total, blocks, channels, values, **constants, **_COMPILED
    )
    return pooled, places


def kernel_gradient(
    gradient: Tensor, places: Tensor, x: Tensor, size: Sequence[int], window: Sequence[int], values: int
) -> Tensor:
    """Return the gradient of kernels of a number of values, from that of the pooled values."""
    members = torch.broadcast_shapes(gradient.shape[:-4], places.shape[:-4], x.shape[:-4])
    samples, channels, rows, cols = gradient.shape[-4:]
    x, x_stride = _by_member(x, members)
    gradient, places = (t.expand(*members, *t.shape[-4:]).contiguous() for t in (gradient, places))
    total, block = samples * rows * cols, _COMPILED["block"]
    splits = max(1, min(_SPLITS, triton.cdiv(total, block)))
    steps = triton.cdiv(total, splits * block)
    parts = gradient.new_empty(*members, splits, channels, values)
    constants = _constants(x, channels, values, size, window)
    groups = triton.cdiv(channels, constants["channels_padded"])
    _kernel_gradient[(members.numel() * groups * splits,)](
        gradient, places, x, parts, x_stride, total, steps, splits, channels, values, **constants, **_COMPILED
    )
    return parts.sum(-3)


def _by_member(x: Tensor, members: torch.Size) -> tuple[Tensor, int]:
    """Return images as one run of memory, and how far a member's are from the next one's: 0 if they are shared."""
    if x.shape[:-4].numel() == 1:
        return x.contiguous(), 0
    return x.expand(*members, *x.shape[-4:]).contiguous(), x.shape[-4:].numel()


def _constants(
    x: Tensor, channels: int, values: int, size: Sequence[int], window: Sequence[int]
) -> dict[str, Any]:
    (inputs, height, width), (size_h, size_w), (window_h, window_w) = x.shape[-3:], size, window
    return {
        "inputs": inputs, "height": height, "width": width, "size_h": size_h, "size_w": size_w,
        "window_h": window_h, "window_w": window_w,
        "channels_padded": min(_CHANNELS, max(16, triton.next_power_of_2(channels))),
        "values_padded": max(16, triton.next_power_of_2(values)),
        # Three products of TF32 are as near as one in float32 (3e-7 measured), and up to five times faster here.
        "precision": "tf32" if torch.backends.cuda.matmul.fp32_precision == "tf32" else "tf32x3",
    }  # fmt: skip
