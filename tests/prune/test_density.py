from __future__ import annotations

import pytest
import torch

from dovetail.errors import ShapeError
from dovetail.prune import density


def test_density_counts_all_entries() -> None:
    masks = {"w": torch.tensor([[True, False, False]]), "b": torch.tensor([True])}
    assert density(masks) == 0.5
    assert density({"w": torch.tensor([0.0, 2.0, -1.0, 0.0])}) == 0.5
    with pytest.raises(ShapeError, match="at least one mask"):
        density({})


def test_members_have_the_density_that_they_have_alone() -> None:
    masks = {name: torch.rand(3, *shape) < 0.35 for name, shape in {"a": (4, 3), "bias": (4,)}.items()}
    together = density(masks, population=True)
    for member in range(3):
        assert density({name: mask[member] for name, mask in masks.items()}) == float(together[member])
