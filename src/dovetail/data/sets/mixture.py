"""Mixtures of LINES with another image set: two kinds of input that a network could handle apart."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..content import Content
from ..registry import ImageSet, LoadBase, Seed, register
from ..split import Split
from .images import load_images
from .lines import MOST_LINES, draw_lines


@register("mixture", kind="generated")
def mixture(
    load_base: LoadBase,
    *,
    kind: Literal["overlapping", "separate"] = "overlapping",
    base: ImageSet = "mnist",
    size: Literal["base", "both"] = "base",
    seed: Seed = 0,
) -> Content:
    """White columns and another image set mixed: in all classes, or columns in 0-4 and the other in 5-9.

    With ``size=base`` images give way to columns of the same label: sizes and labels stay. With ``size=both``, as in
    the Clusterability paper, there are as many columns as images beside these, and all are shuffled.
    """
    data = load_images(load_base, base, least_width=MOST_LINES, classes=MOST_LINES)
    _, height, width = data.input_shape
    made = []
    for stream, (x, y) in enumerate(data.splits.values()):
        rng = np.random.default_rng((seed, stream))
        if size == "both":
            made.append(_union(x, y, kind == "separate", rng))
            continue
        labels = y.numpy()
        replaced = labels < MOST_LINES // 2 if kind == "separate" else _half_of_each_class(labels, rng)
        images = x.clone()
        images[torch.from_numpy(replaced)] = draw_lines(labels[replaced], height, width, rng)
        made.append(Split(images, y))
    return Content(made, data.classes)


def _union(x: Tensor, y: Tensor, separate: bool, rng: np.random.Generator) -> Split:
    """Return images together with as many of columns; separate: only the lower labels of these, the upper of those."""
    labels = rng.integers(MOST_LINES, size=len(y))
    if separate:
        labels, upper = labels[labels < MOST_LINES // 2], y >= MOST_LINES // 2
        x, y = x[upper], y[upper]
    columns = draw_lines(labels, x.shape[2], x.shape[3], rng)
    order = torch.from_numpy(rng.permutation(len(labels) + len(y)))
    return Split(torch.cat([columns, x])[order], torch.cat([torch.from_numpy(labels), y])[order])


def _half_of_each_class(labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Mark a random half of the samples that is, within one, half of every class too."""
    shuffled = rng.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    chosen = np.zeros(len(labels), dtype=np.bool_)
    chosen[by_class[1::2]] = True
    return chosen
