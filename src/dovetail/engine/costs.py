"""Costs of units, in seconds and bytes on a CPU core or a GPU; and the plan of a run: what it will take beforehand.

One place for these numbers, used to order units, to say how much time is left, and for ``--dry-run``. How many
networks of a unit train at once is decided by `dovetail.population.memory` on the device itself; a unit never has to be
cut for want of memory.

The numbers behind it (docs/performance.md). A step of a population costs what starting its kernels costs, plus, for
each network, a multiple of its floor: the larger of the bytes that must move at the device's bandwidth and the
operations that must be done at its rate. The multiples are measured: dense networks 1.7 and convolutional ones 1.5
times the floor on an H200, a VGG-16 that trains alone .6 times (its convolutions run in TF32, beyond the rate of
float32); on one core of a CPU, where bytes stay in caches, 1.2 times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..recipes import Unit, Workload, find_recipe, find_work
from ..recipes.recipe import Scale, check_scale
from ..result import Result, plain
from . import results_file
from .run_folder import check_folder_is, default_folder, units_beside

if TYPE_CHECKING:
    import pandas as pd
    from torch import nn


@dataclass(frozen=True)
class _Speed:
    """What a device does in a second, and what a step costs before the first network."""

    bandwidth: float
    rate: float
    start: float
    dense: float
    convolutional: float
    lone_operations: float


_SPEEDS = {
    "cuda": _Speed(
        bandwidth=4.1e12, rate=50e12, start=120e-6, dense=1.7, convolutional=1.5, lone_operations=0.6
    ),
    "cpu": _Speed(
        bandwidth=18e9, rate=0.07e12, start=200e-6, dense=1.2, convolutional=1.2, lone_operations=1.2
    ),
}
_SETTLING = 3.0
"""Seconds that any unit takes: reading data, tracing, capturing."""


def unit_seconds(unit: Unit, device: str) -> float:
    """Return the seconds that a unit should take on one core (``"cpu"``) or one GPU (``"cuda"``)."""
    return workload_seconds(find_work(unit.work).workload(unit.settings), device)


def unit_bytes(unit: Unit) -> int:
    """Return the bytes that a unit should need on a device if all of its networks train at once."""
    amount = find_work(unit.work).workload(unit.settings)
    return (
        amount.members
        * _network(amount.net, amount.input_shape, amount.outputs, max(amount.batch_size, 2)).memory
        if amount.net
        else 0
    )


def workload_seconds(amount: Workload, device: str) -> float:
    """Return the seconds that so much work should take.

    Examples
    --------
    >>> dense = Workload("mlp:512", (784,), 10, members=50, steps=30_000, batch_size=64)
    >>> workload_seconds(dense, "cuda") < workload_seconds(dense, "cpu") / 50
    True
    """
    seconds = _SETTLING + amount.core_seconds
    if amount.net:
        speed = _SPEEDS[device]
        network = _network(amount.net, amount.input_shape, amount.outputs, amount.batch_size)
        multiple = speed.convolutional if network.convolutional else speed.dense
        of_operations = speed.lone_operations if network.convolutional and amount.members == 1 else multiple
        each = max(
            multiple * network.moved / speed.bandwidth, of_operations * network.operations / speed.rate
        )
        seconds += amount.steps * (speed.start + amount.members * each)
    return seconds


def makespan(seconds: Iterable[float], places: int) -> float:
    """Return how long units take side by side, the longest begun first.

    Examples
    --------
    >>> makespan([3.0, 2.0, 2.0], 2)
    4.0
    """
    ends = [0.0] * places
    for each in sorted(seconds, reverse=True):
        ends[ends.index(min(ends))] += each
    return max(ends)


@dataclass(frozen=True)
class _NetworkCost:
    """One step of one network: bytes moved, operations done, memory held."""

    moved: int
    operations: int
    memory: int
    convolutional: bool


@lru_cache(maxsize=256)
def _network(spec: str, input_shape: tuple[int, ...], outputs: int, batch_size: int) -> _NetworkCost:
    import torch
    from torch import nn
    from torch.utils.flop_counter import FlopCounterMode

    from ..nets import build_net
    from ..population.memory import measure_cost

    network = build_net(spec, input_shape, outputs).train()
    cost = measure_cost(network, torch.zeros(1, *input_shape))
    with FlopCounterMode(display=False) as counter:
        network(torch.zeros(2, *input_shape)).sum().backward()
    # Weights are read forward and backward and their gradient is written; Adam reads four tensors and writes three.
    # What a layer puts out is written and read, forward and backward; autograd keeps about half of that.
    moved = cost.params * 10 + 4 * (cost.sample - _never_written(network, input_shape)) * batch_size
    return _NetworkCost(
        moved=moved,
        operations=counter.get_total_flops() * batch_size // 2,
        memory=cost.training(batch_size, 2),
        convolutional=any(isinstance(module, nn.Conv2d) for module in network.modules()),
    )


def _never_written(network: nn.Module, input_shape: tuple[int, ...]) -> int:
    """Return the bytes a sample of a first convolution that is pooled in the same kernel (`population.conv_pool`)."""
    import torch
    from torch import nn

    first = [module for module in network.modules() if not list(module.children())][:2]
    if not (len(first) == 2 and isinstance(first[0], nn.Conv2d) and isinstance(first[1], nn.MaxPool2d)):
        return 0
    return 4 * int(first[0](torch.zeros(1, *input_shape)).numel())


@dataclass(frozen=True)
class PlannedUnit:
    """A unit and what it should cost.

    Attributes
    ----------
    unit : Unit
        What is to be done.
    cpu_seconds, gpu_seconds : float
        On one core, or on one GPU of the kind that was measured (H200).
    memory : int
        Bytes, if all of its networks train at once; they train in parts where that is too much.
    done : bool
        Whether the run folder has it already.
    """

    unit: Unit
    cpu_seconds: float
    gpu_seconds: float
    memory: int
    done: bool


@dataclass(frozen=True)
class Plan(Result):
    """The units of a recipe and what they should cost.

    Attributes
    ----------
    units : sequence of PlannedUnit
        All units.
    """

    units: Sequence[PlannedUnit]

    def seconds(self, places: int, device: str) -> float:
        """Return how long what is missing takes on a number of GPUs (``"cuda"``) or cores (``"cpu"``)."""
        return makespan(
            (one.gpu_seconds if device == "cuda" else one.cpu_seconds for one in self.units if not one.done),
            places,
        )

    def to_dict(self) -> dict[str, object]:
        """Return what `to_frame` shows as plain values, ready for JSON."""
        return {"units": plain(self.to_frame().to_dict("records"))}

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each unit: what it is, and its cost."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "unit": one.unit.label,
                    "GPU seconds": round(one.gpu_seconds, 1),
                    "core seconds": round(one.cpu_seconds, 1),
                    "memory MiB": round(one.memory / 2**20),
                    "done": one.done,
                }
                for one in self.units
            ]
        )


def plan(name: str, scale: Scale = "smoke", folder: str | Path | None = None) -> Plan:
    """Return what a recipe will take, without doing any of it.

    Parameters
    ----------
    name : str
        The recipe.
    scale : {"smoke", "paper"}
        In which size.
    folder : path, optional
        The run's folder; units that it has, or runs beside it, count as done.

    Examples
    --------
    >>> found = plan("k", "paper")
    >>> found.seconds(8, "cuda") <= found.seconds(1, "cuda")
    True
    """
    recipe = find_recipe(name)
    check_scale(scale)
    where = default_folder(recipe, scale) if folder is None else Path(folder)
    check_folder_is(where, recipe, scale)
    done = results_file.read_results(where / results_file.NAME).keys() | units_beside(where).keys()
    return Plan(
        [
            PlannedUnit(
                unit,
                unit_seconds(unit, "cpu"),
                unit_seconds(unit, "cuda"),
                unit_bytes(unit),
                unit.key in done,
            )
            for unit in dict.fromkeys(recipe.units(scale))
        ]
    )
