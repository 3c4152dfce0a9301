"""What became of a network without each of its clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..graph.graph import Floats, Indices

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


SCHEMA = "dovetail.lesions/1"


@dataclass(frozen=True, eq=False)
class Lesions:
    """Accuracy without each cluster, beside accuracy without random groups of the same make-up by layer.

    Made by `lesion`. A drop is the accuracy of the whole network less that of a network without some units.

    Attributes
    ----------
    accuracy : float
        Of the whole network.
    class_accuracy : float array
        The same for each class, ``[classes]``; NaN for a class without samples.
    layers : tuple of str
        The layers with units that can be ablated. Outputs of the network are not among them.
    units : int array
        How many units of each layer each cluster has, ``[clusters, layers]``.
    accuracies : float array
        Without each cluster, ``[clusters]``.
    random_accuracies : float array
        Without random groups that have as many units in every layer, ``[clusters, draws]``.
    class_accuracies, random_class_accuracies : float array
        The same for each class, ``[clusters, classes]``; of random groups the mean of all draws.
    samples : int
        How many samples the accuracies are measured on.
    seed : int
        What decided the random groups.
    """

    accuracy: float
    class_accuracy: Floats
    layers: tuple[str, ...]
    units: Indices
    accuracies: Floats
    random_accuracies: Floats
    class_accuracies: Floats
    random_class_accuracies: Floats
    samples: int
    seed: int

    @property
    def drops(self) -> Floats:
        """By how much accuracy falls without each cluster, ``[clusters]``."""
        return self.accuracy - self.accuracies

    @property
    def random_drops(self) -> Floats:
        """By how much it falls without random groups, ``[clusters, draws]``."""
        return self.accuracy - self.random_accuracies

    @property
    def class_drops(self) -> Floats:
        """By how much the accuracy on each class falls without each cluster, ``[clusters, classes]``."""
        return self.class_accuracy - self.class_accuracies

    @property
    def random_class_drops(self) -> Floats:
        """The same without random groups, mean of all draws, ``[clusters, classes]``."""
        return self.class_accuracy - self.random_class_accuracies

    @property
    def p_more(self) -> Floats:
        """Chance that a random group hurts at least as much as the cluster: small where the cluster matters more."""
        return self._share(self.random_accuracies <= self.accuracies[:, None])

    @property
    def p_less(self) -> Floats:
        """Chance that a random group hurts at most as much as the cluster: small where the cluster matters less."""
        return self._share(self.random_accuracies >= self.accuracies[:, None])

    def _share(self, such: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
        # The cluster counts as one of the draws, so that no chance is 0.
        share: Floats = (such.sum(1) + 1) / (such.shape[1] + 1)
        return share

    def __repr__(self) -> str:
        if not len(self.drops):
            return f"Lesions(no clusters, accuracy {self.accuracy:.4f})"
        worst = int(self.drops.argmax())
        beside = self.random_drops[worst]
        return (
            f"Lesions({len(self.drops)} clusters, accuracy {self.accuracy:.4f}; largest drop {self.drops[worst]:.4f} "
            f"without cluster {worst}, random groups {beside.mean():.4f} ± {beside.std():.4f}, "
            f"p = {self.p_more[worst]:.3g})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each cluster."""
        import pandas as pd

        return pd.DataFrame(
            {
                "units": self.units.sum(1),
                "accuracy": self.accuracies,
                "drop": self.drops,
                "random drop": self.random_drops.mean(1),
                "sd": self.random_drops.std(1),
                "p more": self.p_more,
                "p less": self.p_less,
            }
        ).rename_axis("cluster")

    def class_frame(self) -> pd.DataFrame:
        """Return the drop of every class without each cluster: a row for each cluster, a column for each class."""
        import pandas as pd

        return pd.DataFrame(self.class_drops).rename_axis(index="cluster", columns="class")

    def to_json(self) -> dict[str, object]:
        """Return everything as plain numbers and lists."""
        return {
            "schema": SCHEMA,
            "accuracy": self.accuracy,
            "class_accuracy": _plain(self.class_accuracy),
            "samples": self.samples,
            "seed": self.seed,
            "layers": list(self.layers),
            "clusters": [
                {
                    "cluster": number,
                    "units": self.units[number].tolist(),
                    "accuracy": float(self.accuracies[number]),
                    "drop": float(self.drops[number]),
                    "random_drops": self.random_drops[number].tolist(),
                    "p_more": float(self.p_more[number]),
                    "p_less": float(self.p_less[number]),
                    "class_drops": _plain(self.class_drops[number]),
                    "random_class_drops": _plain(self.random_class_drops[number]),
                }
                for number in range(len(self.drops))
            ],
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the drop without each cluster, and those without random groups beside it."""
        from .plots import draw_lesions

        return draw_lesions(self, ax)


def _plain(values: Floats) -> list[float | None]:
    """Return numbers for JSON, which has no NaN."""
    return [None if np.isnan(value) else float(value) for value in values]
