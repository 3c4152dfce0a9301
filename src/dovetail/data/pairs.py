"""Halves and stack: two images in one, so that a network gains from handling each on its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from .bases import load_images
from .dataset import Dataset, Split
from .options import ImageSet, Seed
from .registry import Content, register

Variant = Literal["same", "diff"]


@register("halves", kind="generated")
def halves(
    root: str | Path | None, *, base: ImageSet = "mnist", variant: Variant = "same", seed: Seed = 0
) -> Content:
    """Two images at half width side by side: of one class, or any two labelled with their sum."""
    data = load_images(base, root, divisor=(1, 2))
    _, height, width = data.input_shape

    def squeeze_and_join(images: Tensor, partners: Tensor) -> Tensor:
        narrow = F.interpolate(images, size=(height, width // 2), mode="bilinear", antialias=True)
        return torch.cat([narrow, narrow[partners]], dim=3)

    return _paired(data, variant, seed, squeeze_and_join)


@register("stack", kind="generated")
def stack(
    root: str | Path | None, *, base: ImageSet = "mnist", variant: Variant = "same", seed: Seed = 0
) -> Content:
    """Two images as two channels: of one class, or any two labelled with their sum."""
    return _paired(
        load_images(base, root),
        variant,
        seed,
        lambda images, partners: torch.cat([images, images[partners]], dim=1),
    )


def _paired(data: Dataset, variant: Variant, seed: int, join: Callable[[Tensor, Tensor], Tensor]) -> Content:
    """Pair every image of a split with another image of that split."""
    made = []
    for stream, (x, y) in enumerate(data.splits.values()):
        rng = np.random.default_rng((seed, stream))
        groups = y if variant == "same" else torch.zeros_like(y)
        partners = torch.from_numpy(_partners(groups.numpy(), rng))
        labels = y if variant == "same" else (y + y[partners]) % data.outputs
        made.append(Split(join(x, partners), labels))
    return Content(made, data.classes)


def _partners(groups: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the index of another member of its group for every member, each taken once.

    Going round a random circle never pairs an image with itself unless it is alone.
    """
    partners = np.empty_like(groups)
    for group in np.unique(groups):
        circle = rng.permutation(np.flatnonzero(groups == group))
        partners[circle] = np.roll(circle, 1)
    return partners
