"""Each kind of work gives what it gave when its version was raised last."""

from __future__ import annotations

from math import isclose
from typing import Any

import pytest

from dovetail.recipes.works import WORKS, version_of

from .golden_rows import golden_units, row_now, stored

_COUNT, _SHARE = 2, 0.02
"""How far counts and other numbers may be off: processors round sums in their own ways."""


def differences(old: Any, new: Any, place: str = "row") -> list[str]:
    """Return where two rows differ by more than rounding."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return [text for name in old for text in differences(old[name], new[name], f"{place}.{name}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [
            text
            for at, two in enumerate(zip(old, new, strict=True))
            for text in differences(*two, f"{place}[{at}]")
        ]
    numbers = [
        value for value in (old, new) if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if len(numbers) == 2:
        off = _COUNT if all(isinstance(value, int) for value in numbers) else _SHARE
        return [] if isclose(old, new, rel_tol=_SHARE, abs_tol=off) else [f"{place}: {old} was, {new} is"]
    return [] if old == new else [f"{place}: {old!r:.60} was, {new!r:.60} is"]


@pytest.mark.parametrize("work", WORKS)
def test_a_work_gives_what_it_gave(work: str) -> None:
    kept = stored(work)
    how = f"python -m tests.recipes.golden_rows {work}"
    assert kept["version"] == version_of(work), (
        f"the version of {work} was raised: store its row anew ({how})"
    )
    found = differences(kept["row"], row_now(golden_units()[work]))
    assert not found, (
        f"{work} gives other rows than it did: raise its version in recipes/works.py, so that stored results are not "
        f"taken for those of the new code, and store the row anew ({how}); or mend it. {'; '.join(found[:5])}"
    )


def test_every_work_has_a_golden_row() -> None:
    assert golden_units().keys() == set(WORKS)


def test_what_is_off_by_more_than_rounding_is_told() -> None:
    old = {"accuracy": [0.5, None], "edges": 16, "whole": True}
    assert not differences(old, {"accuracy": [0.51, None], "edges": 18, "whole": True})
    assert differences(old, {"accuracy": [0.6, None], "edges": 16, "whole": False}) == [
        "row.accuracy[0]: 0.5 was, 0.6 is",
        "row.whole: True was, False is",
    ]
    assert differences(old, {"accuracy": [0.5, None]}) != []
