"""Connectivity: the loss along the paper's path, from one specialist over their sum to the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from ..data.split import Split
from ..errors import SpecError
from ..population import recompute_batch_norm
from ..population.checks import check_device, check_split
from ..result import Result, plain
from .blueprint import State
from .class_sets import one_hot_sets
from .composite import Composite
from .evaluate import run_network
from .fitting import check_fit
from .objectives import max_entropy
from .part import Part
from .plots import plot_connectivity

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Connectivity(Result):
    """Loss along γ(t): θ₁ + 2t θ₂ up to t = ½, then 2(1 - t) θ₁ + θ₂.

    Attributes
    ----------
    first, second : str
        What the two ends know.
    t : Tensor
        Points on the path; ½, the sum, ends the first segment and starts the second.
    loss : Tensor
        Max-entropy loss over the classes of both.
    relative : Tensor
        Percent by which the loss exceeds the straight line between the losses at the ends.
    tolerance : float
        Percent by which it may exceed it for the ends to count as connected.
    """

    tolerance: ClassVar[float] = 2.0

    first: str
    second: str
    t: Tensor
    loss: Tensor
    relative: Tensor

    @property
    def barrier(self) -> float:
        """The highest relative loss on the path, in percent."""
        return float(self.relative.max())

    @property
    def connected(self) -> bool:
        """Whether the loss never exceeds the straight line by more than 2 %."""
        return self.barrier <= self.tolerance

    def __repr__(self) -> str:
        found = "connected" if self.connected else "not connected"
        return f"Connectivity({self.first} → {self.second}: {found}, barrier {self.barrier:.2f} %)"

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per point."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name).numpy() for name in ("t", "loss", "relative")})

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, ready for JSON."""
        return {**super().to_dict(), "barrier": plain(self.barrier), "connected": self.connected}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the relative loss along the path."""
        return plot_connectivity([self], ax)


def connectivity(
    ends: Sequence[Part],
    split: Split,
    *,
    points: int = 11,
    force: bool = False,
    device: torch.device | str | None = None,
) -> Connectivity:
    """Measure the loss on the path between two specialists that leads over their sum.

    Parameters
    ----------
    ends : sequence of Specialist or Composite
        The two ends of the path; composites by weights, not by logits.
    split : Split
        Samples to take the loss on; those of classes that neither end knows shall give the uniform distribution.
    points : int
        Points on each of the two segments, ends included.
    force : bool
        Also for ends that do not fit together.
    device : str or torch.device, optional
        Where to compute; the first GPU if there is one.

    Returns
    -------
    Connectivity
        ``.t``, ``.loss``, ``.relative``, ``.barrier``, ``.connected``

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> a, b = dt.train_specialists(data, "mlp:40", [3, 8], slots=True, epochs=5, progress=False)
    >>> dt.connectivity([a, b], data.test).t[[0, 10, 11, 21]]
    tensor([0.0000, 0.5000, 0.5000, 1.0000], dtype=torch.float64)
    """
    if points < 2:
        raise SpecError(f"a segment has two points or more; got {points}")
    if isinstance(ends, Part) or len(ends) != 2:
        raise SpecError(
            f"a path has two ends: connectivity([first, second], split); got {ends!r:.80}. For the steps of a longer "
            "merge use incremental_connectivity"
        )
    first, second = ends
    for part in (first, second):
        if not part.specialists:
            raise SpecError(f"{part!r} is not trained, and has no weights to walk along")
    check_fit([*first.specialists, *second.specialists], force=force)
    for part in (first, second):
        if isinstance(part, Composite) and part.method == "logits":
            raise SpecError(
                f"{part!r} is several networks, and has no weights to walk along; compose it by sum"
            )
    check_split(split, "given")
    place, blueprint = check_device(device), first.specialists[0].blueprint
    x, y = blueprint.check_inputs(split.x).to(place), split.y.to(place)
    rewarded = one_hot_sets([tuple({*first.rewarded, *second.rewarded})], len(first.classes))[0].to(place)
    t, ours, theirs = path(points)
    a, b = first.state_dict(), second.state_dict()
    losses = []
    for u, v in zip(ours.tolist(), theirs.tolist(), strict=True):
        network = blueprint.network(_on_path(a, b, u, v)).to(place)
        recompute_batch_norm(network, x)  # leaves networks without batch norm as they are
        each = max_entropy(run_network(network, x), y, rewarded, blueprint.temperature)
        losses.append(each.double().mean())
    loss = torch.stack(losses).cpu()
    line = (1 - t) * loss[0] + t * loss[-1]
    # Where both are 0 nothing is exceeded, though 0 / 0 is NaN.
    relative = torch.where(loss == line, 0.0, 100 * (loss - line) / line)
    return Connectivity(first.knows, second.knows, t, loss, relative)


def incremental_connectivity(
    parts: Iterable[Part], split: Split, *, device: torch.device | str | None = None
) -> list[Connectivity]:
    """Return the connectivity of each step of a merge: what is merged so far, and the next specialist.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:40", [0, 1, 2], slots=True, epochs=2, progress=False)
    >>> [step.first for step in incremental_connectivity(team, data.test)]
    ['0', '0, 1']
    """
    merged, *rest = _at_least_two(parts)
    steps = []
    for part in rest:
        steps.append(connectivity([merged, part], split, device=device))
        merged = merged + part
    return steps


def _at_least_two(parts: Iterable[Part]) -> list[Part]:
    given = list(parts)
    if len(given) < 2:
        raise SpecError(f"a merge has steps when there are two specialists or more; got {len(given)}")
    return given


def path(points: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return t and the factors of both ends at the points of both segments.

    Examples
    --------
    >>> for row in path(2):
    ...     print(row.tolist())
    [0.0, 0.5, 0.5, 1.0]
    [1.0, 1.0, 1.0, 0.0]
    [0.0, 1.0, 1.0, 1.0]
    """
    rising = torch.linspace(0, 1, points, dtype=torch.float64)
    ones = torch.ones_like(rising)
    t = torch.cat([rising / 2, 0.5 + rising / 2])
    return t, torch.cat([ones, 1 - rising]), torch.cat([rising, ones])


def _on_path(first: State, second: State, ours: float, theirs: float) -> State:
    return {
        name: ours * tensor + theirs * second[name] if tensor.is_floating_point() else tensor
        for name, tensor in first.items()
    }
