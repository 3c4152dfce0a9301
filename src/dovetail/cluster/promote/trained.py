"""What a training gives: the networks before and after pruning, and what they score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor, nn

from ...errors import TrainingError
from ...population import Population, Scores
from ...prune import density
from .gradual_pruning import kernels

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Stage:
    """All networks at one point of their training.

    Attributes
    ----------
    population : Population
        The networks.
    train, test : Scores
        What they score on the data they were trained on, and on the test split.
    """

    population: Population
    train: Scores
    test: Scores

    @property
    def sparsity(self) -> Tensor:
        """The share of weights that are exactly 0, biases not counted, ``[networks]``."""
        return 1 - density(kernels(self.population.params), population=True).cpu()


@dataclass(frozen=True, eq=False)
class TrainedNetworks:
    """Networks that `train_networks` trained together.

    Attributes
    ----------
    unpruned : Stage
        The networks as they were before pruning.
    pruned : Stage or None
        The same networks at the end; None without pruning epochs.
    seconds : float
        Wall-clock time of the training.
    """

    unpruned: Stage
    pruned: Stage | None
    seconds: float

    def __repr__(self) -> str:
        stages = [
            f"{name}: {' '.join(f'{what} {values.mean():.3f}' for what, values in stage.test.values.items())}"
            for name, stage in self.stages()
        ]
        return f"TrainedNetworks({len(self)} networks, on test data {'; '.join(stages)})"

    def __len__(self) -> int:
        """Return the number of networks."""
        return len(self.unpruned.population)

    def networks(self, pruned: bool = True) -> list[nn.Module]:
        """Return ordinary networks, in the order of their seeds: the pruned ones, or those before pruning."""
        stage = self.pruned if pruned else self.unpruned
        if stage is None:
            raise TrainingError("these networks were not pruned; ask for networks(pruned=False)")
        return [stage.population.member(place) for place in range(len(self))]

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each network and stage."""
        import pandas as pd

        return pd.concat(
            [_table(stage) for _, stage in self.stages()], keys=[name for name, _ in self.stages()]
        ).rename_axis(["stage", "network"])

    def stages(self) -> Iterator[tuple[str, Stage]]:
        """Yield the stages there are, with their names."""
        yield "unpruned", self.unpruned
        if self.pruned is not None:
            yield "pruned", self.pruned


def _table(stage: Stage) -> pd.DataFrame:
    import pandas as pd

    columns = {
        f"{split}_{what}": values.tolist()
        for split, scores in (("train", stage.train), ("test", stage.test))
        for what, values in scores.values.items()
    }
    return pd.DataFrame({"seed": stage.train.seeds, **columns, "sparsity": stage.sparsity.tolist()})
