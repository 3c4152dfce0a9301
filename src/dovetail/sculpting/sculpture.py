"""What is left of a network after sculpting, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from torch import Tensor, nn

from .modules.detect import detect_modules
from .modules.hierarchy import Hierarchy
from .pruning.search import Accepted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Outcome = Literal["sculpted", "unpruned", "not learned"]


@dataclass(frozen=True, eq=False, repr=False)
class Sculpture:
    """A sculpted network.

    Attributes
    ----------
    task : str
        What it was sculpted for.
    seed : int
        The seed of its weights, and of the order and noise of its samples.
    network : nn.Module
        The network; pruned weights are 0.
    masks : dict of str to Tensor
        Which of its parameters are kept, bool, by name.
    outcome : {"sculpted", "unpruned", "not learned"}
        Whether anything could be pruned, or whether not even the dense network did the task (which is then what
        `network` is).
    accuracy : float
        Share of bits (or classes) of the validation split that it gets right.
    threshold : float
        What it had to reach.
    history : tuple of Accepted
        The accepted steps: the dense network, pruned units, pruned edges.
    unit_step, edge_step : float or None
        The cell of the grid that it comes from; None for a phase that was left out.
    grid : Tensor or None
        How many edges each cell ended with, ``[unit steps, edge steps]``.
    tied : int
        How many cells ended with the fewest edges. Among them the one with the lowest loss on the validation split was
        taken, which cannot know of modules.
    modularity_threshold, merge_threshold : float
        How its modules are detected.
    image_shape : (int, int) or None
        Height and width where inputs are the pixels of a grey image, for pictures.
    output_names : tuple of str or None
        What outputs are called, where they have names.
    """

    task: str
    seed: int
    network: nn.Module
    masks: dict[str, Tensor]
    outcome: Outcome
    accuracy: float
    threshold: float
    history: tuple[Accepted, ...]
    unit_step: float | None = None
    edge_step: float | None = None
    grid: Tensor | None = None
    tied: int = 1
    modularity_threshold: float = -0.2
    merge_threshold: float = 0.9
    image_shape: tuple[int, int] | None = None
    output_names: tuple[str, ...] | None = None

    @property
    def widths(self) -> tuple[int, ...]:
        """Units of each layer, inputs first, as they were before pruning."""
        masks = self._edge_masks
        return (masks[0].shape[1], *(len(mask) for mask in masks))

    @property
    def edges(self) -> int:
        """Edges that are left, also those that are on no path from an input to an output."""
        return sum(int(mask.sum()) for mask in self._edge_masks)

    @property
    def density(self) -> float:
        """Edges that are left, as a share of all there were."""
        return self.edges / sum(mask.numel() for mask in self._edge_masks)

    @property
    def units(self) -> tuple[int, ...]:
        """Units with edges in each layer, inputs first."""
        masks = self._edge_masks
        there = [
            masks[0].any(0),
            *(a.any(1) | b.any(0) for a, b in pairwise(masks)),
            masks[-1].any(1),
        ]
        return tuple(int(units.sum()) for units in there)

    @property
    def _edge_masks(self) -> list[Tensor]:
        return [mask for mask in self.masks.values() if mask.dim() == 2]

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The modules of the network and how they feed one another."""
        return detect_modules(
            [mask.cpu() for mask in self._edge_masks],
            modularity_threshold=self.modularity_threshold,
            merge_threshold=self.merge_threshold,
        )

    def save(self, path: str | Path) -> Path:
        """Write the network and how it came about to a ``.safetensors`` file; `open_sculpture` reads it."""
        from .files import save_sculpture

        return save_sculpture(self, path)

    def plot(self, **options: object) -> Axes:
        """Draw the network, its units coloured by module; options are those of `draw_hierarchy`."""
        return self.hierarchy.plot(
            **{"image_shape": self.image_shape, "output_names": self.output_names, **options}
        )

    def plot_history(self, ax: Axes | None = None) -> Axes:
        """Draw the units and edges that were left after every accepted step."""
        from .history_plot import plot_history

        return plot_history(self, ax)

    def describe(self) -> str:
        """Return a few lines that say what it is and how it came about."""
        units = "-".join(map(str, self.units))
        lines = [f"{self.task}, seed {self.seed}: {self.outcome}"]
        if self.outcome == "not learned":
            short = (
                f"below {self.threshold:.2%}"
                if self.accuracy < self.threshold
                else "no more than a constant answer"
            )
            lines.append(
                f"  the dense network gets {self.accuracy:.2%} right, {short}: train it longer (epochs), or ask for "
                "less (threshold)"
            )
            return "\n".join(lines)
        network = f"{units} units, {self.edges} edges, density {self.density:.2%}"
        if not self.edges:
            network = "no edges are left: one answer that never changes does the task"
        lines.append(f"  network    {network}")
        lines.append(f"  accuracy   {self.accuracy:.2%} of validation, at least {self.threshold:.2%} asked")
        steps = [
            f"{what} {step:.1%}"
            for what, step in (("units", self.unit_step), ("edges", self.edge_step))
            if step is not None
        ]
        if self.grid is not None and steps:
            ties = f" with {self.tied - 1} others" if self.tied > 1 else ""
            lines.append(f"  cell       {', '.join(steps)}; the sparsest of {self.grid.numel()}{ties}")
        lines.append("  modules    " + self.hierarchy.describe().replace("\n", "\n             "))
        return "\n".join(lines)

    def __repr__(self) -> str:
        units = "-".join(map(str, self.units))
        return (
            f"Sculpture({self.task!r}, seed={self.seed}, {self.outcome}, units={units}, edges={self.edges})"
        )
