"""Images averaged down to a few pixels, for networks small enough to look at."""

from __future__ import annotations

from pathlib import Path

from torch.nn import functional as F

from .bases import load_images
from .dataset import Split
from .options import ImageSet
from .registry import Content, register

_BLOCK = 4


@register("mnist-7x7", kind="generated")
def averaged(root: str | Path | None, *, base: ImageSet = "mnist") -> Content:
    """MNIST with every 4 × 4 pixels averaged into one: 7 × 7 pixels."""
    data = load_images(base, root, divisor=(_BLOCK, _BLOCK))
    return Content([Split(F.avg_pool2d(x, _BLOCK), y) for x, y in data.splits.values()], data.classes)
