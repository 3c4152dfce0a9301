"""Sculpt networks for a task: prune units, then edges, as far as the task allows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import TypedDict, Unpack

import torch
from torch import Tensor, nn

from ..errors import SpecError, unknown_name
from ..nets import NetBuilder, NetSpec
from ..population import Adam
from ..population.checks import check_count, check_device, check_seeds
from .modules.detect import detect_modules
from .pruning.grid import Cells, SearchProgress, sculpt_cells
from .pruning.perceptrons import Perceptrons
from .pruning.problem import Problem, Task, problem_of
from .pruning.repeated_trainer import TrainingSettings
from .pruning.start import builder_of, fresh_networks, read_network
from .sculpture import Sculpture
from .settings import BOOLEAN_THRESHOLDS, DATA_THRESHOLDS, EDGE_STEPS, UNIT_STEPS, WEIGHT_DECAY, preset


class SculptOptions(TypedDict, total=False):
    """What `sculpt` and `sculpt_seeds` take besides the task, the network and the seeds."""

    unit_steps: Sequence[float]
    edge_steps: Sequence[float]
    threshold: float | None
    epochs: int | None
    lr: float | None
    batch_size: int | None
    noise: float | None
    weight_decay: float
    modularity_threshold: float | None
    merge_threshold: float | None
    network: nn.Module | None
    device: torch.device | str | None
    progress: bool


def sculpt(
    task: Task, hidden: Sequence[int] | str = (24,), *, seed: int = 0, **options: Unpack[SculptOptions]
) -> Sculpture:
    """Prune a network to the fewest units and edges that still do a task.

    The network is trained, then loses hidden units by how little the loss hangs on them until the task is no longer
    done; the step is halved down to a single unit. Then it loses edges by magnitude, down to a single edge. After every
    step it trains as long as the dense network did; a step is accepted if any epoch reaches the threshold, and the
    best epoch is kept. All combinations of first steps are tried, and the sparsest network is returned.

    Parameters
    ----------
    task : BooleanTask, Dataset, str, list of int, or truth table
        What the network is for: what `boolean_task` takes or makes, rows of 0/1 for all inputs, or a `Dataset` of
        classes or bits.
    hidden : sequence of int or str
        Units of the hidden layers, ``[24, 24]`` or ``"24-24"``.
    seed : int
        Seed of the weights and of the order and noise of samples.
    **options
        ``unit_steps``, ``edge_steps``: shares of units and of edges to prune at first; by default the paper's 14 and
        5. An empty one leaves its phase out.
        ``threshold``: accuracy on the validation split (of bits, or of classes) from which on the task is done. By
        default 1 for Boolean tasks, .99 and .98 for two-digits and digit-xor, else that of the dense network.
        ``epochs``, ``lr``, ``batch_size``: of every training; by default by task and depth.
        ``noise``: standard deviation of what is added to training inputs; by default .1 for Boolean tasks, else 0.
        ``weight_decay``: an L2 term on all weights and biases; 1e-4 by default.
        ``modularity_threshold``, ``merge_threshold``: for `detect_modules`.
        ``network``: a trained perceptron to start from, instead of a fresh one; ``hidden`` does not matter then.
        ``device``: where to compute; the first GPU if there is one.
        ``progress``: whether to show a progress bar (on terminals only).

    Returns
    -------
    Sculpture
        The network, its masks, density, history and hierarchy of modules. `Sculpture.outcome` says if nothing could be
        pruned, or if not even the dense network did the task.

    References
    ----------
    .. [1] Patil, Michael, Dovrolis, "Neural Sculpting: Uncovering hierarchically modular task structure in neural
       networks through pruning and network analysis", NeurIPS 2023, section 3 and appendix H.

    Examples
    --------
    >>> import dovetail as dt
    >>> sculpture = dt.sculpt([4, 2, 4], hidden=[24], seed=0, unit_steps=[0.5], edge_steps=[0.01], progress=False)
    >>> sculpture.outcome, sculpture.accuracy, sculpture.density < 0.2
    ('sculpted', 1.0, True)
    """
    return sculpt_seeds(task, hidden, [seed], **options)[0]


def sculpt_seeds(
    task: Task, hidden: Sequence[int] | str, seeds: Sequence[int], **options: Unpack[SculptOptions]
) -> list[Sculpture]:
    """Sculpt a network for each of several seeds, all of them in lockstep.

    Everything is as in `sculpt`, which does this for one seed.

    Examples
    --------
    >>> import dovetail as dt
    >>> from dovetail.sculpting import sculpt_seeds
    >>> sculptures = sculpt_seeds("y1 = x1 & x2", [4], seeds=[0, 1], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    >>> [sculpture.seed for sculpture in sculptures]
    [0, 1]
    """
    for name in options:
        if name not in SculptOptions.__annotations__:
            raise unknown_name("option", name, SculptOptions.__annotations__)
    seeds = check_seeds(seeds)
    device = check_device(options.get("device"))
    problem = _settled(problem_of(task), options)
    detection = _detection(problem, options)
    steps = [
        _steps(name, options.get(name, default))  # type: ignore[arg-type]
        for name, default in (("unit_steps", UNIT_STEPS), ("edge_steps", EDGE_STEPS))
    ]
    network = options.get("network")
    if network is None:
        build = builder_of([problem.inputs, *_widths(hidden), problem.outputs])
        stack = fresh_networks(build, seeds, problem, device)
    else:
        stack = read_network(network, problem).repeated(len(seeds)).to(device, problem.dtype)
        build = builder_of(stack.widths)
    how = _training_settings(problem, len(stack.widths) - 2, options)
    with SearchProgress(len(seeds), *map(len, steps), show=options.get("progress", True)) as bar:
        cells = sculpt_cells(
            stack, seeds, problem.to(device), how, unit_steps=steps[0], edge_steps=steps[1],
            trained=network is not None, news=bar.news,
        )  # fmt: skip
    return [
        make_sculpture(cells, place, problem, seeds, build, steps, detection) for place in range(len(seeds))
    ]


def _widths(hidden: Sequence[int] | str | int) -> list[int]:
    if isinstance(hidden, int):
        hidden = [hidden]
    if isinstance(hidden, str):
        hidden = re.sub(r"\s*[,-]\s*", "-", hidden.strip())
    spec = hidden if isinstance(hidden, str) else "-".join(str(width) for width in hidden)
    widths = NetSpec.parse(f"mlp:{spec}").sizes if spec else ()
    if not widths:
        raise SpecError("sculpting needs hidden layers, as in hidden=[24] or hidden='24-24'; got none")
    return list(widths)


def _settled(problem: Problem, options: SculptOptions) -> Problem:
    """Return the problem with what the user says about it."""
    threshold, noise = options.get("threshold"), options.get("noise")
    if threshold is not None:
        if not 0 < _number("threshold", threshold) <= 1:
            raise SpecError(f"threshold is a share of right answers, above 0 and at most 1; got {threshold}")
        problem = replace(problem, threshold=float(threshold))
    return problem if noise is None else replace(problem, noise=_number("noise", noise))


def _training_settings(problem: Problem, hidden_layers: int, options: SculptOptions) -> TrainingSettings:
    usual = preset(problem.name, hidden_layers, len(problem.train), boolean=problem.boolean)
    lr, epochs, batch_size = options.get("lr"), options.get("epochs"), options.get("batch_size")
    lr = _number("lr", usual.lr if lr is None else lr)
    decay = _number("weight_decay", options.get("weight_decay", WEIGHT_DECAY))
    epochs = usual.epochs if epochs is None else epochs
    batch_size = usual.batch_size if batch_size is None else batch_size
    check_count("epochs", epochs)
    check_count("batch_size", batch_size)
    if lr == 0:
        raise SpecError("lr is the size of a step and must be above 0; got 0")
    return TrainingSettings(
        epochs, min(batch_size, len(problem.train)), Adam(lr=lr, weight_decay=decay), problem.noise
    )


def _number(name: str, value: object) -> float:
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not (math.isfinite(number) and number >= 0):
        raise SpecError(f"{name} must be a number that is not negative; got {value!r:.40}")
    return number


def _steps(name: str, steps: Sequence[float] | float) -> list[float]:
    found = [_number(name, step) for step in (steps if isinstance(steps, Iterable) else [steps])]
    for step in found:
        if not 0 < step <= 1:
            raise SpecError(f"{name} are shares to prune, above 0 and at most 1; got {step}")
    return found


def _detection(problem: Problem, options: SculptOptions) -> tuple[float, float]:
    """Return the thresholds for detecting modules, checked before the long work begins."""
    modularity, merge = BOOLEAN_THRESHOLDS if problem.boolean else DATA_THRESHOLDS
    asked = options.get("modularity_threshold"), options.get("merge_threshold")
    modularity, merge = modularity if asked[0] is None else asked[0], merge if asked[1] is None else asked[1]
    detect_modules([[[1]]], modularity_threshold=modularity, merge_threshold=merge)
    return modularity, merge


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
