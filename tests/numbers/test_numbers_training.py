"""Odd numbers and odd data for what trains networks: populations, clusterable networks, sculptures."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

import dovetail as dt
from dovetail.data import Dataset, Split
from dovetail.errors import DovetailError, SpecError, TrainingError
from dovetail.population import Adam, History

from .odd_data import FEATURES, INF, NAN, constant_columns, data, one_sample, split


def population() -> dt.Population:
    return dt.Population(
        lambda: nn.Sequential(nn.Linear(FEATURES, 8), nn.ReLU(), nn.Linear(8, 3)), [0, 1], device="cpu"
    )


def fitted(train: Split, val: Split | None = None, **options: object) -> History:
    return population().fit(train, val, **{"epochs": 1, "progress": False, **options})  # type: ignore[arg-type]


def networks(given: Dataset, **options: object) -> dict[str, float]:
    small = {"seeds": [0], "epochs": 1, "pruning_epochs": 1, "device": "cpu", "progress": False}
    made = dt.train_networks(given, "mlp:8", **{**small, **options})  # type: ignore[arg-type]
    assert made.pruned is not None
    return {name: float(made.pruned.test[name][0]) for name in ("loss", "accuracy")}


@pytest.mark.parametrize("bad", [NAN, INF])
def test_a_population_refuses_data_that_is_not_finite(bad: float) -> None:
    wrong = split(4, 3)
    wrong.x[1, 1] = bad
    with pytest.raises(TrainingError, match="inputs of the training split hold NaN or infinity"):
        fitted(wrong)
    with pytest.raises(TrainingError, match="inputs of the validation split hold NaN or infinity"):
        fitted(split(4, 3), wrong)
    values = Split(split(4, 3).x, torch.full((4, 3), bad))
    with pytest.raises(TrainingError, match="targets of the training split hold NaN or infinity"):
        fitted(values)


def test_a_population_that_diverges_says_so_in_its_history() -> None:
    history = fitted(data().train, data().val, epochs=2, optimizer=Adam(1e38))
    assert history["loss"].isnan().all()


def test_a_population_on_one_sample_and_on_none() -> None:
    one = one_sample()
    want = nn.functional.cross_entropy(population().member(1)(one.x), one.y).detach()
    # The loss of an epoch is taken before its only step.
    assert float(fitted(one)["train_loss"][0, 1]) == pytest.approx(float(want), rel=1e-5)
    with pytest.raises(TrainingError, match="the training split has no samples"):
        fitted(split(3, 1, missing=0))


@pytest.mark.parametrize("flat", [data(x=torch.tensor(0.0)).train, constant_columns().train, split(9, 1)])
def test_a_population_on_constant_columns_or_one_class(flat: Split) -> None:
    assert fitted(flat)["train_loss"].isfinite().all()


def test_networks_on_one_class_are_always_right() -> None:
    assert networks(data(1))["accuracy"] == 1


def test_networks_on_constant_samples_know_nothing() -> None:
    scores = networks(data(x=torch.tensor(1.0)))
    assert scores["accuracy"] == pytest.approx(1 / 3)
    assert math.isfinite(scores["loss"])


def test_networks_on_one_sample_and_without_a_class() -> None:
    one = one_sample()
    assert networks(Dataset("one", one, one, one, ("a", "b")))["accuracy"] in (0, 1)
    assert math.isfinite(networks(data(missing={"train": 2, "val": 2}))["loss"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"l1": NAN}, "l1 must be finite"),
        ({"l2": INF}, "l2 must be finite"),
        ({"final_sparsity": 1.0}, "sparsities must rise within"),
        (
            {"clusterability": 0.1, "l2": 1e-4, "k": 500},
            "k=500 eigenvalues, but every second layer has only 8",
        ),
        ({"lr": 1e38}, "did training diverge"),
    ],
)
def test_networks_refuse_numbers_that_cannot_work(options: dict[str, object], message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        networks(data(), **options)


def sculpted(given: Dataset, **options: object) -> dt.Sculpture:
    return dt.sculpt(given, [6], **{"device": "cpu", "progress": False, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["threshold", "noise"])
@pytest.mark.parametrize("bad", [NAN, INF])
def test_a_sculpture_refuses_numbers_that_are_none(option: str, bad: float) -> None:
    with pytest.raises(SpecError, match=option):
        sculpted(data(), **{option: bad})
