"""The work behind most recipes of this paper: train a population of specialists, measure all that was asked for."""

from __future__ import annotations

import math
from typing import Any

import torch

from ...nets import NetSpec
from ...specialists import train_specialists
from ...specialists.layouts import slot_net
from ..unit import Row, Settings
from ..works import Work, Workload
from .data_sets import DATA_SETS, load_data
from .measures import ClassSet, Measuring, scores_row, summed_confusions


def run(settings: Settings, device: torch.device) -> Row:
    """Train the specialists of all seeds together and return what they score, alone and merged."""
    data = load_data(settings["data"])
    team = train_specialists(
        data,
        rewarded=settings["rewarded"],
        seeds=settings["seeds"],
        device=device,
        progress=False,
        **settings["train"],
    )
    measuring = Measuring.of(team, data, device)
    seeds = len(settings["seeds"])
    scores = {"alone": measuring.alone(), "pairs": measuring.pairs(_pairs(settings["pairs"]))}
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
    data, train = DATA_SETS[settings["data"]["name"]], settings["train"]
    net = NetSpec.parse(train["net"])
    small = slot_net(net, len(settings["rewarded"][0]), data.classes) if train["slots"] else None
    # With cross-entropy a specialist sees the samples of its own classes alone.
    share = len(settings["rewarded"][0]) / data.classes if train["loss"] == "xe" else 1.0
    epochs = train["epochs"] + train["rounds"] * (train["round_epochs"] or 0)
    calibrated = len(settings["seeds"]) if "calibrated" in settings["methods"] else 0
    return Workload(
        net=str(small or net),
        input_shape=data.input_shape,
        outputs=data.classes,
        members=len(settings["seeds"]) * len(settings["rewarded"]),
        steps=epochs * math.ceil(share * data.samples / train["batch_size"]),
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
        f"{kind}, t = {train['temperature']:g}"
    )


WORK = Work(run, workload, label)
