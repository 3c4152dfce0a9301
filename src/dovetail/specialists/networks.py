"""From weights to networks: one to use, or many at once to measure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import torch
from torch import Tensor, nn

from ..data.dataset import Split, is_finite
from ..errors import DataError, ShapeError
from ..population import Population
from ..population.checks import check_device, check_split
from .basis import Basis
from .merge import mix_logits
from .packed import State
from .part import Part
from .score import Score, score_logits

_STACK_BYTES = {"cpu": 64 * 2**20, "cuda": 2 * 2**30}
"""How much the weights of networks that are measured together may take; with copies, five times as much."""


class Tempered(nn.Module):
    """A network whose logits are divided by a temperature."""

    def __init__(self, network: nn.Module, temperature: float) -> None:
        super().__init__()
        self.network = network
        self.temperature = temperature
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        """Return logits over the temperature."""
        logits: Tensor = self.network(x)
        return logits / self.temperature


class LogitAverage(nn.Module):
    """Networks whose logits are averaged with given weights."""

    def __init__(self, networks: Iterable[nn.Module], weights: Sequence[float], temperature: float) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.weights = tuple(weights)
        self.temperature = temperature
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        """Return the averaged logits over the temperature."""
        logits = torch.stack([network(x) for network in self.networks])
        return mix_logits(logits, self.weights) / self.temperature


def network_of(basis: Basis, state: Mapping[str, Tensor] | None) -> nn.Module:
    """Return a network with these weights in evaluation mode; without weights, only its shapes."""
    with torch.device("meta"):
        network = basis.builder()
    if state is not None:
        network.load_state_dict(state, assign=True)
    return network.eval()


def stacked(
    basis: Basis, states: Sequence[Mapping[str, Tensor]], device: torch.device | str | None
) -> Population:
    """Return a population of networks with these weights."""
    population = Population(basis.builder, seeds=[0] * len(states), device=device)
    return population.start_from({name: torch.stack([s[name] for s in states]) for name in states[0]})


def outputs_of(parts: Sequence[Part], x: Tensor, *, device: torch.device | str | None = None) -> Tensor:
    """Return the tempered logits of many parts for the same inputs, ``[parts, samples, classes]``.

    Parts of one architecture run together, as many at once as memory holds well.
    """
    results: list[Tensor] = []
    for basis, group in groupby(parts, key=lambda part: part.basis):
        check_inputs(basis, x)
        for chunk in _chunks(list(group), device):
            logits = stacked(basis, [state for _, states in chunk for state in states], device)(x)
            counts = [len(states) for _, states in chunk]
            for (weights, _), mine in zip(chunk, logits.split(counts), strict=True):
                results.append(
                    (mine[0] if weights is None else mix_logits(mine, weights)) / basis.temperature
                )
    return torch.stack(results)


def evaluate_all(
    parts: Sequence[Part], split: Split, *, device: torch.device | str | None = None
) -> list[Score]:
    """Measure many specialists and composites on a split, together.

    Parameters
    ----------
    parts : sequence of Part
        What to measure; all for the same classes.
    split : Split
        Samples with class ids.
    device : str or torch.device, optional
        Where to; the first GPU if there is one.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:32", [0, 1], epochs=2, progress=False)
    >>> [score.rewarded for score in evaluate_all([*team, team[0] + team[1]], data.test)]
    [(0,), (1,), (0, 1)]
    """
    if not parts:
        return []
    classes = parts[0].classes
    for part in parts:
        if part.classes != classes:
            raise ShapeError(f"{part!r} has other classes than {parts[0]!r}; measure them apart")
    if check_split(split, "given").y.is_floating_point() or split.y.dim() != 1:
        raise DataError("specialists are measured on class ids, one per sample; this split has other targets")
    if int(split.y.min()) < 0 or int(split.y.max()) >= len(classes):
        raise DataError(
            f"class ids {int(split.y.min())} to {int(split.y.max())} in the split, "
            f"but {parts[0]!r} has {len(classes)} classes"
        )
    logits = outputs_of(parts, split.x, device=device)
    return score_logits(logits, split.y.to(logits.device), [part.rewarded for part in parts], classes)


Ingredients = tuple[tuple[float, ...] | None, list[State]]
"""A part as networks: one, or several with the weights of their logits."""


def _ingredients(part: Part) -> Ingredients:
    from .composite import Composite

    if isinstance(part, Composite) and part.method == "logits":
        return part.shares, [member.state for member in part.specialists]
    return None, [part.state_dict()]


def _chunks(parts: list[Part], device: torch.device | str | None) -> Iterator[list[Ingredients]]:
    """Yield parts as networks, in lists whose weights take no more than a bounded amount of memory."""
    limit = _STACK_BYTES.get(check_device(device).type, _STACK_BYTES["cpu"])
    chunk: list[Ingredients] = []
    size = 0
    for part in parts:
        made = _ingredients(part)
        size_of_one = sum(t.numel() * t.element_size() for state in made[1] for t in state.values())
        if chunk and size + size_of_one > limit:
            yield chunk
            chunk, size = [], 0
        chunk.append(made)
        size += size_of_one
    yield chunk


def check_inputs(basis: Basis, x: object) -> Tensor:
    """Refuse what is no batch of inputs for a network."""
    if not isinstance(x, Tensor):
        raise DataError(f"inputs are a tensor of samples, not {type(x).__name__}; use torch.as_tensor")
    if not x.dim() or tuple(x.shape[1:]) != basis.input_shape:
        raise ShapeError(f"{basis.net} takes samples of shape {basis.input_shape}, not {tuple(x.shape[1:])}")
    if not len(x) or not is_finite(x):
        raise DataError(
            "inputs hold no sample" if not len(x) else "inputs hold NaN or infinity; clean them first"
        )
    return x


def batched(network: nn.Module, x: Tensor, *, batch_size: int = 1024) -> Tensor:
    """Return a network's outputs, computed batch by batch."""
    with torch.no_grad():
        return torch.cat([network(batch) for batch in x.split(batch_size)])
