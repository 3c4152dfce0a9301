"""How long it takes to add ten specialists in slots and to evaluate their sum on the test split of digits.

Run ``python bench/specialists.py``. Every call adds anew; the time is that of the processor, on one thread, and the
median of many calls, so that other programs on the machine disturb it little. Beside it stands the time of a plain
torch network of the same weights on the same samples, measured in turns with it: what no evaluation can do without.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import nn

import dovetail as dt
from dovetail.specialists import Part, Team

NETS = ("mlp:500", "mlp:512")
CALLS = 200


def main() -> None:
    """Print a line for each network."""
    torch.set_num_threads(1)
    data = dt.load("digits")
    for net in NETS:
        team = dt.train_specialists(data, net, slots=True, epochs=1, progress=False, device="cpu")
        network = total(team).module()
        evaluated, plain = medians(partial(evaluate, team, data), partial(forward, network, data))
        print(
            f"sum(team).evaluate, ten of {net}: {evaluated:.2f} ms, {evaluated / plain:.1f} times the {plain:.2f} ms "
            "of a plain torch forward"
        )


def evaluate(team: Team, data: dt.Dataset) -> None:
    """Add the specialists and measure what they know."""
    total(team).evaluate(data.test, device="cpu")


@torch.no_grad()
def forward(network: nn.Module, data: dt.Dataset) -> None:
    """Run a network on the same samples."""
    network(data.test.x)


def total(team: Team) -> Part:
    """Return the sum of all specialists."""
    parts: list[Part] = list(team)
    return sum(parts[1:], start=parts[0])


def medians(*functions: Callable[[], object]) -> list[float]:
    """Return the median processor time of each function, in milliseconds."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(CALLS):
        for function, own in zip(functions, times, strict=True):
            begun = time.process_time()
            function()
            own.append(time.process_time() - begun)
    return [1000 * statistics.median(own) for own in times]


if __name__ == "__main__":
    main()
