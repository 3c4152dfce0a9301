"""The merge curve: accuracy and entropy over the number of specialists merged, one after the other."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..data.split import Split
from ..errors import MisfitError, SpecError
from ..result import Result
from .composite import Composite, compose_quietly
from .evaluate import evaluate_all
from .merge import Method
from .plots import plot_merge_curve
from .specialist import Specialist

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class MergeCurve(Result):
    """Scores after each step of merges in several orders.

    Attributes
    ----------
    orders : tuple of tuple of str
        What was added at each step, for each run.
    seeds : tuple of int
        The seed of each run's specialists.
    accuracy, entropy : Tensor
        Rewarded accuracy, and entropy on other classes, ``[runs, steps]``; the entropy is NaN when all classes
        are rewarded.
    """

    orders: tuple[tuple[str, ...], ...]
    seeds: tuple[int, ...]
    accuracy: Tensor
    entropy: Tensor

    def __repr__(self) -> str:
        runs, steps = self.accuracy.shape
        first, last = (float(self.accuracy[:, step].mean()) for step in (0, -1))
        return f"MergeCurve({runs} runs of {steps} steps, accuracy {first:.3f} → {last:.3f})"

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per run and step."""
        import pandas as pd

        runs, steps = self.accuracy.shape
        return pd.DataFrame(
            {
                "run": [run for run in range(runs) for _ in range(steps)],
                "seed": [seed for seed in self.seeds for _ in range(steps)],
                "merged": list(range(1, steps + 1)) * runs,
                "added": [name for order in self.orders for name in order],
                "accuracy": self.accuracy.flatten().tolist(),
                "entropy": self.entropy.flatten().tolist(),
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw mean and spread of the accuracy over the number of specialists merged."""
        return plot_merge_curve({"": self}, ax)


def merge_curve(
    team: Sequence[Specialist],
    split: Split,
    *,
    orders: int = 10,
    method: Method = "sum",
    inputs: Tensor | None = None,
    seed: int = 0,
    device: torch.device | str | None = None,
) -> MergeCurve:
    """Merge a team step by step, in random orders, and measure every step.

    Parameters
    ----------
    team : sequence of Specialist
        Specialists that fit together; those of each seed are merged with each other.
    split : Split
        What to measure on.
    orders : int
        Random orders for each seed, the same for all.
    method, inputs
        As for `compose`.
    seed : int
        What the orders are drawn from.
    device : str or torch.device, optional
        Where to measure; the first GPU if there is one.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:40", [0, 1, 2], slots=True, epochs=5, progress=False)
    >>> merge_curve(team, data.test, orders=2).accuracy.shape
    torch.Size([2, 3])
    """
    if orders < 1 or not team:
        raise SpecError(
            f"a merge curve needs specialists and an order or more; got {len(team)} and orders={orders}"
        )
    by_seed = {
        number: [part for part in team if part.seed == number]
        for number in dict.fromkeys(p.seed for p in team)
    }
    sizes = {len(parts) for parts in by_seed.values()}
    if len(sizes) != 1:
        raise MisfitError(f"a merge curve needs as many specialists of each seed; got {sorted(sizes)}")
    chance = random.Random(seed)
    shuffles = [chance.sample(range(*sizes), *sizes) for _ in range(orders)]
    runs = [(number, [by_seed[number][place] for place in order]) for number in by_seed for order in shuffles]
    composites: dict[frozenset[Specialist], Composite] = {}
    steps = [[frozenset(parts[: step + 1]) for step in range(len(parts))] for _, parts in runs]
    for merged in (step for run in steps for step in run):
        if merged not in composites:  # in many orders the same ones come together
            composites[merged] = compose_quietly(list(merged), method, inputs=inputs)
    scores = dict(zip(composites, evaluate_all(list(composites.values()), split, device=device), strict=True))
    accuracy = [[scores[step].rewarded_accuracy for step in run] for run in steps]
    entropy = [[scores[step].entropy for step in run] for run in steps]
    return MergeCurve(
        tuple(tuple(part.knows for part in parts) for _, parts in runs),
        tuple(number for number, _ in runs),
        torch.tensor(accuracy, dtype=torch.float64),
        torch.tensor([[torch.nan if e is None else e for e in run] for run in entropy], dtype=torch.float64),
    )
