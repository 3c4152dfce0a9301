"""Sculpting networks for a task: prune units, then edges, as far as the task allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import torch
from torch import Tensor, nn

from ..nets import NetBuilder
from ..population import Adam
from ..population.checks import check_device, check_seeds
from ..population.progress import ProgressBar
from ..precision import in_float32
from .pruning.grid import Searches, search_grid
from .pruning.perceptrons import Perceptrons
from .pruning.problem import Problem, Task, problem_of
from .pruning.repeated_trainer import TrainingSettings
from .pruning.start import builder_of, fresh_networks, read_network
from .sculpture import Outcome, Sculpture
from .sculptures import Sculptures
from .search_end import SearchEnd, sparsest
from .settings import EDGE_STEPS, UNIT_STEPS, WEIGHT_DECAY, SculptSettings


def sculpt(
    task: Task,
    hidden: Sequence[int] | str | int = (24,),
    *,
    seed: int = 0,
    unit_steps: Sequence[float] | float = UNIT_STEPS,
    edge_steps: Sequence[float] | float = EDGE_STEPS,
    threshold: float | None = None,
    epochs: int | None = None,
    lr: float | None = None,
    batch_size: int | None = None,
    noise: float | None = None,
    weight_decay: float = WEIGHT_DECAY,
    modularity_threshold: float | None = None,
    merge_threshold: float | None = None,
    network: nn.Module | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> Sculpture:
    """Prune a network to the fewest units and edges that still do a task.

    The network is trained, then loses hidden units by how little the loss hangs on them until the task is no longer
    done; the step is halved down to a single unit. Then it loses edges by magnitude, down to a single edge. After every
    step it trains as long as the dense network did; a step is accepted if any epoch reaches the threshold, and the
    best epoch is kept. All combinations of first steps are tried, and the sparsest network is returned.

    Parameters
    ----------
    task : BooleanTask, Dataset, str, list of int, or truth table
        What the network is for: what `boolean_task` takes or makes; rows of 0/1, with the inputs first or the outputs
        alone, in counting order; or a `Dataset` of classes or bits.
    hidden : sequence of int or str
        Units of the hidden layers, ``[24, 24]`` or ``"24-24"``.
    seed : int
        Seed of the weights and of the order and noise of samples.
    unit_steps, edge_steps : sequence of float
        Shares of units and of edges to prune at first; by default the paper's 14 and 5. An empty one leaves its phase
        out.
    threshold : float, optional
        Accuracy on the validation split (of bits, or of classes) from which on the task is done. By default 1 for
        Boolean tasks, .99 and .98 for two-digits and digit-xor, else that of the dense network.
    epochs, lr, batch_size : number, optional
        Of every training; by default by task and depth.
    noise : float, optional
        Standard deviation of what is added to training inputs; by default .1 for Boolean tasks, else 0.
    weight_decay : float
        An L2 term on all weights and biases.
    modularity_threshold, merge_threshold : float, optional
        For `detect_modules`; by default -0.2 and 0.9 for Boolean tasks, else -0.3 and 0.6.
    network : nn.Module, optional
        A trained perceptron to start from, instead of a fresh one; ``hidden`` does not matter then.
    device : torch.device or str, optional
        Where to compute; the first GPU if there is one.
    progress : bool
        Whether to show a progress bar (on terminals only).

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
    settings = SculptSettings.from_arguments(locals()).model_dump()
    return sculpt_seeds(task, seeds=[seed], network=network, device=device, progress=progress, **settings)[0]


