"""Halves: two images side by side at half width, so that a network gains from handling each on its own."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from ..content import Content
from ..registry import ImageSet, LoadBase, Seed, register
from .images import Variant, load_images, paired


@register("halves", kind="generated")
def halves(
    load_base: LoadBase, *, base: ImageSet = "mnist", variant: Variant = "same", seed: Seed = 0
) -> Content:
    """Two images at half width side by side: of one class, or any two labelled with their sum."""
    data = load_images(load_base, base, divisor=(1, 2))
    _, height, width = data.input_shape

    def squeeze_and_join(images: Tensor, partners: Tensor) -> Tensor:
        narrow = F.interpolate(images, size=(height, width // 2), mode="bilinear", antialias=True)
        return torch.cat([narrow, narrow[partners]], dim=3)

    return paired(data, variant, seed, squeeze_and_join)
