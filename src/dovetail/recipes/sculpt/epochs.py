"""How long dense networks must train, when a unit leaves it open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from ...data import BooleanTask, Dataset
from ...population import Adam
from ...sculpting.pruning.grid import errors_allowed
from ...sculpting.pruning.problem import problem_of
from ...sculpting.pruning.repeated_trainer import RepeatedTrainer, TrainingSettings
from ...sculpting.pruning.start import builder_of, fresh_networks


def fewest_epochs(
    task: BooleanTask | Dataset, settings: Mapping[str, Any], device: torch.device
) -> tuple[int | None, int]:
    """Return the fewest epochs in which the networks of all seeds learn a task, and how many of them do.

    The candidates are ``settings["epochs"]``; where all of them are too few there is no such number, and the count is
    that of the last one.
    """
    problem = replace(problem_of(task), noise=settings["noise"]).to(device)
    allowed = errors_allowed(settings["threshold"], problem.answers)
    build = builder_of([problem.inputs, *settings["hidden"], problem.outputs])
    optimizer = Adam(lr=settings["lr"], weight_decay=settings["weight_decay"])
    seeds, learned = list(settings["seeds"]), 0
    for epochs in settings["epochs"]:
        networks = fresh_networks(build, seeds, problem, device)
        how = TrainingSettings(
            epochs, min(settings["batch_size"], len(problem.train)), optimizer, problem.noise
        )
        trainer = RepeatedTrainer(networks, seeds, problem.train, problem.val, how)
        # The stream of the search's own dense networks, so that these learn as well.
        learned = int((trainer.train(0).wrong <= allowed).sum())
        trainer.close()
        if learned == len(seeds):
            return epochs, learned
    return None, learned
