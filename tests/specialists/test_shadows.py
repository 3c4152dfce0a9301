"""Shadow attacks, on leaks that were planted and where there is nothing to tell."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

import dovetail as dt
from dovetail.errors import SpecError
from dovetail.specialists import audit_drop
from dovetail.specialists.audit.membership import chance_of
from dovetail.specialists.audit.shadows import Shadow, halves, shadow_attack, shadow_data

CLASSES = 4


class Leaky(nn.Module):
    """Knows by heart which samples it has seen, and says so in a way that only a network like it teaches.

    Its answers are noise that follows from the sample, and as sure for one that it has seen as for another. But the
    largest is of one of the first two classes where it has seen the sample, and of one of the last two where not.
    """

    seen: Tensor

    def __init__(self, seen: Tensor, leaks: bool = True) -> None:
        super().__init__()
        self.register_buffer("seen", seen.flatten(1) if leaks else seen.flatten(1)[:0])

    def forward(self, x: Tensor) -> Tensor:
        flat = x.flatten(1)
        known = (flat[:, None] == self.seen[None]).all(2).any(1)
        logits = (37.0 * flat[:, :CLASSES]).sin()
        largest = logits.argmax(1)
        moved = logits.clone()
        for row in range(len(x)):
            wanted = int(largest[row]) % 2 + (0 if bool(known[row]) else 2)
            moved[row, wanted], moved[row, largest[row]] = logits[row, largest[row]], logits[row, wanted]
        return moved if self.seen.numel() else logits


def drawn(seed: int, count: int) -> dt.Split:
    draw = torch.Generator().manual_seed(seed)
    return dt.Split(torch.randn(count, 6, generator=draw), torch.zeros(count, dtype=torch.int64))


@cache
def learned() -> object:
    """An attack that knows three leaky networks, none of them one that it is asked about."""
    shadows = [Shadow(Leaky(inside.x), inside, outside) for inside, outside in halves(drawn(0, 200), 3)]
    return shadow_attack(shadows)


def test_a_planted_leak_is_told() -> None:
    attack = learned()
    assert callable(attack)
    members, others = drawn(1, 120), drawn(2, 120)
    assert attack(Leaky(members.x), members, others) > 0.95
    both = torch.cat([members.x, others.x])
    for network in (Leaky(members.x, leaks=False), Leaky(both), Leaky(drawn(3, 50).x)):
        low, high = chance_of(120, 120)
        assert low <= attack(network, members, others) <= high  # both sides were seen, or neither


def test_what_never_leaks_teaches_nothing() -> None:
    members, others = drawn(1, 120), drawn(2, 120)
    shadows = [Shadow(Leaky(a.x, leaks=False), a, b) for a, b in halves(drawn(0, 200), 2)]
    low, high = chance_of(120, 120)
    assert low <= shadow_attack(shadows)(Leaky(members.x, leaks=False), members, others) <= high


@given(st.integers(2, 30), st.integers(1, 6))
def test_each_sample_is_in_every_other_half(samples: int, count: int) -> None:
    every = dt.Split(torch.arange(float(samples))[:, None], torch.zeros(samples, dtype=torch.int64))
    found = halves(every, count)
    assert len(found) == count
    for inside, outside in found:
        assert sorted([*inside.x.flatten().tolist(), *outside.x.flatten().tolist()]) == list(range(samples))
        assert abs(len(inside) - len(outside)) <= 1
    for (a, b), (c, d) in zip(found[::2], found[1::2], strict=False):
        assert torch.equal(a.x, d.x)
        assert torch.equal(b.x, c.x)


def test_shadows_have_half_of_the_samples_and_all_others() -> None:
    data = dt.load("digits")
    gone = torch.arange(10) == 3
    own = int((data.train.y == 3).sum() + (data.test.y == 3).sum())
    for samples, inside, outside in shadow_data(data, gone, 2):
        assert abs(len(inside) - own / 2) <= 0.5
        assert len(inside) + len(outside) == own
        assert int((samples.train.y == 3).sum()) == len(inside)
        assert torch.equal(samples.train.x[samples.train.y == 8], data.train.x[data.train.y == 8])
        assert samples.val is data.val
        assert samples.test is data.test


@pytest.mark.slow
def test_sums_that_know_a_class_by_heart_are_told_and_without_it_nothing_is() -> None:
    data = dt.load("digits")
    whole = dt.compose(dt.sums(data, features=400)).with_tuning(ridge=0.01)
    found = audit_drop(whole, 3, data, shadows=4, progress=False)
    shadow = {name: attack.shadow for name, attack in found.membership.items()}
    low, high = found.membership[found.whole].chance
    with_it, without, unseen = (shadow[name] for name in (found.whole, found.without, found.unseen))
    assert with_it is not None
    assert without is not None
    assert with_it > high + 0.1
    assert low <= without <= high
    assert unseen == without  # the same to the bit
    assert found.to_frame()["shadow attack"].notna().sum() == 3
    assert "learned from shadows" in found.finding


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dovetail.errors.TrainingWarning")
def test_composites_and_combinations_are_shadowed() -> None:
    data = dt.load("digits")
    team = dt.train_specialists(data, "mlp:20", [0, 1, 3], slots=True, epochs=2, progress=False)
    sums = dt.sums(data, [0, 1, 3], features=50)
    for part in (dt.compose(team), dt.combine([*team, *sums], data.val)):
        found = audit_drop(part, 3, data, shadows=2, progress=False)
        named = {name for name, attack in found.membership.items() if attack.shadow is not None}
        assert named == {found.whole, found.without, found.unseen}


@pytest.mark.parametrize("count", [-1, 65, 1.5, True, "2"])
def test_numbers_of_shadows_that_are_none_are_refused(count: object) -> None:
    data = dt.load("digits")
    whole = dt.compose(dt.sums(data, features=20))
    with pytest.raises(SpecError, match="shadows is how many parts an attack makes"):
        audit_drop(whole, 3, data, shadows=count, progress=False)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="learns from at least one shadow"):
        shadow_attack([])