@in_float32()
def sculpt_seeds(
    task: Task,
    hidden: Sequence[int] | str | int,
    seeds: Sequence[int],
    *,
    unit_steps: Sequence[float] | float = UNIT_STEPS,
    edge_steps: Sequence[float] | float = EDGE_STEPS,
    threshold: float | None = None,
    epochs: int | None = None,
    lr: float | None = None,
    batch_size: int | None = None,
    noise: float | None = None,
    weight_decay: float = WEIGHT_DECAY,
    modularity_threshold: float | None = None,
    merge_threshold: float | None = None,
    network: nn.Module | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> Sculptures:
    """Sculpt a network for each of several seeds, all of them in lockstep.

    Everything is as in `sculpt`, which does this for one seed. The same call gives the same bits again on the same
    machine. How sums are rounded depends on the shape of the stack, so that a seed may end as another network when
    other seeds are sculpted beside it.

    Parameters
    ----------
    task, hidden, unit_steps, edge_steps, threshold, epochs, lr, batch_size, noise, weight_decay
        As in `sculpt`.
    seeds : sequence of int
        One for each network.
    modularity_threshold, merge_threshold, network, device, progress
        As in `sculpt`.

    Returns
    -------
    Sculptures
        A list in the order of the seeds; its `consensus` says which modules most of the searches agree on.

    Examples
    --------
    >>> import dovetail as dt
    >>> from dovetail.sculpting import sculpt_seeds
    >>> sculptures = sculpt_seeds("y1 = x1 & x2", [4], seeds=[0, 1], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    >>> [sculpture.seed for sculpture in sculptures]
    [0, 1]
    """
    settings = SculptSettings.from_arguments(locals())
    seeds, device = check_seeds(seeds), check_device(device)
    problem = problem_of(task)
    if network is None:
        build = builder_of([problem.inputs, *settings.hidden, problem.outputs])
        stack = fresh_networks(build, seeds, problem, device)
    else:
        stack = read_network(network, problem).repeated(len(seeds)).to(device, problem.dtype)
        build = builder_of(stack.widths)
    settings = settings.for_problem(problem, stack.widths[1:-1])
    filled = settings.model_dump()
    problem = replace(problem, threshold=filled["threshold"], noise=filled["noise"])
    optimizer = Adam(lr=filled["lr"], weight_decay=filled["weight_decay"])
    batch_size = min(filled["batch_size"], len(problem.train))
    how = TrainingSettings(filled["epochs"], batch_size, optimizer, filled["noise"])
    units, edges = len(settings.unit_steps), len(settings.edge_steps)
    total = len(seeds) * (units + max(units, 1) * edges)
    done: Counter[str] = Counter()
    with ProgressBar("sculpting", total, show=progress, unit="networks") as bar:

        def show(phase: str, members: int, ended: int) -> None:
            done[phase] += ended
            bar.advance(ended, f"{phase}: {done[phase]} of {members} networks done")

        searches = search_grid(
            stack, seeds, problem.to(device), how, unit_steps=settings.unit_steps, edge_steps=settings.edge_steps,
            trained=network is not None, on_round=show,
        )  # fmt: skip
    return Sculptures(
        _sculpture(one, seed, problem, build, settings) for one, seed in zip(searches, seeds, strict=True)
    )


def _sculpture(
    searches: Searches, seed: int, problem: Problem, build: NetBuilder, settings: SculptSettings
) -> Sculpture:
    """Return what one seed's searches come to, given settings with everything filled in."""
    unit_steps, edge_steps, threshold = settings.unit_steps, settings.edge_steps, settings.threshold
    cells = list(product(unit_steps or [None], edge_steps or [None]))
    kept = searches.networks.kept[:, : searches.networks.edges].cpu()
    ends = tuple(
        SearchEnd(*cell, accepted[-1].loss, row.nonzero().squeeze(1).int())
        for cell, accepted, row in zip(cells, searches.steps, kept, strict=False)  # no steps without learning
    )
    chosen = sparsest(ends) if ends else 0
    history = tuple(searches.steps[chosen]) if ends else ()
    network, masks = _network(build, searches.networks, chosen)
    outcome: Outcome = "not learned"
    if history:
        outcome = "sculpted" if history[-1].edges < history[0].edges else "unpruned"
    unit_step, edge_step = cells[chosen] if ends else (None, None)
    return Sculpture(
        task=problem.name, seed=seed, network=network, masks=masks, outcome=outcome,
        accuracy=1 - (history[-1].wrong if history else searches.wrong) / problem.answers,
        threshold=1 - searches.allowed / problem.answers if threshold is None else threshold,
        history=history, unit_step=unit_step, edge_step=edge_step, searches=ends, settings=settings,
        image_shape=problem.image_shape, input_names=problem.input_names, output_names=problem.output_names,
        fingerprint=problem.fingerprint, truth_table=problem.boolean,
        answers="classes" if problem.head == "classes" else "bits",
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
