"""Two digits side by side: tell both."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from ..content import Content
from ..registry import ImageSet, LoadBase, Pairs, Seed, register
from ..split import Split
from .images import load_images, side_by_side


@register("two-digits", kind="generated")
def two_digits(
    load_base: LoadBase, *, base: ImageSet = "mnist", pairs: Pairs = 1_000, seed: Seed = 0
) -> Content:
    """Two digits side by side and which they are: 20 bits, one for each digit on either side.

    ``pairs`` counts the training and validation pairs (8:2) of each ordered combination of digits; the test
    split has as many pairs as the validation split. No image of the base is in two splits.
    """
    data = load_images(load_base, base)
    made = []
    for left, right, images in side_by_side(data, data.outputs, pairs, seed):
        y = torch.cat([F.one_hot(torch.from_numpy(side), data.outputs) for side in (left, right)], dim=1)
        made.append(Split(images, y.to(torch.float32)))
    outputs = tuple(f"{side} {name}" for side in ("left", "right") for name in data.classes)
    return Content(made, outputs, task="bits")
