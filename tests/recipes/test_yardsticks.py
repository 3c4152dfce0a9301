"""Yardsticks: plain heads and closed forms give what scikit-learn and numpy give."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import NearestCentroid
from torch import Tensor, nn

from dovetail.data.split import Split
from dovetail.recipes.beyond.yardsticks import (
    NearestMean,
    Ridge,
    accuracy_of,
    joined,
    new_head,
    random_features,
    stored,
    train_head,
    with_constant,
)


def samples(seed: int, count: int = 300) -> Split:
    """Return samples of three classes that overlap."""
    draw = torch.Generator().manual_seed(seed)
    y = torch.arange(count) % 3
    means = torch.tensor([[0.0, 0.0, 0.0, 1.0], [1.5, 0.0, 0.0, 0.0], [0.0, 1.5, 0.0, 0.0]])
    return Split(means[y] + torch.randn(count, 4, generator=draw), y)


def last_weights(head: nn.Module) -> Tensor:
    """Return the weights of the last layer."""
    return head.get_parameter("2.weight")


def test_nearest_mean_is_that_of_scikit_learn_however_samples_come() -> None:
    train, test = samples(0), samples(1)
    nearest = NearestMean.empty(4, 3)
    for some in (train.where(train.y == 2), train.where(train.y < 2)):
        nearest.learn(some)
    expected = NearestCentroid().fit(train.x.numpy(), train.y.numpy()).predict(test.x.numpy())
    assert nearest.solved(test, 3)(test.x).argmax(1).tolist() == expected.tolist()


def test_ridge_is_that_of_numpy_however_samples_come() -> None:
    train, val = samples(0), samples(1)
    ridge = Ridge.empty(4, 3)
    for number in (2, 0, 1):
        ridge.learn(train.where(train.y == number))
    found = ridge.solved(val, 3)
    x, y = train.x.double().numpy(), np.eye(3)[train.y.numpy()]
    solutions = {r: np.linalg.solve(x.T @ x + r * np.eye(4), x.T @ y) for r in (1.0, 10.0, 100.0, 1000.0)}
    right = {
        r: (np.argmax(val.x.double().numpy() @ weights, 1) == val.y.numpy()).mean()
        for r, weights in solutions.items()
    }
    best = max(right, key=lambda r: right[r])  # the first of those that are equal
    assert found.weight.detach().numpy() == pytest.approx(solutions[best].T, abs=1e-5)


def test_ridge_with_a_constant_is_near_scikit_learns() -> None:
    train, test = samples(0), samples(1)
    ridge = Ridge.empty(5, 3)
    ridge.learn(Split(with_constant(train.x), train.y))
    ours = ridge.solved(Split(with_constant(test.x), test.y), 3)
    theirs = RidgeClassifier(alpha=1.0).fit(train.x.numpy(), train.y.numpy())
    found = accuracy_of(ours, Split(with_constant(test.x), test.y), 3)
    assert found == pytest.approx(theirs.score(test.x.numpy(), test.y.numpy()), abs=0.03)


def test_a_head_learns_as_much_as_logistic_regression_and_only_its_first_outputs() -> None:
    train, test = samples(0, 900), samples(1, 900)
    head = new_head(4, 16, 5, seed=0)
    kept = last_weights(head)[3:].clone()
    train_head(head, train, outputs=3, epochs=15, lr=1e-2, batch_size=64, seed=0)
    theirs = LogisticRegression().fit(train.x.numpy(), train.y.numpy()).score(test.x.numpy(), test.y.numpy())
    assert accuracy_of(head, test, 3) > theirs - 0.03
    assert last_weights(head)[3:].equal(kept)


def test_the_same_seed_makes_the_same_head_and_leaves_the_global_one_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    one, other = new_head(3, 4, 2, seed=1), new_head(3, 4, 2, seed=1)
    assert torch.rand(1).equal(expected)
    assert all(a.equal(b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert not last_weights(new_head(3, 4, 2, seed=2)).equal(last_weights(one))


def test_classes_count_the_same_in_training() -> None:
    """Two classes at one place, nine to one: a head that counts samples would be sure of the larger."""
    y = torch.tensor([0] * 90 + [1] * 10)
    head = new_head(1, 4, 2, seed=0)
    train_head(head, Split(torch.ones(100, 1), y), outputs=2, epochs=60, lr=1e-2, batch_size=100, seed=0)
    assert head(torch.ones(1, 1)).softmax(1)[0, 0].item() == pytest.approx(0.5, abs=0.05)


def test_stored_samples_are_some_of_each_class() -> None:
    train = samples(0)
    kept = stored(train, 5, seed=0)
    assert kept.y.bincount().tolist() == [5, 5, 5]
    rows = {tuple(row) for row in train.x.tolist()}
    assert all(tuple(row) in rows for row in kept.x.tolist())
    assert len(joined([train, kept])) == 315


def test_random_features_are_drawn_from_their_seed() -> None:
    x = samples(0).x
    assert random_features(x, 7, 1).equal(random_features(x, 7, 1))
    assert not random_features(x, 7, 1).equal(random_features(x, 7, 2))
    assert bool((random_features(x, 7, 1) >= 0).all())
