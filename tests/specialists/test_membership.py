"""Membership attacks, against scikit-learn, scipy and networks of which the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.nn.functional import cross_entropy

import dovetail as dt
from dovetail.errors import DataError
from dovetail.specialists import MembershipAttack, membership_attack
from dovetail.specialists.audit.membership import chance_of, taken_for_unseen

FEATURES, CLASSES = 20, 4


def drawn(seed: int, samples: int) -> dt.Split:
    """Return noise with labels that follow from nothing: whoever knows them has seen them."""
    draw = torch.Generator().manual_seed(seed)
    return dt.Split(
        torch.randn(samples, FEATURES, generator=draw), torch.randint(CLASSES, (samples,), generator=draw)
    )


@pytest.fixture(scope="module")
def memoriser() -> nn.Module:
    """Return a network that knows 200 labels by heart."""
    seen = drawn(0, 200)
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(FEATURES, 128), nn.ReLU(), nn.Linear(128, CLASSES))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(150):
        optimizer.zero_grad()
        cross_entropy(network(seen.x), seen.y).backward()
        optimizer.step()
    assert bool((network(seen.x).argmax(1) == seen.y).all())
    return network.eval()


def test_what_was_learned_by_heart_is_told(memoriser: nn.Module) -> None:
    found = membership_attack(memoriser, drawn(0, 200), drawn(1, 200))
    assert found.confidence > 0.85
    assert found.neural > 0.85
    assert found.tells


def test_samples_that_were_never_seen_are_at_chance(memoriser: nn.Module) -> None:
    """Of forty pairs of samples that are all new, about two are outside of what 95 of 100 are within."""
    outside = {"confidence": 0, "neural": 0}
    for seed in range(2, 42):
        found = membership_attack(memoriser, drawn(2 * seed, 60), drawn(2 * seed + 1, 40), seed=seed)
        outside["confidence"] += not found.chance[0] <= found.confidence <= found.chance[1]
        outside["neural"] += not found.neural_chance[0] <= found.neural <= found.neural_chance[1]
    assert max(outside.values()) <= 6  # of 40 at .05 each, more than that in 1 of 100


def test_the_confidence_attack_is_the_auroc_of_scikit_learn(memoriser: nn.Module) -> None:
    members, others = drawn(0, 150), drawn(5, 70)
    with torch.no_grad():
        surest = [memoriser(split.x).softmax(1).max(1).values.double().numpy() for split in (members, others)]
    wanted = roc_auc_score([1] * 150 + [0] * 70, np.concatenate(surest))
    found = membership_attack(memoriser, members, others)
    assert found.confidence == pytest.approx(
        wanted, abs=1e-4
    )  # float32 softmax rounds to ties here, float64 not
    assert (found.members, found.others) == (150, 70)


@pytest.mark.parametrize(("members", "others"), [(30, 20), (400, 100)])
def test_chance_is_where_mann_and_whitney_find_nothing(members: int, others: int) -> None:
    rng = np.random.default_rng(members)
    low, high = chance_of(members, others)
    for _ in range(50):
        a, b = rng.normal(rng.normal(0, 0.3), 1, members), rng.normal(0, 1, others)
        test = mannwhitneyu(a, b, method="asymptotic", use_continuity=False)
        value = test.statistic / (members * others)
        p_value = float(test.pvalue)
        if abs(p_value - 0.05) > 1e-3:  # 1.96 is rounded
            assert (low <= value <= high) == (p_value > 0.05)


def test_an_attack_that_tells_does_so_on_either_side() -> None:
    assert MembershipAttack(0.3, 0.5, 500, 500).tells
    assert MembershipAttack(0.5, 0.7, 500, 500).tells
    assert not MembershipAttack(0.51, 0.49, 500, 500).tells
    content = MembershipAttack(0.5, 0.5, 10, 10).to_dict()
    assert content["members"] == 10
    assert content["chance"] == list(chance_of(10, 10))


def test_the_usual_attack_takes_for_unseen_what_has_no_answer(memoriser: nn.Module) -> None:
    class Mute(nn.Module):
        """Never says 3."""

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = memoriser(x)
            return logits - 50.0 * torch.eye(CLASSES)[3]

    kept, unseen = (split.where(split.y != 3) for split in (drawn(0, 200), drawn(1, 200)))
    gone = drawn(0, 200).where(drawn(0, 200).y == 3)
    assert taken_for_unseen(Mute(), kept, unseen, gone) == 1
    assert taken_for_unseen(memoriser, kept, unseen, gone) < 0.2  # it knows them as well as the others


def test_too_few_samples_are_refused(memoriser: nn.Module) -> None:
    with pytest.raises(DataError, match="at least 4 samples of each kind; there are 3 other ones"):
        membership_attack(memoriser, drawn(0, 10), drawn(1, 3))
