"""Of all cells of a grid, the sparsest network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from ..nets import NetBuilder
from .pruning.grid import Cells
from .pruning.perceptrons import Perceptrons
from .pruning.problem import Problem
from .sculpture import Sculpture


def sparsest(edges: Sequence[int], losses: Sequence[float]) -> tuple[int, int]:
    """Return the place of the network with the fewest edges, and how many have as few.

    Among those the one with the lowest loss is taken, then the first: a rule that knows nothing of modules.

    Examples
    --------
    >>> sparsest([3, 2, 2], [0.0, 0.2, 0.1])
    (2, 2)
    """
    place = min(range(len(edges)), key=lambda place: (edges[place], losses[place], place))
    return place, list(edges).count(edges[place])


def make_sculpture(
    cells: Cells,
    place: int,
    problem: Problem,
    seeds: Sequence[int],
    build: NetBuilder,
    steps: Sequence[Sequence[float]],
    detection: tuple[float, float],
) -> Sculpture:
    """Return what one seed's cells come to.

    ``steps`` are those for units and for edges, ``detection`` the thresholds of `detect_modules`.
    """
    unit_steps, edge_steps = steps
    threshold = 1 - cells.allowed[place] / problem.answers if problem.threshold is None else problem.threshold
    sculpture = partial(
        Sculpture, task=problem.name, seed=seeds[place], threshold=threshold, modularity_threshold=detection[0],
        merge_threshold=detection[1], image_shape=problem.image_shape, output_names=problem.output_names,
    )  # fmt: skip
    if place not in cells.learned:
        network, masks = _network(build, cells.dense, place)
        accuracy = 1 - cells.wrong[place] / problem.answers
        return sculpture(
            network=network, masks=masks, outcome="not learned", accuracy=accuracy, history=(), tied=0
        )
    shape = (max(1, len(unit_steps)), max(1, len(edge_steps)))
    size = shape[0] * shape[1]
    first = cells.learned.index(place) * size
    own = cells.networks.select(torch.arange(first, first + size, device=cells.networks.values.device))
    histories = cells.steps[first : first + size]
    ends = [accepted[-1] for accepted in histories]
    edges = [end.edges for end in ends]
    chosen, tied = sparsest(edges, [end.loss for end in ends])
    network, masks = _network(build, own, chosen)
    history = tuple(histories[chosen])
    unit_place, edge_place = divmod(chosen, shape[1])
    return sculpture(
        network=network, masks=masks, outcome="sculpted" if history[-1].edges < history[0].edges else "unpruned",
        accuracy=1 - history[-1].wrong / problem.answers, history=history, tied=tied,
        grid=torch.tensor(edges).view(shape), unit_step=unit_steps[unit_place] if unit_steps else None,
        edge_step=edge_steps[edge_place] if edge_steps else None,
    )  # fmt: skip


def _network(build: NetBuilder, stack: Perceptrons, place: int) -> tuple[nn.Module, dict[str, Tensor]]:
    """Return one member as an ordinary network, and its masks by the names of its parameters."""
    network = build().eval()
    masks: dict[str, Tensor] = {}
    names = [
        name.removesuffix(".weight") for name, _ in network.named_parameters() if name.endswith(".weight")
    ]
    state: dict[str, Tensor] = {}
    for rows, into in ((stack.values, state), (stack.kept, masks)):
        one = rows[place : place + 1]
        for name, weight, bias in zip(names, stack.weights(one), stack.biases(one), strict=True):
            into[f"{name}.weight"], into[f"{name}.bias"] = weight[0].cpu().clone(), bias[0].cpu().clone()
    network.load_state_dict(state)
    return network, masks
