"""The numbers in the rows of the MaxEnt paper's works, against plain PyTorch on the same specialists."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import dovetail as dt
from dovetail.recipes import find_work
from dovetail.specialists import Team

pytestmark = pytest.mark.filterwarnings("ignore::dovetail.errors.CompatibilityWarning")

CPU = torch.device("cpu")
SEEDS, CLASSES = [0, 1], 3
SETTINGS: dict[str, Any] = {
    "data": {"name": "digits", "options": {}},
    "train": {
        "net": "mlp:24-16,dropout=0", "loss": "me", "sparsity": 0.6, "rounds": 1, "epochs": 4, "round_epochs": 2,
        "temperature": 2.0, "slots": False, "lr": 0.01, "batch_size": 128, "patience": 3, "monitor": "loss",
        "scope": "tensor", "output_share": 0.5,
    },
    "seeds": SEEDS,
    "rewarded": [[0], [1], [2]],
    "pairs": [[[0], [1]], [[1], [2]]],
    "orders": 2,
    "methods": ["logits", "ties", "calibrated"],
    "method_inputs": 64,
    "confusions": True,
    "paths": {"pairs": [[[0], [2]]], "steps": True, "points": 4, "train_samples": 100},
}  # fmt: skip


@pytest.fixture(scope="module")
def row() -> dict[str, Any]:
    return find_work("maxent/specialists").run(SETTINGS, CPU)


@pytest.fixture(scope="module")
def team() -> Team:
    """The specialists once more, through the public function."""
    options = copy.deepcopy(SETTINGS["train"])
    return dt.train_specialists(
        dt.load("digits"), rewarded=[0, 1, 2], seeds=SEEDS, device="cpu", progress=False, **options
    )


def plain_logits(team: Team, seed: int, classes: list[int], x: torch.Tensor) -> torch.Tensor:
    """Return the logits of summed weights, layer by layer."""
    states = [part.state for part in team.of_seed(seed) if part.rewarded[0] in classes]
    total = {name: torch.stack([state[name] for state in states]).sum(0) for name in states[0]}
    weights = [total[name] for name in total if name.endswith("weight")]
    biases = [total[name] for name in total if name.endswith("bias")]
    hidden = x.flatten(1)
    for weight, bias in zip(weights, biases, strict=False):
        hidden = F.relu(hidden @ weight.T + bias)
    logits: torch.Tensor = hidden @ weights[-1].T / SETTINGS["train"]["temperature"]
    return logits


def accuracy_and_entropy(logits: torch.Tensor, y: torch.Tensor, classes: list[int]) -> tuple[float, float]:
    own = torch.isin(y, torch.tensor(classes))
    p = logits.softmax(1)
    return (
        float((logits.argmax(1) == y)[own].double().mean()),
        float(-(p * p.log()).sum(1)[~own].mean()),
    )


def test_alone_pairs_and_steps(row: dict[str, Any], team: Team) -> None:
    x, y = dt.load("digits").test
    sets = {
        "alone": [[0], [1], [2]],
        "pairs": [[0, 1], [1, 2]],
        "steps": [[0], [0, 1], [0, 1, 2]],
    }
    for what, chosen in sets.items():
        for place, classes in enumerate(chosen):
            for seed in SEEDS:
                accuracy, entropy = accuracy_and_entropy(plain_logits(team, seed, classes, x), y, classes)
                assert row[what]["accuracy"][seed][place] == pytest.approx(accuracy, abs=1e-6)
                assert row[what]["entropy"][seed][place] == pytest.approx(entropy, abs=1e-5)


def test_merges_in_random_orders_begin_alone_and_end_the_same(row: dict[str, Any]) -> None:
    merged = row["merged"]["accuracy"]
    assert [len(run) for run in merged] == [CLASSES] * len(SEEDS) * SETTINGS["orders"]
    for seed in SEEDS:
        for run in merged[2 * seed : 2 * seed + 2]:
            assert run[0] in row["alone"]["accuracy"][seed]
            assert run[-1] == row["steps"]["accuracy"][seed][-1]


def test_methods(row: dict[str, Any], team: Team) -> None:
    x, y = dt.load("digits").test
    inputs = dt.load("digits").train.x[:64]
    for seed in SEEDS:
        logits = torch.stack([plain_logits(team, seed, [number], x) for number in range(CLASSES)]).mean(0)
        expected = accuracy_and_entropy(logits, y, [0, 1, 2])
        assert row["methods"]["logits"]["accuracy"][seed] == pytest.approx([expected[0]], abs=1e-6)
        assert row["methods"]["logits"]["entropy"][seed] == pytest.approx([expected[1]], abs=1e-5)
        for method in ("ties", "calibrated"):
            made = dt.compose(team.of_seed(seed), method, inputs=inputs if method == "calibrated" else None)
            score = made.evaluate(dt.load("digits").test, device="cpu")
            assert row["methods"][method]["accuracy"][seed] == pytest.approx(
                [score.rewarded_accuracy], abs=1e-6
            )


def test_confusions_are_added_up_over_seeds(row: dict[str, Any], team: Team) -> None:
    x, y = dt.load("digits").test
    pair = row["confusions"]["pairs"][1]
    counts = torch.zeros(10, 10, dtype=torch.int64)
    for seed in SEEDS:
        predicted = plain_logits(team, seed, [1, 2], x).argmax(1)
        for true, guess in zip(y.tolist(), predicted.tolist(), strict=True):
            counts[true, guess] += 1
    assert pair["rewarded"] == [1, 2]
    assert pair["counts"] == counts.tolist()


def test_paths_are_those_of_connectivity(row: dict[str, Any], team: Team) -> None:
    data = dt.load("digits")
    few = data.train.where(torch.arange(100))
    assert [(path["kind"], path["first"], path["second"]) for path in row["paths"]] == [
        ("pair", [0], [2]), ("step", [0], [1]), ("step", [0, 1], [2]),
    ]  # fmt: skip
    for seed in SEEDS:
        a, b, c = team.of_seed(seed)
        for path, ends in zip(row["paths"], ((a, c), (a, b), (a + b, c)), strict=True):
            for name, split in (("test", data.test), ("train", few)):
                expected = dt.connectivity(ends, split, points=4, device="cpu").relative
                assert path[name][seed] == pytest.approx(expected.tolist(), abs=2e-3)


def test_the_same_settings_give_the_same_row(row: dict[str, Any]) -> None:
    again = find_work("maxent/specialists").run(json.loads(json.dumps(SETTINGS)), CPU)
    assert json.dumps(again, allow_nan=False) == json.dumps(row, allow_nan=False)


def test_entropy_is_missing_when_all_classes_are_rewarded() -> None:
    quiet = {"orders": 0, "methods": [], "confusions": False, "paths": None}
    halves = {"rewarded": [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]], "pairs": [[[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]]}
    train = SETTINGS["train"] | {"epochs": 1, "sparsity": 0.0, "rounds": 0, "round_epochs": None}
    row = find_work("maxent/specialists").run(SETTINGS | quiet | halves | {"train": train}, CPU)
    assert row["pairs"]["entropy"] == [[None], [None]]
    assert row["sparsity"] == 0
    assert "merged" not in row


def test_generalists_are_networks_trained_in_the_ordinary_way() -> None:
    settings = {
        "data": {"name": "digits", "options": {}}, "net": "mlp:32,dropout=0", "seeds": [0, 1], "epochs": 8,
        "lr": 0.01, "batch_size": 128, "monitor": "loss", "patience": None,
    }  # fmt: skip
    row = find_work("maxent/generalists").run(settings, CPU)
    alone = find_work("maxent/generalists").run(settings | {"seeds": [1]}, CPU)
    assert min(row["accuracy"]) > 0.85
    assert row["accuracy"][1] == pytest.approx(alone["accuracy"][0], abs=0.01)
