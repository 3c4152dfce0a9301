"""Measure specialists as the MaxEnt paper does, and past its limits: one JSON line per experiment.

``python bench/specialists.py GROUP [GROUP ...] --out FILE`` where a group is ``pairs:mnist:shallow``,
``pairs:mnist:deep:2,5:20:me,xe`` (sets of 2 and 5 classes, 20 pairs each, two losses),
``slots:fashion-mnist:shallow:mlp:510/mlp:1020``, ``compatibility:mnist:mlp``. ``docs/results.md`` shows what came out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

import dovetail as dt
from dovetail.population import Adam
from dovetail.specialists import Part, Team, disjoint_pairs, evaluate_all
from dovetail.specialists.composite import Method
from dovetail.specialists.folder import file_name

SEEDS = range(5)
IMAGES = ("mnist", "fashion-mnist")
PAPER: dict[tuple[str, str], dict[str, object]] = {
    **{(data, "shallow"): {"net": "mlp:512"} for data in IMAGES},
    **{(data, "deep"): {"net": "mlp:512-256"} for data in IMAGES},
    **{(data, "cnn"): {"net": "lenet", "epochs": 15} for data in IMAGES},
    ("har", "shallow"): {"net": "mlp:512,dropout=0", "epochs": 25, "lr": 1e-4},
    ("har", "deep"): {"net": "mlp:512-256,dropout=0", "epochs": 25, "lr": 1e-4},
    ("yeast", "shallow"): {"net": "mlp:256,dropout=0.2", "epochs": 25},
    ("yeast", "deep"): {"net": "mlp:128-64,dropout=0.2", "epochs": 25},
}
"""The paper's settings; what is not named is the default."""

Row = dict[str, object]


def load(name: str) -> dt.Dataset:
    return dt.load(name, features="time") if name == "har" else dt.load(name)


def train(data: dt.Dataset, options: dict[str, object], **more: object) -> Team:
    return dt.train_specialists(data, seeds=list(SEEDS), progress=False, **{**options, **more})  # type: ignore[arg-type]


def scores_of(parts: list[Part], data: dt.Dataset) -> Row:
    scores = evaluate_all(parts, data.test)
    return {
        "accuracy": [score.rewarded_accuracy for score in scores],
        "entropy": [score.entropy for score in scores],
        "calibration": [score.calibration_error for score in scores],
    }


def pairs(
    name: str, model: str, sizes: str = "1,2,5", count: str = "10", losses: str = "me,qme,xe"
) -> Iterator[Row]:
    """Yield the pairwise merges of Tables 2 and 4; for single classes also full merges, and in other ways."""
    data = load(name)
    for size in map(int, sizes.split(",")):
        if 2 * size > data.outputs:
            continue
        chosen = disjoint_pairs(data.outputs, size, int(count))
        sets = sorted({ids for pair in chosen for ids in pair})
        if size == 1:
            sets = [(number,) for number in range(data.outputs)]
        for loss in losses.split(","):
            begun = time.perf_counter()
            team = train(data, PAPER[name, model], rewarded=sets, loss=loss)
            seconds = time.perf_counter() - begun
            members = {(part.seed, part.rewarded): part for part in team}
            merged: list[Part] = [members[s, a] + members[s, b] for s in SEEDS for a, b in chosen]
            yield {
                "what": "pairs", "data": name, "model": model, "size": size, "loss": loss, "pairs": len(chosen),
                "networks": len(team), "seconds": seconds, **scores_of(merged, data),
            }  # fmt: skip
            if size == 1:
                yield {
                    "what": "single",
                    "data": name,
                    "model": model,
                    "loss": loss,
                    **scores_of(list(team), data),
                }
            if size == 1 and loss == "me":
                yield complete(team, data, model, slots=False)
                yield from methods(team, data, model)
                save(team, name, model)


def methods(team: Team, data: dt.Dataset, model: str) -> Iterator[Row]:
    """Yield all classes merged in the other ways."""
    others: tuple[Method, ...] = ("logits", "ties", "calibrated")
    for method in others:
        made: list[Part] = [dt.compose(team.of_seed(s), method, inputs=data.train.x[:2048]) for s in SEEDS]
        yield {"what": "method", "data": data.name, "model": model, "method": method, **scores_of(made, data)}


def save(team: Team, name: str, model: str) -> None:
    """Keep the specialists of MLPs, which are small files, for measurements that need no GPU."""
    folder = os.environ.get("DOVETAIL_SAVE")
    if folder and model != "cnn":
        for part in team:
            path = Path(folder) / f"{name}-{model}" / file_name(name, part.rewarded, part.seed)
            path.parent.mkdir(parents=True, exist_ok=True)
            part.save(path)


