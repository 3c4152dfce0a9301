"""Sculpting networks with convolutions: prune channels and units, then the edges between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import torch
from torch import Tensor, nn

from ...data.dataset import Dataset
from ...nets import builder_of, net_of
from ...population import Adam, Population
from ...population.checks import check_device, check_seeds
from ...population.progress import ProgressBar
from ...precision import in_float32
from ..pruning.grid import cell_seeds
from ..sculpture import Outcome
from ..settings import WEIGHT_DECAY, ChannelSettings
from .sculpture import ChannelSculpture
from .search import Members, Phase, PruningStep, Training, search
from .units import UnitChain

_STREAMS = {"dense": 0, "units": 1_000, "edges": 2_000_000}
"""Where the random streams of each phase begin."""


@in_float32()
def sculpt_channels(
    data: Dataset,
    net: str | Callable[[], nn.Module] = "lenet:16-32",
    *,
    seed: int = 0,
    unit_steps: Sequence[float] | float = (0.1, 0.3, 0.5),
    edge_steps: Sequence[float] | float = (0.01, 0.03),
    threshold: float | None = None,
    epochs: int = 10,
    lr: float = 1e-3,
    batch_size: int = 64,
    weight_decay: float = WEIGHT_DECAY,
    modularity_threshold: float = -0.3,
    merge_threshold: float = 0.6,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> ChannelSculpture:
    """Prune a network with convolutions to the fewest channels, units and edges that still do a task.

    It is what `sculpt` does to perceptrons, with a channel as a unit, and all that leads from one unit to another as an
    edge: a kernel between two channels, or the weights from all places of a flattened channel. Units go by how much the
    loss hangs on them: the mean over samples of ``abs(∂L/∂a · a)``, summed over the places of a channel before the
    magnitude is taken. Edges go by their length, the root of their sum of squares.

    Parameters
    ----------
    data : Dataset
        Classes, bits or values.
    net : str or callable
        An architecture whose layers read one another in a row: a spec such as ``"lenet:16-32"``, ``"small-cnn"`` or
        ``"mlp:64"``, or a class or function that makes a network.
    seed : int
        Seed of the weights and of the order of samples.
    unit_steps, edge_steps : sequence of float
        Shares of hidden units and of edges to prune at first; every two of them are a search. An empty one leaves its
        phase out.
    threshold : float, optional
        Accuracy on the validation split from which on the task is done, of values the share of their variance that is
        explained (R²); by default that of the dense network.
    epochs, lr, batch_size, weight_decay : number
        Of every training.
    modularity_threshold, merge_threshold : float
        For `detect_modules`.
    device : torch.device or str, optional
        Where to compute; the first GPU if there is one.
    progress : bool
        Whether to show a progress bar (on terminals only).

    Returns
    -------
    ChannelSculpture
        The network, its edges, history and hierarchy of modules.

    Raises
    ------
    ShapeError
        For networks with shortcuts, branches or convolutions in groups.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> sculpture = dt.sculpt_channels(
    ...     data, "lenet:4-4", epochs=4, lr=0.02, unit_steps=[0.5], edge_steps=[], threshold=0.6, progress=False
    ... )
    >>> sculpture.outcome, sculpture.history[0].units, sculpture.accuracy >= 0.6
    ('sculpted', 8, True)
    """
    settings = ChannelSettings.from_arguments(locals())
    (seed,), device = check_seeds([seed]), check_device(device)
    data.check_trainable()
    build = builder_of(net_of(net), data.input_shape, data.outputs)
    training = Training(
        data, settings.epochs, settings.batch_size, Adam(lr=settings.lr, weight_decay=settings.weight_decay)
    )
    dense = Population(build, seeds=[seed], device=device)
    chain = UnitChain(dense.member(0), torch.zeros(1, *data.input_shape, device=device))
    kept = [torch.ones(1, *length.shape[1:], dtype=torch.bool) for length in chain.lengths(dense.params)]
    dense.set_masks(chain.masks(kept, dense.params))
    (accuracy,), (loss,) = (scores.tolist() for scores in training(dense, _STREAMS["dense"]))
    enough = accuracy if settings.threshold is None else settings.threshold
    members = Members(dense, kept, [[PruningStep("dense", 1, chain.hidden, chain.edges, accuracy, loss)]])
    phases: list[tuple[Phase, tuple[float, ...]]] = [
        ("units", settings.unit_steps),
        ("edges", settings.edge_steps),
    ]
    cells = list(product(*(steps or (None,) for _, steps in phases)))
    learned = accuracy >= enough and accuracy > constant_accuracy(data)
    total = max(1, len(settings.unit_steps)) * len(settings.edge_steps) + len(settings.unit_steps)
    with ProgressBar("sculpting", total, show=progress, unit="networks") as bar:
        for phase, steps in phases if learned else []:
            if phase == "dense" or not steps:
                continue
            forks = torch.arange(len(members.steps)).repeat_interleave(len(steps))
            own = torch.tensor(members.population.seeds)[forks]
            seeds = cell_seeds(own, torch.arange(len(steps)).repeat(len(members.steps)))
            members = members.forked(seeds.tolist(), forks)
            search(
                members, phase, list(steps) * (len(forks) // len(steps)), chain, training, enough,
                stream=_STREAMS[phase], on_round=bar.advance,
            )  # fmt: skip
    return _sparsest(members, cells, data, seed, settings, enough, learned=learned)


def _sparsest(
    members: Members,
    cells: Sequence[tuple[float | None, ...]],
    data: Dataset,
    seed: int,
    settings: ChannelSettings,
    enough: float,
    *,
    learned: bool,
) -> ChannelSculpture:
    """Return the network with the fewest edges; of those that tie the one with the lowest loss, then the first."""
    edges = members.edges_left().tolist()
    place = min(range(len(edges)), key=lambda n: (edges[n], members.steps[n][-1].loss, n))
    steps = tuple(members.steps[place])
    unit_step, edge_step = cells[place] if learned else (None, None)
    outcome: Outcome = (
        "not learned" if not learned else "sculpted" if steps[-1].edges < steps[0].edges else "unpruned"
    )
    return ChannelSculpture(
        task=data.name, seed=seed, network=members.population.member(place).cpu(),
        masks={name: mask[place].cpu().clone() for name, mask in members.population.masks.items()},
        connections=tuple(kept[place].numpy().copy() for kept in members.kept), outcome=outcome,
        accuracy=steps[-1].accuracy, threshold=enough, history=steps, unit_step=unit_step, edge_step=edge_step,
        tied=edges.count(edges[place]), settings=settings, output_names=tuple(data.classes) or None,
    )  # fmt: skip


def constant_accuracy(data: Dataset) -> float:
    """Return the accuracy on the validation split of the best answer that does not look at inputs.

    Examples
    --------
    >>> import dovetail as dt
    >>> round(constant_accuracy(dt.load("digits")), 3)
    0.101
    """
    y: Tensor = data.val.y
    if data.task == "classes":
        return int(y.bincount().max()) / len(y)
    if data.task == "bits":
        ones = (y > 0.5).double().mean(0)
        return float(torch.maximum(ones, 1 - ones).mean())
    return 0.0
