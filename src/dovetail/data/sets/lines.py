"""LINES: count the white columns."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..content import Content
from ..registry import Samples, Seed, register
from ..split import Split

MOST_LINES = 10


@register("lines", kind="generated")
def lines(*, train_samples: Samples = 60_000, test_samples: Samples = 10_000, seed: Seed = 0) -> Content:
    """One to ten white columns on black, 28 × 28 pixels, labelled by their number.

    A fifth of ``train_samples`` validates.
    """
    held = train_samples // 5
    sizes = (train_samples - held, held, test_samples)
    made = []
    for stream, size in enumerate(sizes):
        rng = np.random.default_rng((seed, stream))
        labels = rng.integers(MOST_LINES, size=size)
        made.append(Split(draw_lines(labels, 28, 28, rng), torch.from_numpy(labels)))
    return Content(made, ("1 line", *(f"{count} lines" for count in range(2, MOST_LINES + 1))))


def draw_lines(labels: NDArray[np.int64], height: int, width: int, rng: np.random.Generator) -> Tensor:
    """Return one image per label, with ``label + 1`` distinct white columns at random places.

    Examples
    --------
    >>> images = draw_lines(np.array([0, 4]), 28, 28, np.random.default_rng(0))
    >>> images.shape, (images.sum((1, 2, 3)) / 28).tolist()
    (torch.Size([2, 1, 28, 28]), [1.0, 5.0])
    """
    places = rng.permuted(np.tile(np.arange(width), (len(labels), 1)), axis=1)
    white = torch.from_numpy(places <= labels[:, None])
    return white.to(torch.float32)[:, None, None, :].expand(-1, 1, height, width).contiguous()
