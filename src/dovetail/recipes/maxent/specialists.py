"""Specialists, the work behind most recipes of this paper: train a population of them, and measure what is asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ...data.dataset import Dataset
from ...data.split import Split
from ...nets import NetSpec
from ...specialists import Part, Score, Specialist, Team, evaluate_all, merge_curve, train_specialists
from ...specialists.composite import compose_quietly
from ...specialists.layouts import slot_net
from ..data import DATA_SIZES, load_named
from ..unit import Row, Settings, plain_numbers
from ..works import Work, Workload
from .paths import Ends, relative_losses

ClassSet = tuple[int, ...]


@dataclass(frozen=True)
class Measuring:
    """Specialists with what to measure them on.

    Attributes
    ----------
    team : Team
        As they were trained.
    data : Dataset
        Its test split is what is measured on.
    device : torch.device
        Where to compute.
    members : dict
        The specialists by seed and rewarded classes, with their weights on the device.
    test : Split
        The test split, on the device.
    """

    team: Team
    data: Dataset
    device: torch.device
    members: dict[tuple[int, ClassSet], Specialist]
    test: Split

    @classmethod
    def of(cls, team: Team, data: Dataset, device: torch.device) -> Measuring:
        """Bring weights and samples to the device: there hundreds of sums cost little."""
        members = {(part.seed, part.rewarded): _on_device(part, device) for part in team}
        return cls(team, data, device, members, data.test.to(device))

    def alone(self) -> list[Score]:
        """Measure each specialist, by seed and then by set."""
        return self._scores(list(self.members.values()))

    def pairs(self, pairs: Sequence[tuple[ClassSet, ClassSet]]) -> list[Score]:
        """Measure the sums of pairs, by seed and then by pair."""
        return self._scores([first + second for _, first, second in self._pairs(pairs)])

    def doubled_pairs(self, pairs: Sequence[tuple[ClassSet, ClassSet]]) -> list[Score]:
        """Measure the same with the second output layer added twice, as the authors' program does unless it prunes."""
        return self._scores([first + _output_twice(second) for _, first, second in self._pairs(pairs)])

    def steps(self) -> list[Score]:
        """Measure sums of the first, the first two … sets, by seed and then by step."""
        return self._scores([part for seed in self.team.seeds for part in self._growing(seed)])

    def merged(self, orders: int) -> dict[str, Any]:
        """Merge one specialist after the other in random orders: scores ``[seed and order][step]``."""
        curve = merge_curve(list(self.members.values()), self.test, orders=orders, device=self.device)
        return {
            "accuracy": [plain_numbers(run) for run in curve.accuracy.tolist()],
            "entropy": [plain_numbers(run) for run in curve.entropy.tolist()],
        }

    def method(self, method: Any, inputs: int) -> list[Score]:
        """Measure all specialists of each seed merged in some way."""
        parts: list[Part] = []
        for seed in self.team.seeds:
            # Coefficients are fitted on the CPU, where the weights of the team are.
            mine = self.team.of_seed(seed) if method == "calibrated" else self._of_seed(seed)
            x = self.data.train.x[:inputs] if method == "calibrated" else None
            parts.append(compose_quietly(list(mine), method, inputs=x))
        return self._scores(parts)

    def paths(
        self, pairs: Sequence[tuple[ClassSet, ClassSet]], *, steps: bool, points: int, train_samples: int
    ) -> list[dict[str, Any]]:
        """Measure losses along paths: between pairs, and between what is merged so far and the next specialist.

        One entry for each pair and step, with the relative losses of every seed on both splits.
        """
        ends: dict[tuple[str, ClassSet, ClassSet], list[Ends]] = {}
        for _, first, second in self._pairs(pairs):
            ends.setdefault(("pair", first.rewarded, second.rewarded), []).append((first, second))
        for seed in self.team.seeds if steps else ():
            for merged, new in zip(self._growing(seed), self._of_seed(seed)[1:], strict=False):
                ends.setdefault(("step", merged.rewarded, new.rewarded), []).append((merged, new))
        flat = [end for found in ends.values() for end in found]
        some = torch.arange(min(train_samples, len(self.data.train)))
        splits = {"train": self.data.train.where(some).to(self.device), "test": self.test}
        losses = {
            name: relative_losses(flat, split, points=points, device=self.device).split(len(self.team.seeds))
            for name, split in splits.items()
        }
        return [
            {
                "kind": kind, "first": list(first), "second": list(second),
                **{name: [plain_numbers(run) for run in found[place].tolist()] for name, found in losses.items()},
            }
            for place, (kind, first, second) in enumerate(ends)
        ]  # fmt: skip

    def _scores(self, parts: Sequence[Part]) -> list[Score]:
        return evaluate_all(parts, self.test, device=self.device)

    def _of_seed(self, seed: int) -> list[Specialist]:
        return [part for (number, _), part in self.members.items() if number == seed]

    def _growing(self, seed: int) -> list[Part]:
        parts = self._of_seed(seed)
        return [parts[0], *(compose_quietly(parts[: step + 1]) for step in range(1, len(parts)))]

    def _pairs(self, pairs: Sequence[tuple[ClassSet, ClassSet]]) -> list[tuple[int, Specialist, Specialist]]:
        seeds = self.team.seeds
        return [(seed, self.members[seed, a], self.members[seed, b]) for seed in seeds for a, b in pairs]


