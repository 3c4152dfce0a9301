"""What lesions report: chances, tables, text."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dovetail.cluster import Lesions


def result() -> Lesions:
    return Lesions(
        accuracy=0.9,
        class_accuracy=np.array([0.9, np.nan]),
        layers=("a",),
        units=np.array([[3], [0]]),
        accuracies=np.array([0.5, 0.9]),
        random_accuracies=np.array([[0.6, 0.5, 0.4], [0.9, 0.9, 0.9]]),
        class_accuracies=np.array([[0.5, np.nan], [0.9, np.nan]]),
        random_class_accuracies=np.array([[0.5, np.nan], [0.9, np.nan]]),
        samples=10,
        seed=0,
    )


def test_chances_count_ties_and_the_cluster_itself() -> None:
    found = result()
    assert found.p_more.tolist() == [3 / 4, 1.0]
    assert found.p_less.tolist() == [3 / 4, 1.0]
    assert found.drops == pytest.approx([0.4, 0])
    assert found.random_drops[0] == pytest.approx([0.3, 0.4, 0.5])


def test_results_as_text_table_and_json() -> None:
    found = result()
    assert repr(found) == (
        "Lesions(2 clusters, accuracy 0.9000; largest drop 0.4000 without cluster 0, random groups 0.4000 ± 0.0816, "
        "p = 0.75)"
    )
    frame = found.to_frame()
    assert frame.index.name == "cluster"
    assert frame["units"].tolist() == [3, 0]
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert content["schema"] == "dovetail.lesions/1"
    assert content["clusters"][0]["class_drops"] == [pytest.approx(0.4), None]
