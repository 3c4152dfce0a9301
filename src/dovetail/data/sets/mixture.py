"""Mixtures of LINES with another image set: two kinds of input that a network could handle apart."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from ..dataset import Split
from ..registry import Content, ImageSet, LoadBase, Seed, register
from .images import load_images
from .lines import MOST_LINES, draw_lines


@register("mixture", kind="generated")
def mixture(
    load_base: LoadBase,
    *,
    kind: Literal["overlapping", "separate"] = "overlapping",
    base: ImageSet = "mnist",
    seed: Seed = 0,
) -> Content:
    """White columns and another image set mixed: in all classes, or columns in 0-4 and the other in 5-9.

    Images of the base give way to columns with the same label, so sizes and labels stay those of the base.
    """
    data = load_images(load_base, base, least_width=MOST_LINES, classes=MOST_LINES)
    _, height, width = data.input_shape
    made = []
    for stream, (x, y) in enumerate(data.splits.values()):
        rng = np.random.default_rng((seed, stream))
        labels = y.numpy()
        replaced = labels < MOST_LINES // 2 if kind == "separate" else _half_of_each_class(labels, rng)
        images = x.clone()
        images[torch.from_numpy(replaced)] = draw_lines(labels[replaced], height, width, rng)
        made.append(Split(images, y))
    return Content(made, data.classes)


def _half_of_each_class(labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Mark a random half of the samples that is, within one, half of every class too."""
    shuffled = rng.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    chosen = np.zeros(len(labels), dtype=np.bool_)
    chosen[by_class[1::2]] = True
    return chosen
