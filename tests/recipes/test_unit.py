from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import SpecError
from dovetail.recipes import Unit, works
from dovetail.recipes.unit import canonical

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(settings=st.dictionaries(st.text(), VALUES, max_size=4))
def test_the_order_of_settings_does_not_matter(settings: dict[str, object]) -> None:
    turned = dict(reversed(settings.items()))
    assert Unit("sculpt/trials", settings) == Unit("sculpt/trials", turned)
    assert len({Unit("sculpt/trials", settings), Unit("sculpt/trials", turned)}) == 1


@given(
    one=st.dictionaries(st.text(), VALUES, max_size=3), other=st.dictionaries(st.text(), VALUES, max_size=3)
)
def test_other_settings_are_another_unit(one: dict[str, object], other: dict[str, object]) -> None:
    same = canonical(one) == canonical(other)
    assert (Unit("sculpt/trials", one).key == Unit("sculpt/trials", other).key) == same


def test_another_work_or_another_version_is_another_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Unit("sculpt/trials", {})
    assert before != Unit("cluster/networks", {})
    home, version = works.WORKS["sculpt/trials"]
    before_key = before.key
    monkeypatch.setitem(works.WORKS, "sculpt/trials", (home, version + 1))
    assert Unit("sculpt/trials", {}).key != before_key


def test_what_json_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        Unit("sculpt/trials", {"lr": float("nan")}).key  # noqa: B018


def test_an_unknown_work_is_named() -> None:
    with pytest.raises(SpecError, match="unknown work 'sculpt/trails'; did you mean 'sculpt/trials'"):
        Unit("sculpt/trails", {}).key  # noqa: B018
