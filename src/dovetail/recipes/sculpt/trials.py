"""Trials, the work of all recipes of this paper: sculpt the networks of a few seeds, and say what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import ceil, log2
from statistics import fmean
from typing import Any

import torch

from ...data import BooleanTask, Dataset
from ...population import Adam
from ...sculpting import SculptSettings, sculpt_seeds
from ...sculpting.pruning.grid import errors_allowed
from ...sculpting.pruning.problem import problem_of
from ...sculpting.pruning.repeated_trainer import RepeatedTrainer, TrainingSettings
from ...sculpting.pruning.start import builder_of, fresh_networks
from ..unit import Row, Settings
from ..works import Work, Workload
from .settings import choices_of
from .tasks import load_task, task_name, task_size
from .trial_row import consensus_of, example_of, trial_of

_OPTIONS = [name for name in SculptSettings.model_fields if name not in ("hidden", "epochs")]

_WIDE, _LEFT = 256, 1 / 6
"""Of hidden layers wider than this, so much is there on average while they are pruned; at the end, some 40 units."""


def run(settings: Settings, device: torch.device) -> Row:
    """Sculpt, and return an entry for each seed.

    Parameters
    ----------
    settings : mapping
        ``task`` (see `load_task`), ``hidden``, ``seeds``, ``choices`` (see `choices_of`) and options of
        `sculpt_seeds`. Where ``epochs`` is a list, networks train as long as all dense ones need; if the last number
        is too few for some, nothing is sculpted.
    device : torch.device
        Where to compute.
    """
    task, planted = load_task(settings["task"])
    epochs, learned = settings["epochs"], len(settings["seeds"])
    if isinstance(epochs, list):
        epochs, learned = fewest_epochs(task, settings, device)
    if epochs is None:
        return {"epochs": None, "learned": learned, "trials": [], "consensus": None, "example": None}
    options = {name: settings[name] for name in _OPTIONS}
    sculptures = sculpt_seeds(
        task, settings["hidden"], settings["seeds"], epochs=epochs, device=device, progress=False, **options
    )
    choices = list(choices_of(settings["choices"]))
    return {
        "epochs": epochs,
        "learned": sum(sculpture.outcome != "not learned" for sculpture in sculptures),
        "trials": [trial_of(sculpture, planted, choices) for sculpture in sculptures],
        "consensus": consensus_of(sculptures, planted),
        "example": example_of(sculptures[0]),
    }


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


def workload(settings: Settings) -> Workload:
    """Return how much work a unit is: as many trainings as the slowest cell takes, of all that are still at it."""
    size = task_size(settings["task"])
    hidden = settings["hidden"]
    widths = [size.inputs, *hidden, size.outputs]
    edges = sum(before * after for before, after in pairwise(widths))
    by_units = _rounds(settings["unit_steps"], share=0.8, smallest=1 / sum(hidden))
    by_edges = _rounds(settings["edge_steps"], share=0.2 if any(by_units) else 0.95, smallest=1 / edges)
    if max(hidden) > _WIDE and any(by_units):
        hidden = [round(_LEFT * units) for units in hidden]
    slowest, average = (1 + of(by_units) + of(by_edges) for of in (max, fmean))
    epochs = settings["epochs"]
    if isinstance(epochs, list):
        epochs = epochs[len(epochs) // 2]
    choices = len(list(choices_of(settings["choices"])))
    cells = len(settings["seeds"]) * len(by_units) * len(by_edges)
    return Workload(
        net=f"mlp:{'-'.join(map(str, hidden))},dropout=0,output_bias=true,init=kaiming-normal",
        input_shape=(size.inputs,),
        outputs=size.outputs,
        members=ceil(cells * average / slowest),
        steps=round(slowest * epochs * ceil(size.samples / settings["batch_size"])),
        batch_size=min(settings["batch_size"], size.samples),
        core_seconds=len(settings["seeds"]) * (0.02 * choices + size.inputs / 500),
    )


def _rounds(steps: list[float], share: float, smallest: float) -> list[float]:
    """Return for each first step how often a network trains in a phase that takes such a share of it away."""
    return [share / step + 2 * log2(max(step / smallest, 1)) + 1 for step in steps] or [0.0]


def label(settings: Settings) -> str:
    """Return which networks these are, and how they are trained."""
    hidden = "-".join(map(str, settings["hidden"]))
    pruned = " and ".join(kind for kind in ("units", "edges") if settings[f"{kind[:-1]}_steps"]) or "nothing"
    return (
        f"{task_name(settings['task'])}, hidden {hidden}, lr {settings['lr']:g}, batches of {settings['batch_size']}, "
        f"{pruned} pruned, seeds {', '.join(map(str, settings['seeds']))}"
    )


WORK = Work(run, workload, label)
