"""Task networks: perceptrons trained for several Boolean tasks, each in a part of its own, or with one part for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor, nn

from ..data.boolean import BooleanTask, boolean_task
from ..errors import SpecError, unknown_name
from ..graph.graph import Indices
from ..population import Adam, Population
from .known import KnownNetwork

Parts: TypeAlias = Literal["separate", "shared"]

_OWN_INPUTS = 3
_FORMULAS = (
    ("({0} ^ {1}) | {2}", "{0} & ({1} ^ {2})"),
    ("({0} & {1}) ^ {2}", "{0} ^ {1} ^ {2}"),
    ("({0} | {1}) & ~{2}", "({0} & {2}) ^ {1}"),
    ("({0} & {1}) | ({1} & {2}) | ({0} & {2})", "~{0} ^ {2}"),
)
"""Two outputs of three bits for each task; of a shared part's result in place of the third."""


def task_networks(
    parts: Parts = "separate",
    seeds: Sequence[int] = (0,),
    *,
    tasks: int = 3,
    units: int = 8,
    strength: float = 1.0,
    epochs: int = 300,
) -> list[KnownNetwork]:
    """Return networks trained for some Boolean tasks at once, in parts that are known.

    A network has two hidden layers. While it trains, only weights within a part, and from the shared part to the
    others, are other than 0. All networks train together. What reads a shared part is harder to learn: some outputs
    stay at 3/4 or 7/8 right.

    Parameters
    ----------
    parts : {"separate", "shared"}
        Each task has inputs, units and outputs of its own. Or one more part computes the exclusive or of two inputs
        that no task sees, in the first hidden layer, and all tasks read it.
    seeds : sequence of int
        A network for each: its first weights, and the noise between parts.
    tasks : int
        How many, from 2 to 4.
    units : int
        Of a part in a hidden layer.
    strength : float
        After training, noise comes between parts: its standard deviation is ``1 - strength`` times that of the weights
        within them. Shared inputs are between parts, too.
    epochs : int
        Passes over the truth table.

    Examples
    --------
    >>> (known,) = task_networks(tasks=2, units=4, epochs=1)
    >>> known.network(torch.zeros(1, 6)).shape, known.modules
    (torch.Size([1, 4]), ('task 1', 'task 2'))
    """
    if parts not in get_args(Parts):
        raise unknown_name("parts", parts, get_args(Parts))
    if not 2 <= tasks <= len(_FORMULAS):
        raise SpecError(f"there are from 2 to {len(_FORMULAS)} tasks for one network; got {tasks}")
    if not 0 <= strength <= 1:
        raise SpecError(f"strength is from 0 to 1; got {strength}")
    task = joint_task(parts, tasks)
    owners = _owners(parts, tasks, units)
    sizes = [len(layer) for layer in owners.values()]
    allowed = {
        f"{2 * number}.weight": _allowed(after, before, tasks)
        for number, (before, after) in enumerate(
            zip(list(owners.values())[:-1], list(owners.values())[1:], strict=True)
        )
    }
    population = Population(lambda: _perceptron(sizes), list(seeds), device="cpu").set_masks(allowed)
    population.fit(task.dataset(), epochs=epochs, batch_size=64, optimizer=Adam(lr=0.01), progress=False)
    names = tuple(f"task {number + 1}" for number in range(tasks)) + (
        ("shared",) if parts == "shared" else ()
    )
    wires = frozenset((tasks, number) for number in range(tasks)) if parts == "shared" else frozenset()
    found = []
    for place, seed in enumerate(seeds):
        network = population.member(place)
        assert isinstance(network, nn.Sequential)
        _add_noise_(network, allowed, 1 - strength, np.random.default_rng((seed, 11)))
        found.append(KnownNetwork(network, task.x, names, owners, ("input", "4"), wires))
    return found


def joint_task(parts: Parts, tasks: int) -> BooleanTask:
    """Return what networks are trained for: inputs of the tasks in turn, then those of the shared part.

    Examples
    --------
    >>> joint_task("shared", 2)
    BooleanTask('formulas', inputs=6, outputs=4, gates=21)
    """
    own = _OWN_INPUTS - (parts == "shared")
    formulas = []
    for task in range(tasks):
        bits = [f"x{task * own + bit + 1}" for bit in range(own)] + ["both"] * (parts == "shared")
        formulas += [
            f"y{2 * task + number + 1} = {formula.format(*bits)}"
            for number, formula in enumerate(_FORMULAS[task])
        ]
    if parts == "shared":
        formulas.append(f"both = x{tasks * own + 1} ^ x{tasks * own + 2}")
    return boolean_task(*formulas)


def _owners(parts: Parts, tasks: int, units: int) -> dict[str, Indices]:
    """Return the part of each unit by layer; that of the shared part comes last, and is done in one layer."""
    each, shared = np.arange(tasks), np.full(units if parts == "shared" else 0, tasks)
    own = _OWN_INPUTS - (parts == "shared")
    return {
        "input": np.concatenate([np.repeat(each, own), shared[:2]]),
        "0": np.concatenate([np.repeat(each, units), shared]),
        "2": np.repeat(each, units),
        "4": np.repeat(each, 2),
    }


def _allowed(after: Indices, before: Indices, tasks: int) -> Tensor:
    """Return where weights may be: within a part, and from the shared one (the last) to all that come after."""
    within = after[:, None] == before
    return torch.from_numpy(within | ((before == tasks) & (after[:, None] < tasks) & (tasks not in after)))


def _perceptron(sizes: Sequence[int]) -> nn.Sequential:
    inputs, first, second, outputs = sizes
    return nn.Sequential(
        nn.Linear(inputs, first), nn.ReLU(), nn.Linear(first, second), nn.ReLU(), nn.Linear(second, outputs)
    )


@torch.no_grad()
def _add_noise_(
    network: nn.Sequential, allowed: dict[str, Tensor], share: float, rng: np.random.Generator
) -> None:
    for name, weight in network.named_parameters():
        if name in allowed:
            within = allowed[name]
            noise = torch.from_numpy(rng.normal(0, share * float(weight[within].std()), tuple(weight.shape)))
            weight[~within] = noise.to(weight)[~within]
