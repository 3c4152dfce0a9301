from __future__ import annotations

from typing import Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import ShapeError, SpecError, TrainingError
from dovetail.prune import prune_by_magnitude

Scope = Literal["tensor", "global"]
SHAPES = {"a": (4, 3), "a_bias": (4,), "b": (2, 4, 2, 2), "output": (5, 2)}


def draw_population(seed: int, members: int) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    # Whole numbers in a small range: many ties.
    weights = {
        name: torch.randint(-4, 5, (members, *shape), generator=generator).float()
        for name, shape in SHAPES.items()
    }
    masks = {name: torch.rand(w.shape, generator=generator) < 0.7 for name, w in weights.items()}
    return weights, masks


def prune_by_hand(magnitudes: list[float], kept: list[bool], goal: int) -> list[bool]:
    order = sorted(range(len(kept)), key=lambda i: (kept[i], magnitudes[i] if kept[i] else 0, i))
    gone = set(order[:goal]) | {i for i, k in enumerate(kept) if not k}
    return [i not in gone for i in range(len(kept))]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    members=st.integers(1, 4),
    rate=st.floats(0, 1),
    output_rate=st.none() | st.floats(0, 1),
    use_sparsity=st.booleans(),
    scope=st.sampled_from(["tensor", "global"]),
)
def test_members_get_what_they_would_get_alone(
    seed: int, members: int, rate: float, output_rate: float | None, use_sparsity: bool, scope: Scope
) -> None:
    weights, masks = draw_population(seed, members)
    output = None if use_sparsity and output_rate is None else ["output"]
    output_rate = output_rate if output else None
    together = prune_by_magnitude(
        weights,
        masks,
        rate=None if use_sparsity else rate,
        sparsity=rate if use_sparsity else None,
        scope=scope,
        output=output,
        output_rate=output_rate,
        population=True,
    )
    for member in range(members):
        alone = prune_by_magnitude(
            {name: w[member] for name, w in weights.items()},
            {name: m[member] for name, m in masks.items()},
            rate=None if use_sparsity else rate,
            sparsity=rate if use_sparsity else None,
            scope=scope,
            output=output,
            output_rate=output_rate,
        )
        for name in weights:
            assert torch.equal(together[name][member], alone[name])
            assert not (alone[name] & ~masks[name][member]).any()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1), st.booleans())
def test_against_plain_python(seed: int, share: float, use_sparsity: bool) -> None:
    weights, masks = ({n: t[0] for n, t in tensors.items()} for tensors in draw_population(seed, 1))
    found = prune_by_magnitude(
        weights, masks, rate=None if use_sparsity else share, sparsity=share if use_sparsity else None
    )
    for name in weights:
        kept = masks[name].flatten().tolist()
        gone = len(kept) - sum(kept)
        goal = round(share * len(kept)) if use_sparsity else gone + round(share * sum(kept))
        expected = prune_by_hand(weights[name].abs().flatten().tolist(), kept, goal)
        assert found[name].flatten().tolist() == expected


@given(st.integers(0, 10**6), st.floats(0, 1))
def test_global_scope_ranks_all_but_the_output_together(seed: int, rate: float) -> None:
    weights, masks = ({n: t[0] for n, t in tensors.items()} for tensors in draw_population(seed, 1))
    found = prune_by_magnitude(weights, masks, rate=rate, scope="global", output="output")
    ranked = [name for name in weights if name != "output"]
    magnitudes = torch.cat([weights[name].abs().flatten() for name in ranked]).tolist()
    kept = torch.cat([masks[name].flatten() for name in ranked]).tolist()
    goal = len(kept) - sum(kept) + round(rate * sum(kept))
    expected = prune_by_hand(magnitudes, kept, goal)
    assert torch.cat([found[name].flatten() for name in ranked]).tolist() == expected
    left = int(masks["output"].sum())
    assert int(found["output"].sum()) == left - round(rate / 2 * left)


def test_half_rounds_to_even_and_ties_go_in_order() -> None:
    five = {"w": torch.ones(5)}
    assert prune_by_magnitude(five, rate=0.5)["w"].tolist() == [False, False, True, True, True]
    assert prune_by_magnitude({"w": torch.ones(3)}, rate=0.5)["w"].tolist() == [False, False, True]


def test_lower_sparsity_brings_nothing_back() -> None:
    weights = {"w": torch.arange(10.0)}
    masks = prune_by_magnitude(weights, sparsity=0.8)
    assert torch.equal(prune_by_magnitude(weights, masks, sparsity=0.3)["w"], masks["w"])


def test_maxent_rounds_reach_the_sparsity_with_half_the_rate_at_the_output() -> None:
    weights = {"hidden": torch.randn(100, 100), "output": torch.randn(10, 100)}
    masks = prune_by_magnitude(weights, rate=0.9, output="output")
    masks = prune_by_magnitude(weights, masks, rate=0.9, output="output")
    assert int(masks["hidden"].sum()) == 100
    assert int(masks["output"].sum()) == round(1000 * 0.55 * 0.55)


def test_what_is_wrong_is_said() -> None:
    weights = {"w": torch.ones(2, 3), "b": torch.ones(2)}
    whole = torch.ones(2, 3, dtype=torch.bool)
    with pytest.raises(SpecError, match="either rate"):
        prune_by_magnitude(weights)
    with pytest.raises(SpecError, match="either rate"):
        prune_by_magnitude(weights, rate=0.1, sparsity=0.1)
    with pytest.raises(SpecError, match=r"rate must be a number between 0 and 1; got 1\.5"):
        prune_by_magnitude(weights, rate=1.5)
    with pytest.raises(SpecError, match="nan"):
        prune_by_magnitude(weights, sparsity=float("nan"))
    with pytest.raises(SpecError, match="did you mean 'b'"):
        prune_by_magnitude(weights, rate=0.1, output="bb")
    with pytest.raises(SpecError, match="output_rate"):
        prune_by_magnitude(weights, sparsity=0.1, output="b")
    with pytest.raises(SpecError, match="output_rate"):
        prune_by_magnitude(weights, rate=0.1, output_rate=0.1)
    with pytest.raises(SpecError, match="scope"):
        prune_by_magnitude(weights, rate=0.1, scope="layer")  # type: ignore[arg-type]
    with pytest.raises(TrainingError, match="'b'"):
        prune_by_magnitude(weights | {"b": torch.tensor([1.0, float("nan")])}, rate=0.1)
    with pytest.raises(ShapeError, match=r"\(2, 3\)"):
        prune_by_magnitude(weights, {"b": whole}, rate=0.1)
    with pytest.raises(ShapeError, match="bool"):
        prune_by_magnitude(weights, {"w": whole.float()}, rate=0.1)
    assert set(prune_by_magnitude(weights, {"x": whole}, rate=0.1)) == {"w", "b"}
    with pytest.raises(SpecError, match="rate must be a number between 0 and 1"):
        prune_by_magnitude(weights, rate=torch.tensor([0.1, 0.2]))  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="same number of members"):
        prune_by_magnitude({"w": torch.ones(2, 3), "b": torch.ones(3, 3)}, rate=0.1, population=True)


def test_nothing_to_prune() -> None:
    assert prune_by_magnitude({}, rate=0.5) == {}
    assert prune_by_magnitude({"w": torch.ones(3)}, rate=0)["w"].all()
    assert not prune_by_magnitude({"w": torch.ones(3)}, rate=1)["w"].any()
    assert not prune_by_magnitude({"w": torch.ones(3)}, rate=1, scope="global", output="w", output_rate=1)[
        "w"
    ].any()
