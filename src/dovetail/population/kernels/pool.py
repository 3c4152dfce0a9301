"""Max-pooling without overlap in one pass over memory each way, as Triton kernels for CUDA.

Pooling is bound by memory: forward reads the input and writes a quarter of it, backward does the reverse. What is
chosen is kept as a place in the window, one byte where torch keeps eight; and since windows do not share
positions, backward writes every position once, zeros included, where a scatter needs zeros written before.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

_BLOCK = 512


@triton.jit
def _pool(
    x, values, places, total,
    height: tl.constexpr, width: tl.constexpr, kernel_h: tl.constexpr, kernel_w: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Pool ``block`` windows; sizes are constants, because dividing by them must be cheap."""
    cols: tl.constexpr = width // kernel_w
    windows: tl.constexpr = (height // kernel_h) * cols
    first = tl.program_id(0).to(tl.int64) * block
    target = first + tl.arange(0, block)
    inside = target < total
    # 64 bits for the first plane only: in one block all other distances are small.
    x += first // windows * (height * width)
    window = (first % windows).to(tl.int32) + tl.arange(0, block)
    row, col = window % windows // cols, window % cols
    corner = window // windows * (height * width) + row * (kernel_h * width) + col * kernel_w
    top = tl.full([block], float("-inf"), values.dtype.element_ty)
    place = tl.zeros([block], tl.int32)
    for a in tl.static_range(kernel_h):
        for b in tl.static_range(kernel_w):
            value = tl.load(x + corner + (a * width + b), mask=inside)
            better = (value > top) | (value != value)  # the first of equals, and NaN stays, as in torch
            top = tl.where(better, value, top)
            place = tl.where(better, a * kernel_w + b, place)
    tl.store(values + target, top, mask=inside)
    tl.store(places + target, place.to(tl.uint8), mask=inside)


@triton.jit
def _spread(
    gradient, places, x_gradient, total,
    height: tl.constexpr, width: tl.constexpr, kernel_h: tl.constexpr, kernel_w: tl.constexpr,
    lanes: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Write ``block`` windows of the input's gradient; those cut off by the border are zero.

    A window's row is written by one thread: single values would half fill each piece of memory.
    """
    rows: tl.constexpr = height // kernel_h
    cols: tl.constexpr = width // kernel_w
    all_cols: tl.constexpr = (width + kernel_w - 1) // kernel_w
    windows: tl.constexpr = (height + kernel_h - 1) // kernel_h * all_cols
    first = tl.program_id(0).to(tl.int64) * block
    inside = first + tl.arange(0, block) < total
    gradient += first // windows * (rows * cols)
    places += first // windows * (rows * cols)
    x_gradient += first // windows * (height * width)
    window = (first % windows).to(tl.int32) + tl.arange(0, block)
    plane, row, col = window // windows, window % windows // all_cols, window % all_cols
    whole = inside & (row < rows) & (col < cols)
    source = plane * (rows * cols) + row * cols + col
    g = tl.load(gradient + source, mask=whole, other=0.0)[:, None]
    place = tl.load(places + source, mask=whole, other=0).to(tl.int32)[:, None]
    corner = (plane * (height * width) + row * (kernel_h * width) + col * kernel_w)[:, None]
    across = tl.arange(0, lanes)[None, :]
    there = inside[:, None] & (across < kernel_w) & (col[:, None] * kernel_w + across < width)
    for a in tl.static_range(kernel_h):
        value = tl.where(place == a * kernel_w + across, g, 0.0)
        below = (row * kernel_h + a < height)[:, None]
        tl.store(x_gradient + (corner + (a * width + across)), value, mask=there & below)


def max_pool(x: Tensor, kernel: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return each window's maximum and, as uint8, its place in the window."""
    height, width = x.shape[-2:]
    values = x.new_empty(*x.shape[:-2], height // kernel[0], width // kernel[1])
    places = torch.empty_like(values, dtype=torch.uint8)
    total = values.numel()
    _pool[(triton.cdiv(total, _BLOCK),)](
        x.contiguous(), values, places, total, height, width, kernel[0], kernel[1], block=_BLOCK
    )
    return values, places


def spread(gradient: Tensor, places: Tensor, size: Sequence[int], kernel: Sequence[int]) -> Tensor:
    """Return the input's gradient: each window's at its place, zero elsewhere."""
    x_gradient = gradient.new_empty(*gradient.shape[:-2], *size)
    windows = triton.cdiv(size[0], kernel[0]) * triton.cdiv(size[1], kernel[1])
    total = gradient.shape[:-2].numel() * windows
    _spread[(triton.cdiv(total, _BLOCK),)](
        gradient.contiguous(), places.contiguous(), x_gradient, total, size[0], size[1], kernel[0], kernel[1],
        lanes=triton.next_power_of_2(kernel[1]), block=_BLOCK,
    )  # fmt: skip
    return x_gradient
