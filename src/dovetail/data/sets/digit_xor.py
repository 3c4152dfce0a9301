"""Digit XOR: two digits side by side, to compute with."""

from __future__ import annotations

import numpy as np
import torch

from ..content import Content
from ..registry import ImageSet, LoadBase, Pairs, Seed, register
from ..split import Split
from .images import load_images, side_by_side

_BITS = 3


@register("digit-xor", kind="generated")
def digit_xor(
    load_base: LoadBase, *, base: ImageSet = "mnist", pairs: Pairs = 1_000, seed: Seed = 0
) -> Content:
    """Two digits from 0 to 7 side by side and the three bits of their exclusive or, highest first.

    Pairs and splits are as in ``two-digits``.
    """
    weights = [1 << power for power in reversed(range(_BITS))]
    data = load_images(load_base, base, classes=1 << _BITS)
    made = []
    for left, right, images in side_by_side(data, 1 << _BITS, pairs, seed):
        bits = ((left ^ right)[:, None] & np.array(weights)) > 0
        made.append(Split(images, torch.from_numpy(bits).to(torch.float32)))
    return Content(made, tuple(f"bit {weight}" for weight in weights), task="bits")
