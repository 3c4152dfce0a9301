"""Random images with random labels: nothing to learn, only to memorise."""

from __future__ import annotations

import numpy as np
import torch

from ..content import Content
from ..registry import Samples, Seed, register
from ..split import Split

_CLASSES = 10


@register("random", kind="generated")
def random_images(*, samples: Samples = 60_000, seed: Seed = 0) -> Content:
    """Images of 28 × 28 random pixels with random labels.

    Train has exactly ``samples`` images; 3,000 are few enough to memorise. Val and test are fresh images.
    """
    fresh = max(1_000, samples // 6)
    made = []
    for stream, size in enumerate((samples, fresh, fresh)):
        rng = np.random.default_rng((seed, stream))
        pixels = rng.random((size, 1, 28, 28), dtype=np.float32)
        made.append(Split(torch.from_numpy(pixels), torch.from_numpy(rng.integers(_CLASSES, size=size))))
    return Content(made, tuple(str(label) for label in range(_CLASSES)))
