"""The small handwritten digits that come with scikit-learn: data that needs no file and no network."""

from __future__ import annotations

import torch

from ..content import Content
from ..registry import register
from ..split import Split
from ..splits import stratified_in_three


@register("digits", kind="embedded")
def digits() -> Content:
    """1,797 handwritten digits of 8 × 8 pixels, from scikit-learn."""
    from sklearn.datasets import load_digits

    bundle = load_digits()
    images = torch.from_numpy(bundle.images / 16).to(torch.float32).unsqueeze(1)
    labels = torch.from_numpy(bundle.target).to(torch.int64)
    whole = Split(images, labels)
    splits = [whole.where(torch.from_numpy(rows)) for rows in stratified_in_three(bundle.target, "digits")]
    return Content(splits, tuple(str(digit) for digit in range(10)))
