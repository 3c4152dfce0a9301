"""Networks from scratch: the work of training specialists, merging them in some ways, and leaving some out."""

from __future__ import annotations

import math
import shutil
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from ...data.sources import cache_folder
from ...errors import TrainingWarning, explained
from ...nets import NetSpec
from ...specialists import Specialist, train_specialists
from ...specialists.composite import compose_quietly
from ...specialists.layouts import slot_net
from ..cluster.augmentation import turned_shifted_mirrored
from ..data import DATA_SIZES, load_named
from ..unit import Row, Settings, Unit, plain_numbers
from ..works import Work, Workload


def run(settings: Settings, device: torch.device) -> Row:
    """Train specialists of all seeds, and merge those of each seed.

    A generalist is a specialist that is rewarded for all classes: its loss is cross-entropy then. Whole networks train
    one after another, which is as fast for convolutions as large as theirs, and each is kept in the cache until all
    are done: what was stopped goes on with the next.

    Returns
    -------
    dict
        By ``merged``, a method each: for each seed ``accuracy`` over all classes that are rewarded, and ``left_out``,
        the mean accuracy over the others when each specialist in turn is left out (empty where there is only one).
        ``alone``: the mean accuracy of specialists on their own classes.
    """
    data = load_named(settings["data"])
    kept = cache_folder("from-scratch") / Unit("beyond/from-scratch", settings).key
    with explained(
        f"cannot keep networks in {kept}", "set $DOVETAIL_CACHE to a folder that you can write to"
    ):
        kept.mkdir(parents=True, exist_ok=True)

    def trained(rewarded: Sequence[Sequence[int]], seed: int) -> Sequence[Specialist]:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", TrainingWarning
            )  # a generalist sees no classes that are not its own
            return train_specialists(
                data,
                settings["net"],
                rewarded,
                slots=settings["slots"],
                sparsity=0.0,
                seed=seed,
                augment=turned_shifted_mirrored if settings["augment"] else None,
                folder=kept,
                device=device,
                progress=False,
                **settings["training"],
            )

    sets = settings["rewarded"]
    together = [sets] if settings["slots"] else [[ids] for ids in sets]
    by_seed = [[one for some in together for one in trained(some, seed)] for seed in settings["seeds"]]
    inputs = data.train.x[: settings["inputs"]]

    def accuracy(members: Sequence[Specialist], method: Any) -> float:
        whole = compose_quietly(list(members), method, inputs=None if method == "logits" else inputs)
        return whole.evaluate(data.test, device=device).rewarded_accuracy

    def left_out(members: Sequence[Specialist], method: Any) -> float | None:
        rests = [[one for one in members if one is not gone] for gone in members]
        if len(members) == 1:
            return None
        return sum(accuracy(rest, method) for rest in rests) / len(rests)

    alone = [
        [one.evaluate(data.test, device=device).rewarded_accuracy for one in members] for members in by_seed
    ]
    row = {
        "alone": plain_numbers(sum(scores) / len(scores) for scores in alone),
        "merged": {
            method: {
                "accuracy": plain_numbers(accuracy(members, method) for members in by_seed),
                "left_out": plain_numbers(left_out(members, method) for members in by_seed),
            }
            for method in settings["methods"]
        },
    }
    shutil.rmtree(kept, ignore_errors=True)
    return row


def workload(settings: Settings) -> Workload:
    """Return how much work training is; of merged networks each test sample is seen a few times.

    Networks that train one after another are one network that takes all of their steps.
    """
    size, training = DATA_SIZES[settings["data"]["name"]], settings["training"]
    spec = NetSpec.parse(settings["net"])
    small = slot_net(spec, len(settings["rewarded"][0]), size.outputs) if settings["slots"] else None
    runs, sets = len(settings["seeds"]), len(settings["rewarded"])
    members, runs = (sets, runs) if settings["slots"] else (1, runs * sets)
    return Workload(
        net=str(small or spec),
        input_shape=size.input_shape,
        outputs=size.outputs,
        members=members,
        steps=runs * training["epochs"] * math.ceil(size.training / training["batch_size"]),
        batch_size=training["batch_size"],
        core_seconds=1.0,
    )


def label(settings: Settings) -> str:
    """Return which networks these are."""
    sets = settings["rewarded"]
    kind = "in slots" if settings["slots"] else "whole"
    what = "generalist" if len(sets) == 1 else f"|R| = {len(sets[0])}, {kind}"
    seeds = ", ".join(map(str, settings["seeds"]))
    return f"{settings['data']['name']}, {settings['net']}, {what}, seed {seeds}"


WORK = Work(run, workload, label)
