"""Stack: two images as two channels, so that a network gains from handling each on its own."""

from __future__ import annotations

import torch

from ..content import Content
from ..registry import ImageSet, LoadBase, Seed, register
from .images import Variant, load_images, paired


@register("stack", kind="generated")
def stack(
    load_base: LoadBase, *, base: ImageSet = "mnist", variant: Variant = "same", seed: Seed = 0
) -> Content:
    """Two images as two channels: of one class, or any two labelled with their sum."""
    return paired(
        load_images(load_base, base),
        variant,
        seed,
        lambda images, partners: torch.cat([images, images[partners]], dim=1),
    )
