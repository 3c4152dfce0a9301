"""The small handwritten digits that come with scikit-learn: data that needs no file and no network."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ..content import Content
from ..registry import register
from ..split import Split
from ..splits import stratified_in_three


@register("digits", kind="embedded")
def digits() -> Content:
    """1,797 handwritten digits of 8 × 8 pixels, from scikit-learn."""
    pixels, target = _table()
    images = torch.from_numpy(pixels.reshape(-1, 8, 8) / 16).to(torch.float32).unsqueeze(1)
    labels = torch.from_numpy(target).to(torch.int64)
    whole = Split(images, labels)
    splits = [whole.where(torch.from_numpy(rows)) for rows in stratified_in_three(target, "digits")]
    return Content(splits, tuple(str(digit) for digit in range(10)))


def _table() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return pixels and labels from scikit-learn's file; where that is elsewhere, from scikit-learn, in a second."""
    package = find_spec("sklearn")
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder) / "datasets" / "data" / "digits.csv.gz"
        if path.is_file():
            table = np.loadtxt(path, delimiter=",")
            return table[:, :-1], table[:, -1].astype(np.int64)
    from sklearn.datasets import load_digits

    bundle = load_digits()
    return bundle.data, bundle.target
