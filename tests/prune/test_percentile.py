"""Values above a percentile, against numpy."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from dovetail.prune import above_percentile


@given(
    values=st.lists(st.floats(0, 10), min_size=1, max_size=12),
    more=st.integers(0, 9),
    share=st.floats(0, 1),
)
def test_percentiles_are_numpys(values: list[float], more: int, share: float) -> None:
    row = torch.tensor([values], dtype=torch.float64)
    found = above_percentile(row, torch.tensor([share], dtype=torch.float64), len(values) + more)
    threshold = np.percentile(np.array([*values, *[0.0] * more]), 100 * share)
    expected = np.array(values) > threshold
    # Where numpy's own arithmetic rounds differently, a value at the threshold may fall on either side of it.
    clear = np.abs(np.array(values) - threshold) > 1e-9
    assert (found[0].numpy() == expected)[clear].all()
