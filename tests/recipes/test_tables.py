from __future__ import annotations

import pandas as pd
import pytest

from dovetail.recipes import Cell, Comparison, Quantity, Table, published, read_published

LABELS = {"data": "mnist", "pruned": True}


def test_ours_stand_beside_the_published_with_the_difference() -> None:
    table = Comparison(
        "Title",
        [
            Cell(LABELS, "accuracy", Quantity(0.99, 0.01), Quantity(0.98, 0.02, doubt=True)),
            Cell(LABELS, "found", Quantity(9, of=12), Quantity(12, of=12)),
            Cell(LABELS, "edges", Quantity(16)),
            Cell({"data": "a|b", "pruned": False}, "accuracy", None, Quantity(0.5)),
        ],
        note="A note.",
        digits=2,
    )
    assert table.to_markdown().splitlines() == [
        "### Title",
        "",
        "A note.",
        "",
        "| data | pruned | accuracy | published | Δ | found | published | Δ | edges |",
        "|---|---|---|---|---|---|---|---|---|",
        "| mnist | yes | 0.99 (0.01) | 0.98 (0.02) ? | +0.01 | 9/12 | 12/12 | -0.25 | 16.00 |",
        "| a\\|b | no | – | 0.50 | – | – | – | – | – |",
    ]
    frame = table.frame
    assert frame["difference"].tolist()[:2] == pytest.approx([0.01, -0.25])
    assert frame["doubt"].tolist() == [True, False, False, False]
    assert list(frame["published of"].dropna()) == [12]


def test_nothing_measured_is_an_empty_table() -> None:
    assert Comparison("Empty", []).wide().empty
    assert Comparison("Empty", []).frame.empty
    assert Table("Empty", pd.DataFrame({"a": []})).to_markdown().splitlines()[2] == "| a |"


def test_published_quantities() -> None:
    suspect = published(
        "maxent_table4",
        dataset="fashion-mnist",
        model="shallow",
        rewarded=1,
        imp="yes",
        loss="me",
        metric="entropy",
    )
    assert suspect is not None
    assert suspect.doubt
    count = published(
        "clusterability_tables",
        table="A.5",
        dataset="mnist",
        regularisation="none",
        pruning="yes",
        metric="prop_p_lt_0.02",
    )
    assert count == Quantity(5, of=5)
    assert published("sculpting_success", figure=7, condition="reused", hidden_layers=3) == Quantity(
        11, of=12
    )
    assert published("maxent_table1", dataset="har", model="cnn", imp="yes", metric="entropy") is None


def test_all_published_files_are_in_the_package() -> None:
    counts = {
        "maxent_table1": 48,
        "maxent_table4": 432,
        "sculpting_success": 135,
        "sculpting_tables": 273,
        "clusterability_tables": 548,
    }
    for name, count in counts.items():
        assert len(read_published(name)) == count
