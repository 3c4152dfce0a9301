"""What a recipe is: a table or figure of a paper as something one can run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from ..errors import unknown_name
from .tables import Comparison, Table
from .unit import Finished, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["smoke", "paper"]
"""``"smoke"``: everything in small, on data that is always there, in seconds; ``"paper"``: as published."""

Paper = Literal["maxent", "sculpt", "cluster", "beyond"]

PAPERS: dict[Paper, str] = {
    "maxent": "Composable Sparse Subnetworks via Maximum-Entropy Principle",
    "sculpt": "Neural Sculpting",
    "cluster": "Clusterability in Neural Networks",
    "beyond": "Beyond the papers",
}
"""The papers by what they are called here, and what is in none of them."""


def check_scale(scale: str) -> None:
    """Refuse a scale that there is not."""
    if scale not in get_args(Scale):
        raise unknown_name("scale", scale, get_args(Scale))


def no_figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Return no figures, for recipes whose tables say all."""
    return ()


@dataclass(frozen=True)
class Recipe:
    """A table or figure of a paper.

    Attributes
    ----------
    name : str
        What it is called on the command line.
    paper : str
        Which paper it is of; ``"beyond"`` for what no paper has.
    title : str
        What is found out, in a few words.
    shows : str
        Which tables and figures of the paper.
    units : callable
        Takes the scale and returns all the work.
    tables : callable
        Takes what is finished, which may be less than all, and returns tables: ours beside the published.
    figures : callable
        Takes what is finished and returns names and figures.
    """

    name: str
    paper: Paper
    title: str
    shows: str
    units: Callable[[Scale], Sequence[Unit]]
    tables: Callable[[Sequence[Finished]], Sequence[Table | Comparison]]
    figures: Callable[[Sequence[Finished]], Iterable[tuple[str, Figure]]] = no_figures
