from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import ShapeError, SpecError, TrainingError
from dovetail.prune import prune_units, unit_sensitivity


def draw_scores(seed: int, members: int) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    scores = {
        name: torch.rand(members, size, generator=generator, dtype=torch.float64).mul(20).round()
        for name, size in {"h1": 7, "h2": 4}.items()
    }
    kept = {name: torch.rand(score.shape, generator=generator) < 0.8 for name, score in scores.items()}
    return scores, kept


@given(st.integers(0, 10**6), st.floats(0, 1))
def test_percentile_is_numpys(seed: int, share: float) -> None:
    scores, kept = ({name: t[0] for name, t in tensors.items()} for tensors in draw_scores(seed, 1))
    found = prune_units(scores, kept, share=share)
    seen = {name: score.where(kept[name], torch.zeros(())).numpy() for name, score in scores.items()}
    threshold = np.quantile(np.concatenate(list(seen.values())), share)
    for name, values in seen.items():
        assert found[name].tolist() == (values > threshold).tolist()


@given(st.integers(0, 10**6), st.integers(0, 11))
def test_count_is_the_number_gone(seed: int, count: int) -> None:
    scores, kept = ({name: t[0] for name, t in tensors.items()} for tensors in draw_scores(seed, 1))
    found = prune_units(scores, kept, count=count)
    before = torch.cat(list(kept.values()))
    after = torch.cat(list(found.values()))
    values = torch.cat(list(scores.values()))
    assert int((~after).sum()) == max(count, int((~before).sum()))
    assert not (after & ~before).any()
    if after.any() and (before & ~after).any():
        assert values[before & ~after].max() <= values[after].min()


@settings(deadline=None)
@given(st.integers(0, 10**6), st.lists(st.floats(0, 1), min_size=1, max_size=4), st.booleans())
def test_members_get_what_they_would_get_alone(seed: int, shares: list[float], by_count: bool) -> None:
    scores, kept = draw_scores(seed, len(shares))
    per_member = torch.tensor(shares, dtype=torch.float64)
    counts = (per_member * 11).long()
    together = prune_units(
        scores,
        kept,
        share=None if by_count else per_member,
        count=counts if by_count else None,
        population=True,
    )
    for member, share in enumerate(shares):
        alone = prune_units(
            {name: score[member] for name, score in scores.items()},
            {name: mask[member] for name, mask in kept.items()},
            share=None if by_count else share,
            count=int(counts[member]) if by_count else None,
        )
        for name in scores:
            assert torch.equal(together[name][member], alone[name])


def test_sensitivity_by_hand_with_autograd() -> None:
    torch.manual_seed(0)
    a = torch.randn(6, 3, 2, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad((a**2).sum(), a)
    found = unit_sensitivity({"conv": a.detach()}, {"conv": gradient})["conv"]
    # dL/da * a = 2 a^2, summed over the four positions, averaged over the six samples.
    torch.testing.assert_close(found, 2 * a.detach().square().sum((2, 3)).mean(0))
    signs = unit_sensitivity({"h": torch.tensor([[1.0], [1.0]])}, {"h": torch.tensor([[2.0], [-2.0]])})
    assert signs["h"].tolist() == [2.0]
    positions = unit_sensitivity({"h": torch.ones(1, 1, 2)}, {"h": torch.tensor([[[2.0, -2.0]]])})
    assert positions["h"].tolist() == [0.0]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 70), st.integers(1, 20), st.booleans())
def test_members_have_the_sensitivity_they_have_alone(
    seed: int, members: int, samples: int, units: int, maps: bool
) -> None:
    generator = torch.Generator().manual_seed(seed)
    shape = (members, samples, units, 3, 2) if maps else (members, samples, units)
    a, g = torch.randn(shape, generator=generator), torch.randn(shape, generator=generator)
    together = unit_sensitivity({"h": a}, {"h": g}, population=True)["h"]
    for member in range(members):
        alone = unit_sensitivity({"h": a[member]}, {"h": g[member]})["h"]
        assert torch.equal(together[member], alone)


def test_what_is_wrong_is_said() -> None:
    scores = {"h": torch.ones(3)}
    with pytest.raises(SpecError, match="either share"):
        prune_units(scores)
    with pytest.raises(SpecError, match="either share"):
        prune_units(scores, share=0.1, count=1)
    with pytest.raises(SpecError, match="3 units"):
        prune_units(scores, count=4)
    with pytest.raises(ShapeError, match="whole number"):
        prune_units(scores, count=torch.tensor([1, 2]))
    with pytest.raises(SpecError, match=r"1\.01"):
        prune_units(scores, share=1.01)
    with pytest.raises(TrainingError, match="'h'"):
        prune_units({"h": torch.tensor([1.0, float("nan")])}, share=0.1)
    with pytest.raises(ShapeError, match="'h'"):
        prune_units(scores, {"h": torch.ones(2, dtype=torch.bool)}, share=0.1)
    with pytest.raises(ShapeError, match="samples"):
        unit_sensitivity({"h": torch.ones(2, 3)}, {"h": torch.ones(3, 2)})
    with pytest.raises(SpecError, match="gradients"):
        unit_sensitivity({"h": torch.ones(2, 3)}, {})
    assert prune_units({}, share=0.5) == {}
