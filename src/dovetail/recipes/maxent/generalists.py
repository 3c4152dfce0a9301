"""Generalists: networks that learn all classes in the ordinary way, the yardstick for composites."""

from __future__ import annotations

import math

import torch

from ...nets import net_builder
from ...population import Adam, Population
from ..data import DATA_SIZES, load_named
from ..unit import Row, Settings, plain_numbers
from ..works import Work, Workload


def run(settings: Settings, device: torch.device) -> Row:
    """Train generalists of all seeds together, keep the best epoch of each, and return what they score."""
    data = load_named(settings["data"])
    build = net_builder(settings["net"], data.input_shape, data.outputs)
    population = Population(build, settings["seeds"], device=device)
    population.fit(
        data,
        epochs=settings["epochs"],
        batch_size=settings["batch_size"],
        optimizer=Adam(lr=settings["lr"]),
        monitor=settings["monitor"],
        patience=settings["patience"],
        progress=False,
    )
    return {"accuracy": plain_numbers(population.evaluate(data.test)["accuracy"].tolist())}


def workload(settings: Settings) -> Workload:
    """Return how much work they are."""
    data = DATA_SIZES[settings["data"]["name"]]
    return Workload(
        net=settings["net"],
        input_shape=data.input_shape,
        outputs=data.outputs,
        members=len(settings["seeds"]),
        steps=settings["epochs"] * math.ceil(data.training / settings["batch_size"]),
        batch_size=settings["batch_size"],
        core_seconds=1.0,
    )


def label(settings: Settings) -> str:
    """Return which generalists these are."""
    return f"{settings['data']['name']}, {settings['net']}, generalists"


WORK = Work(run, workload, label)
