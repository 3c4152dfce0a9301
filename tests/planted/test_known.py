"""Agreement between clusters and known modules, beside scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from dovetail.errors import ShapeError
from dovetail.planted import agreement_with


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3), st.booleans()), min_size=4, max_size=30))
def test_agreement_is_that_of_scikit_learn_over_units_that_count(rows: list[tuple[int, int, bool]]) -> None:
    modules, clusters, among = (np.array(column) for column in zip(*rows, strict=True))
    counted = (modules >= 0) & among
    found = agreement_with(modules, clusters, among)
    assert found.units == counted.sum()
    if found.units:
        assert found.rand == pytest.approx(adjusted_rand_score(modules[counted], clusters[counted]))
        assert found.information == pytest.approx(
            adjusted_mutual_info_score(modules[counted], clusters[counted])
        )


def test_a_unit_that_is_left_out_is_by_itself() -> None:
    assert agreement_with([0, 0, 1, 1], [-1, -1, 4, 4]).rand == pytest.approx(
        adjusted_rand_score([0, 0, 1, 1], [0, 1, 2, 2])
    )
    # Nor are two that are left out together, whatever the numbers of the other clusters.
    assert agreement_with([0, 0, 0, 0], [-1, -1, -1, -1]).rand == 0


def test_shapes_must_be_those_of_one_graph() -> None:
    with pytest.raises(ShapeError, match="one number for each unit"):
        agreement_with([0, 1], [0, 1, 2])
