from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch.autograd import gradcheck

from dovetail.errors import SpecError
from dovetail.specialists import max_entropy, quasi_max_entropy, rewarded_cross_entropy
from dovetail.specialists.objectives import LOSSES, objective, other_entropy, rewarded_accuracy

TEMPERATURE = 5.0


def case(seed: int, classes: int, rewarded: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    logits = 4 * torch.randn(20, classes, generator=draw, dtype=torch.float64)
    target = torch.randint(classes, (20,), generator=draw)
    chosen = torch.randperm(classes, generator=draw)[:rewarded]
    return logits, target, torch.zeros(classes, dtype=torch.bool).index_fill(0, chosen, True)


def divergence(logits: np.ndarray, wanted: np.ndarray) -> float:
    """KL(wanted ‖ softmax(logits / t)), by scipy."""
    scaled = np.exp(logits / TEMPERATURE)
    return float(stats.entropy(wanted, scaled / scaled.sum()))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 8), st.data())
def test_losses_are_the_papers_divergences(seed: int, classes: int, data: st.DataObject) -> None:
    logits, target, rewarded = case(seed, classes, data.draw(st.integers(1, classes)))
    me = max_entropy(logits, target, rewarded, TEMPERATURE)
    qme = quasi_max_entropy(logits, target, rewarded, TEMPERATURE)
    xe = rewarded_cross_entropy(logits, target, rewarded, TEMPERATURE)
    for row, y in enumerate(target.tolist()):
        label = np.eye(classes)[y]
        others = (~rewarded).double().numpy()
        uniform = np.full(classes, 1 / classes)
        mine = bool(rewarded[y])
        assert float(me[row]) == pytest.approx(
            divergence(logits[row].numpy(), label if mine else uniform), abs=1e-12
        )
        spread = label if mine else others / others.sum()
        assert float(qme[row]) == pytest.approx(divergence(logits[row].numpy(), spread), abs=1e-12)
        assert float(xe[row]) == pytest.approx(
            divergence(logits[row].numpy(), label) if mine else 0, abs=1e-12
        )


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_agree_with_finite_differences(loss: str) -> None:
    logits, target, rewarded = case(1, 5, 2)
    logits.requires_grad_()
    assert gradcheck(lambda x: objective(loss, TEMPERATURE)(x, target, rewarded), (logits,))


def test_confident_predictions_stay_finite() -> None:
    logits = torch.tensor([[500.0, 0.0, 0.0], [0.0, 500.0, 0.0]])
    rewarded = torch.tensor([True, False, False])
    for loss in LOSSES:
        assert objective(loss, 1.0)(logits, torch.tensor([0, 2]), rewarded).isfinite().all()
    assert other_entropy(logits, torch.tensor([1, 1]), rewarded).tolist() == [0.0, 0.0]
    assert other_entropy(logits * torch.nan, torch.tensor([1, 1]), rewarded).isnan().all()


def test_metrics_count_only_the_samples_they_are_about() -> None:
    logits = torch.tensor([[9.0, 0, 0], [9.0, 0, 0], [0, 0, 0]])
    target, rewarded = torch.tensor([0, 1, 2]), torch.tensor([True, True, False])
    accuracy = rewarded_accuracy(logits, target, rewarded)
    assert accuracy[:2].tolist() == [1.0, 0.0]
    assert accuracy[2].isnan()
    entropy = other_entropy(logits, target, rewarded)
    assert entropy[:2].isnan().all()
    assert float(entropy[2]) == pytest.approx(np.log(3), abs=1e-6)


def test_an_unknown_loss_is_named() -> None:
    with pytest.raises(SpecError, match="unknown loss 'mee'; did you mean 'me'"):
        objective("mee", 1.0)
