"""The zoo's page: every network with what to install and its licence, as the recipe has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.recipes.beyond.zoo_networks import ZOO

LINES = (Path(__file__).parents[2] / "docs" / "zoo.md").read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", [name for name in ZOO if not name.startswith("small-")])
def test_a_network_is_listed_as_it_is_had(name: str) -> None:
    known = ZOO[name]
    (line,) = (line for line in LINES if line.startswith(f"| {known.title} |"))
    assert f"| {known.kind} | {known.task} |" in line
    assert known.install in line
    assert known.licence in line
