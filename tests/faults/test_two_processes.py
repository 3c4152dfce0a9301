"""Two processes in one folder at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.io.lock import take_lock

from . import small_works
from .folder_state import finished_units, state_of
from .warm import Warm

pytestmark = pytest.mark.slow


def test_the_second_run_in_a_folder_is_told_and_breaks_nothing(warm: Warm, tmp_path: Path) -> None:
    whole, folder = tmp_path / "elsewhere" / "whole", tmp_path / "folder"
    assert warm.do(small_works.reproduce(whole)).status == 0
    outcomes = warm.at_once(*[small_works.reproduce_beside_another(folder)] * 2)
    assert sorted(outcome.status for outcome in outcomes) == [0, 1]
    (told,) = (outcome.said for outcome in outcomes if outcome.status)
    assert told == f"error: another process is working in {folder}; wait for it, or take another folder\n"
    assert finished_units(folder) == finished_units(whole)
    before = state_of(folder)
    with take_lock(folder):
        assert warm.do(small_works.reproduce(folder)).said == told
        assert state_of(folder) == before


def test_two_trainings_in_a_folder_leave_what_one_does(warm: Warm, tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "folder"
    assert warm.do(small_works.train(whole)).status == 0
    outcomes = warm.at_once(small_works.train(folder), small_works.train(folder))
    assert [outcome.status for outcome in outcomes] == [0, 0]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in whole.iterdir()
    }