def complete(team: Team, data: dt.Dataset, model: str, *, slots: bool, orders: int = 10) -> Row:
    """Merge one class after the other, in random orders; accuracy and entropy after each."""
    steps: list[Part] = []
    for seed in SEEDS:
        parts = list(team.of_seed(seed))
        for order in range(orders):
            shuffled = random.Random(order).sample(parts, len(parts))
            steps += [sum(shuffled[1:k], start=shuffled[0]) for k in range(1, len(parts) + 1)]
    scores = scores_of(steps, data)
    return {"what": "complete", "data": data.name, "model": model, "net": str(team[0].basis.net), "slots": slots,
            "classes": data.outputs, **scores}  # fmt: skip


def slots(name: str, net: str, **options: object) -> Iterator[Row]:
    """Yield all classes merged in slots, and generalists of the same width."""
    data = load(name)
    generalists = dt.Population(dt.net_builder(net, data.input_shape, data.outputs), seeds=list(SEEDS))
    epochs = int(str(options.get("epochs", 20)))
    generalists.fit(
        data, epochs=epochs, optimiser=Adam(lr=float(str(options.get("lr", 1e-3)))), progress=False
    )
    accuracy = generalists.evaluate(data.test)["accuracy"].tolist()
    yield {"what": "generalist", "data": name, "net": net, "accuracy": accuracy}
    begun = time.perf_counter()
    team = train(data, {"net": net, **options}, slots=True)
    seconds = time.perf_counter() - begun
    yield {**complete(team, data, "", slots=True, orders=3), "options": options, "seconds": seconds}


def slot_curve(name: str, model: str, nets: str = "") -> Iterator[Row]:
    options = {key: value for key, value in PAPER[name, model].items() if key != "net"}
    for net in nets.split("/") if nets else WIDTHS[name, model]:
        yield from slots(name, net, **options)


WIDTHS: dict[tuple[str, str], list[str]] = {
    **{(data, "shallow"): [f"mlp:{h}" for h in (510, 1020, 2040, 4080)] for data in IMAGES},
    **{(data, "deep"): [f"mlp:{h}-{h // 2}" for h in (500, 1000, 2000, 4000)] for data in IMAGES},
    **{(data, "cnn"): ["lenet:60-120-60", "lenet:120-240-120", "lenet:120-600-300"] for data in IMAGES},
    ("har", "shallow"): [f"mlp:{h},dropout=0" for h in (510, 1020, 2040)],
    ("har", "deep"): [f"mlp:{h}-{h // 2},dropout=0" for h in (516, 1020, 2040)],
    ("yeast", "shallow"): [f"mlp:{h},dropout=0.2" for h in (256, 512, 1024)],
    ("yeast", "deep"): [f"mlp:{h}-{h // 2},dropout=0.2" for h in (128, 256, 512)],
}


def compatible(name: str, model: str) -> Iterator[Row]:
    """Yield, for pairs of varying width, depth and sparsity, what compatibility says and what merging gives."""
    whole = load(name)
    few = dt.Dataset(name, whole.train.where(torch.arange(6000)), whole.val.where(torch.arange(2000)), whole.test,
                     whole.classes)  # fmt: skip
    inputs = few.val.x
    for width, depth, sparsity in itertools.product((32, 64, 128, 256), (1, 2, 3), (0.0, 0.5, 0.9, 0.97)):
        net = "mlp:" + "-".join([str(width)] * depth)
        pairs = disjoint_pairs(few.outputs, 1, 5, seed=width + depth)
        sets = sorted({ids for pair in pairs for ids in pair})
        folder = os.environ.get("DOVETAIL_SAVE")
        team = dt.train_specialists(
            few, net, sets, sparsity=sparsity, epochs=10, progress=False,
            folder=folder and Path(folder) / f"{net.replace(':', '-')}-{sparsity}",
        )  # fmt: skip
        members = {part.rewarded: part for part in team}
        chosen = [(members[a], members[b]) for a, b in pairs]
        scores = evaluate_all([a + b for a, b in chosen], few.test)
        alone = evaluate_all([dt.compose(pair, "logits") for pair in chosen], few.test)
        found = [dt.compatibility(*pair, inputs=inputs) for pair in chosen]
        yield {
            "what": "compatibility", "data": name, "net": net, "sparsity": sparsity,
            "accuracy": [score.rewarded_accuracy for score in scores],
            "entropy": [score.entropy for score in scores],
            "apart": [score.rewarded_accuracy for score in alone],
            **{key: [getattr(one, key) for one in found] for key in
               ("agreement", "separation", "mask_overlap", "sign_conflicts", "interference")},
        }  # fmt: skip


GROUPS: dict[str, Callable[..., Iterator[Row]]] = {
    "pairs": pairs,
    "slots": slot_curve,
    "compatibility": compatible,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    for group in arguments.groups:
        what, name, model, *more = group.split(":", 3)
        if what == "pairs" and more:
            more = more[0].split(":")
        begun = time.perf_counter()
        for row in GROUPS[what](name, model, *more):
            with arguments.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            values = [value for value in row["accuracy"] if value is not None]  # type: ignore[attr-defined]
            where = {k: v for k, v in row.items() if not isinstance(v, list) and k != "what"}
            print(
                f"{time.perf_counter() - begun:6.1f} {row['what']} {where} {sum(values) / len(values):.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