def scores_row(scores: Sequence[Score], seeds: int) -> dict[str, list[list[float | None]]]:
    """Return accuracy, entropy and calibration error, ``[seed][set]``.

    Examples
    --------
    >>> scores_row([], 1)
    {'accuracy': [[]], 'entropy': [[]], 'calibration_error': [[]]}
    """
    each = len(scores) // seeds
    by_seed = [scores[seed * each : (seed + 1) * each] for seed in range(seeds)]
    return {
        "accuracy": [plain_numbers(score.rewarded_accuracy for score in mine) for mine in by_seed],
        "entropy": [plain_numbers(score.entropy for score in mine) for mine in by_seed],
        "calibration_error": [plain_numbers(score.calibration_error for score in mine) for mine in by_seed],
    }


def summed_confusions(scores: Sequence[Score], seeds: int) -> list[dict[str, Any]]:
    """Return rewarded classes and confusion counts of each set, added up over seeds."""
    each = len(scores) // seeds
    return [
        {
            "rewarded": list(scores[place].rewarded),
            "counts": sum(score.confusion for score in scores[place::each]).tolist(),  # type: ignore[union-attr]
        }
        for place in range(each)
    ]


def _on_device(part: Specialist, device: torch.device) -> Specialist:
    weights = {
        name: replace(
            packed,
            values=packed.values.to(device),
            positions=None if packed.positions is None else packed.positions.to(device),
        )
        for name, packed in part.weights.items()
    }
    return Specialist(part.blueprint, part.rewarded, weights, part.provenance)


def _output_twice(part: Specialist) -> Specialist:
    weights = dict(part.weights)
    weights["output.weight"] = replace(weights["output.weight"], values=2 * weights["output.weight"].values)
    return Specialist(part.blueprint, part.rewarded, weights, part.provenance)


def run(settings: Settings, device: torch.device) -> Row:
    """Train the specialists of all seeds together and return what they score, alone and merged."""
    data = load_named(settings["data"])
    team = train_specialists(
        data,
        rewarded=settings["rewarded"],
        seeds=settings["seeds"],
        device=device,
        progress=False,
        **{"keep": "best", "adam": "fresh", **settings["train"]},
    )
    measuring = Measuring.of(team, data, device)
    seeds = len(settings["seeds"])
    scores = {"alone": measuring.alone(), "pairs": measuring.pairs(_pairs(settings["pairs"]))}
    if settings.get("doubled"):
        scores["pairs_doubled"] = measuring.doubled_pairs(_pairs(settings["pairs"]))
    if settings["orders"]:
        scores["steps"] = measuring.steps()
    row: Row = {
        "epochs": [round(float(history.epochs.double().mean()), 2) for history in team.histories],
        "sparsity": round(sum(part.sparsity for part in team) / len(team), 6),
        **{name: scores_row(found, seeds) for name, found in scores.items()},
    }
    if settings["orders"]:
        row["merged"] = measuring.merged(settings["orders"])
    if settings["methods"]:
        row["methods"] = {
            method: scores_row(measuring.method(method, settings["method_inputs"]), seeds)
            for method in settings["methods"]
        }
    if settings["confusions"]:
        row["confusions"] = {name: summed_confusions(found, seeds) for name, found in scores.items()}
    if settings["paths"]:
        options = dict(settings["paths"])
        row["paths"] = measuring.paths(_pairs(options.pop("pairs")), **options)
    return row


def workload(settings: Settings) -> Workload:
    """Return how much work a population is, if no network stops early."""
    data, train = DATA_SIZES[settings["data"]["name"]], settings["train"]
    net = NetSpec.parse(train["net"])
    small = slot_net(net, len(settings["rewarded"][0]), data.outputs) if train["slots"] else None
    # With cross-entropy a specialist sees the samples of its own classes alone.
    share = len(settings["rewarded"][0]) / data.outputs if train["loss"] == "xe" else 1.0
    epochs = train["epochs"] + train["rounds"] * (train["round_epochs"] or 0)
    calibrated = len(settings["seeds"]) if "calibrated" in settings["methods"] else 0
    return Workload(
        net=str(small or net),
        input_shape=data.input_shape,
        outputs=data.outputs,
        members=len(settings["seeds"]) * len(settings["rewarded"]),
        steps=epochs * math.ceil(share * data.training / train["batch_size"]),
        batch_size=train["batch_size"],
        core_seconds=1.0 + calibrated * (6.0 if net.name == "lenet" else 0.3),
    )


def _pairs(pairs: Any) -> list[tuple[ClassSet, ClassSet]]:
    return [(tuple(first), tuple(second)) for first, second in pairs]


def label(settings: Settings) -> str:
    """Return which specialists these are."""
    train = settings["train"]
    kind = "in slots" if train["slots"] else f"{train['sparsity']:.0%} pruned"
    return (
        f"{settings['data']['name']}, {train['net']}, {train['loss'].upper()}, |R| = {len(settings['rewarded'][0])}, "
        f"{kind}, t = {train['temperature']:g}{', output twice' if settings.get('doubled') else ''}"
    )


WORK = Work(run, workload, label)
