from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from dovetail.errors import FileFormatError, SpecError
from dovetail.specialists.threshold import confidence_of, fit_threshold, read_threshold, usual_of

KNOWN = torch.tensor([True, False, True, False, False])


def samples(count: int = 40, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return 4 * torch.randn(count, 5, generator=draw), 30 * torch.randn(count, generator=draw).double()


@settings(max_examples=30)
@given(st.integers(2, 60), st.integers(0, 10**6))
def test_distances_and_both_are_as_defined(count: int, seed: int) -> None:
    logits, near = samples(count, seed)
    p = special.softmax(logits.double().numpy(), axis=1)[:, [0, 2]].max(1)
    parts = {"distance": [near.numpy()], "both": [near.numpy(), np.log(p) - np.log1p(-p)]}
    for confidence, numbers in parts.items():
        usual = usual_of(logits, KNOWN, confidence, near)
        np.testing.assert_allclose(usual, [(one.mean(), one.std()) for one in numbers], rtol=1e-6)
        unsure = sum(np.exp(-(one - one.mean()) / one.std()) for one in numbers)
        found = confidence_of(logits, KNOWN, confidence, near=near, usual=usual)
        np.testing.assert_allclose(found.numpy(), 1 / (1 + unsure), rtol=1e-6)


def test_both_is_less_sure_than_either_alone() -> None:
    logits, near = samples(200)
    usual = usual_of(logits, KNOWN, "both", near)
    both = confidence_of(logits, KNOWN, "both", near=near, usual=usual)
    alone = confidence_of(logits, KNOWN, "distance", near=near, usual=usual[:1])
    assert bool((both < alone).all())
    # A sample as far away as can be is not of a known class, whatever the network says.
    sure = torch.full((1, 5), -50.0)
    sure[0, 0] = 50
    for far in (-1e6, -1e300):
        near = torch.tensor([far], dtype=torch.float64)
        assert confidence_of(sure, KNOWN, "both", near=near, usual=usual).item() == 0


def test_certain_networks_have_finite_odds() -> None:
    logits = torch.tensor([[1e4, 0.0, 0.0], [-1e4, 0.0, 0.0]])
    known, near = torch.tensor([True, False, False]), torch.zeros(2)
    usual = usual_of(logits, known, "both", near)
    assert np.isfinite(np.array(usual)).all()
    sure, unsure = confidence_of(logits, known, "both", near=near, usual=usual).tolist()
    assert 1 > sure > unsure > 0
    only = usual_of(torch.zeros(3, 1), torch.ones(1), "both", torch.arange(3.0))
    assert only[1] == (0.0, 1.0)


def test_samples_that_are_all_alike_are_as_sure_as_usual() -> None:
    near = torch.ones(4)
    usual = usual_of(torch.zeros(4, 5), KNOWN, "distance", near)
    assert confidence_of(torch.zeros(4, 5), KNOWN, "distance", near=near, usual=usual).tolist() == [0.5] * 4


def test_what_was_usual_is_kept_with_the_threshold() -> None:
    logits, near = samples()
    usual = usual_of(logits, KNOWN, "both", near)
    sure = confidence_of(logits, KNOWN, "both", near=near, usual=usual)
    threshold = fit_threshold(sure, rate=0.1, confidence="both", usual=usual)
    assert read_threshold(json.loads(threshold.model_dump_json())) == threshold
    plain = fit_threshold(sure, rate=0.1, confidence="entropy").model_dump(mode="json")
    del plain["usual"]  # files of before have none
    assert read_threshold(plain).usual == ()


@pytest.mark.parametrize(
    "change",
    [
        {"usual": []},
        {"usual": [[0.0, 1.0]]},
        {"usual": [[0.0, 0.0]] * 2},
        {"usual": [[float("nan"), 1.0]] * 2},
    ],
)
def test_damaged_usual_values_are_refused(change: dict[str, object]) -> None:
    whole = fit_threshold(torch.rand(9), rate=0.05, confidence="both", usual=((0.0, 1.0), (2.0, 3.0)))
    with pytest.raises(FileFormatError, match="usual"):
        read_threshold(whole.model_dump(mode="json") | change)


def test_distances_need_cards() -> None:
    with pytest.raises(SpecError, match="needs cards of all known classes"):
        confidence_of(torch.zeros(2, 5), KNOWN, "both")
    with pytest.raises(SpecError, match="did you mean 'distance'"):
        confidence_of(torch.zeros(2, 5), KNOWN, "distanc")
