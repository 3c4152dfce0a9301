from __future__ import annotations

import pytest
import torch

import dovetail as dt
from dovetail.errors import MisfitError
from dovetail.specialists import merge_curve

from .helpers import inputs, make_team

SPLIT = dt.Split(inputs(40), torch.arange(40) % 5)


def test_every_step_is_the_composite_of_what_was_added() -> None:
    team = [*make_team(4), *make_team(4, seed=1)]
    curve = merge_curve(team, SPLIT, orders=3)
    assert curve.accuracy.shape == curve.entropy.shape == (6, 4)
    assert curve.seeds == (0, 0, 0, 1, 1, 1)
    assert curve.orders[:3] == curve.orders[3:]  # the same orders for every seed
    by_name = {(part.seed, part.knows): part for part in team}
    for run, (seed, order) in enumerate(zip(curve.seeds, curve.orders, strict=True)):
        for step in range(4):
            parts = [by_name[seed, name] for name in order[: step + 1]]
            score = dt.Composite(parts).evaluate(SPLIT)
            assert float(curve.accuracy[run, step]) == score.rewarded_accuracy
            assert float(curve.entropy[run, step]) == pytest.approx(score.entropy)
    table = curve.to_frame()
    assert len(table) == 24
    assert table["merged"].tolist()[:5] == [1, 2, 3, 4, 1]
    assert "6 runs of 4 steps" in repr(curve)


def test_the_entropy_of_everything_is_undefined() -> None:
    curve = merge_curve(make_team(5), SPLIT, orders=2)
    assert curve.entropy[:, -1].isnan().all()
    assert curve.entropy[:, :-1].isfinite().all()


def test_seeds_must_have_as_many_each() -> None:
    with pytest.raises(MisfitError, match=r"got \[2, 3\]"):
        merge_curve([*make_team(3), *make_team(2, seed=1)], SPLIT)
