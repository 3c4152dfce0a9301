"""Images averaged down to a few pixels, for networks small enough to look at."""

from __future__ import annotations

from torch.nn import functional as F

from ..content import Content
from ..registry import ImageSet, LoadBase, register
from ..split import Split
from .images import load_images

_SIDE = 4


@register("mnist-7x7", kind="generated")
def averaged(load_base: LoadBase, *, base: ImageSet = "mnist") -> Content:
    """MNIST with every 4 × 4 pixels averaged into one: 7 × 7 pixels."""
    data = load_images(load_base, base, divisor=(_SIDE, _SIDE))
    return Content([Split(F.avg_pool2d(x, _SIDE), y) for x, y in data.splits.values()], data.classes)
