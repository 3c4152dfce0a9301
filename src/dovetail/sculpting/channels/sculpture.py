"""A channel sculpture: what sculpting leaves of a network with convolutions, and how it came about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from ...markup import facts_html, text_html
from ...result import Result, plain
from ..drawing.draw import drawing_html
from ..modules.detect import detect_modules
from ..modules.hierarchy import Hierarchy
from ..sculpture import Outcome
from ..settings import ChannelSettings
from .search import PruningStep

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ChannelSculpture(Result):
    """A sculpted network whose units are channels of convolutions, and units of dense layers.

    Attributes
    ----------
    task : str
        What it was sculpted for.
    seed : int
        The seed of its weights, and of the order of its samples.
    network : nn.Module
        The network; pruned weights are 0.
    masks : dict of str to Tensor
        Which entries of its parameters are kept, bool, by name, of all that belong to units.
    connections : tuple of bool array
        Its edges between one layer and the next, ``[units, units before]``.
    outcome : {"sculpted", "unpruned", "not learned"}
        Whether anything could be pruned, or whether not even the dense network did the task (which is then what
        `network` is).
    accuracy : float
        On the validation split: share of bits or classes that it gets right; of values R², the share of their variance
        that it explains.
    threshold : float
        What it had to reach.
    history : tuple of PruningStep
        The accepted steps: the dense network, pruned units, pruned edges.
    unit_step, edge_step : float or None
        The first steps of the search that it comes from; None for a phase that was left out.
    tied : int
        How many searches ended with as few edges. Of those the one with the lowest loss on the validation split is
        taken, a rule that cannot know of modules.
    settings : ChannelSettings
        How it was made, and how its modules are detected.
    output_names : tuple of str or None
        What outputs are called, where they have names.
    """

    task: str
    seed: int
    network: nn.Module
    masks: dict[str, Tensor]
    connections: tuple[NDArray[np.bool_], ...]
    outcome: Outcome
    accuracy: float
    threshold: float
    history: tuple[PruningStep, ...]
    unit_step: float | None
    edge_step: float | None
    tied: int
    settings: ChannelSettings
    output_names: tuple[str, ...] | None

    @property
    def edges(self) -> int:
        """Edges that are left, also those that are on no path from an input to an output."""
        return int(sum(edges.sum() for edges in self.connections))

    @property
    def density(self) -> float:
        """Edges that are left, as a share of all there were."""
        return self.edges / sum(edges.size for edges in self.connections)

    @property
    def units(self) -> tuple[int, ...]:
        """Channels and units with edges in each layer, inputs first."""
        first, last = self.connections[0], self.connections[-1]
        hidden = [a.any(1) | b.any(0) for a, b in pairwise(self.connections)]
        return tuple(int(there.sum()) for there in (first.any(0), *hidden, last.any(1)))

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The modules of the network and how they feed one another."""
        found = detect_modules(
            self.connections,
            modularity_threshold=self.settings.modularity_threshold,
            merge_threshold=self.settings.merge_threshold,
        )
        return replace(found, output_names=self.output_names)

    def to_frame(self) -> pd.DataFrame:
        """Return its history as a table, with a row for each accepted step."""
        import pandas as pd

        return pd.DataFrame(
            [asdict(step) for step in self.history], columns=list(PruningStep.__annotations__)
        )

    def to_dict(self) -> dict[str, object]:
        """Return everything but weights as plain values, ready for JSON."""
        names = (
            "task", "seed", "outcome", "accuracy", "threshold", "units", "edges", "density", "unit_step", "edge_step",
            "tied", "output_names",
        )  # fmt: skip
        return {
            **{name: plain(getattr(self, name)) for name in names},
            "history": plain([asdict(step) for step in self.history]),
            "settings": self.settings.model_dump(mode="json"),
            "hierarchy": None if self.outcome == "not learned" else self.hierarchy.to_dict(),
        }

    def plot(self, **options: Any) -> Axes:
        """Draw the network, its units coloured by module; options are those of `draw_hierarchy`."""
        return self.hierarchy.plot(**options)

    def describe(self) -> str:
        """Return a few lines that say what it is and how it came about."""
        what = f"{self.task}, seed {self.seed}: {self.outcome}"
        reached = f"{self.accuracy:.2%} in validation, {self.threshold:.2%} asked"
        if self.outcome == "not learned":
            way_out = "train it longer (epochs), or ask for less (threshold)"
            return f"{what}\n  the dense network reaches {reached}: {way_out}"
        units = "-".join(map(str, self.units))
        lines = [
            what,
            f"  network    {units} channels and units, {self.edges} edges, density {self.density:.2%}",
            f"  accuracy   {reached}",
            *(f"  {line}" for line in self.hierarchy.describe().splitlines()),
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.describe()

    def _html_pieces(self) -> Iterable[str]:
        what, *lines = self.describe().splitlines()
        yield text_html(what)
        if self.outcome == "not learned":
            yield text_html("\n".join(lines))
            return
        facts = {"units": "-".join(map(str, self.units)), "edges": self.edges, "density": self.density}
        yield facts_html(facts | {"accuracy": self.accuracy, "modules": len(self.hierarchy.modules)})
        yield drawing_html(self.hierarchy)
