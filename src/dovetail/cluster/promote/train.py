"""Training as in the Clusterability paper: some epochs, then more with gradual pruning."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import torch
from torch import Tensor, nn

from ...data.dataset import Dataset
from ...data.split import Split
from ...errors import SpecError, TrainingError, unknown_name
from ...graph import Layer, module_chain
from ...nets import NetSpec
from ...population import Adam, Population, Scores, StepContext
from ...population.checks import check_count, check_seeds
from ...population.step import Augment, Penalty
from ...prune import density
from ...result import Result, plain
from ..checks import number_per_network, whole_number
from .gradual_pruning import GradualPruning, cutoffs, kernels
from .initialise import clusterable_weights
from .penalty import ClusterabilityPenalty, l1_penalty, l2_penalty
from .rescale import check_rescaling, rescale_stacked_
from .spec import settled_builder

if TYPE_CHECKING:
    import pandas as pd

StepHook = Callable[[StepContext], None]

Slip = Literal["l1-first-layer", "cutoff-for-mask"]
"""Slips of the program that the paper's numbers come from: see `train_networks`."""

_KERAS_EPSILON = 1e-7
_CHECKED_SAMPLES = 16


def train_networks(
    data: Dataset,
    net: str | NetSpec | Callable[[], nn.Module],
    *,
    seeds: Sequence[int] = range(5),
    epochs: int = 20,
    pruning_epochs: int = 20,
    batch_size: int = 128,
    lr: float = 1e-3,
    dropout: float | None = None,
    l1: float | Sequence[float] = 0.0,
    l2: float | Sequence[float] = 0.0,
    clusterability: float | Sequence[float] = 0.0,
    k: int = 4,
    init_beta: float | Sequence[float] = 1.0,
    clusters: int = 10,
    initial_sparsity: float = 0.5,
    final_sparsity: float = 0.9,
    prune_every: int = 10,
    augment: Augment | None = None,
    slips: Collection[Slip] = (),
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
    progress: bool = True,
) -> TrainedNetworks:
    """Train networks together, with what promotes clusterability, and prune them gradually.

    All networks train as one population. There is no validation: they train on the training and the validation split
    together, which is the whole official training set, and keep their last weights, as in the paper. Pruning takes the
    smallest weights of every layer, the output's too, never biases, and starts with a fresh optimizer.

    Parameters
    ----------
    data : Dataset
        What to learn.
    net : str, NetSpec or callable
        The architecture. Of a text, options that it does not name are the paper's: Glorot uniform initial values, an
        output bias, and ``dropout``. A `NetSpec` or a builder is taken as it is.
    seeds : sequence of int
        One for each network; networks of equal seeds start from equal weights and see their data in the same order.
    epochs, pruning_epochs : int
        How long to train before pruning, and while pruning (0: do not prune).
    batch_size, lr
        Of Adam's steps.
    dropout : float, optional
        The rate after hidden dense layers, half of it after the convolutions of ``small-cnn``; 0 if neither this nor
        the text says more. Only for a text that does not name it.
    l1, l2 : float or sequence of float
        Weights of the sum of magnitudes and of the sum of squares of all weights in the loss, for all or one for each
        network.
    clusterability : float or sequence of float
        Weight of `ClusterabilityPenalty` in the loss, for all or one for each network. Networks that have one are
        rescaled (`rescale_`) before every batch, so their layers must form a chain with ReLU in between. They need a
        little L1 or L2 as well: without it their norm goes into weights that do nothing, and those that matter get
        pruned. It trains on the CPU only.
    k : int
        Up to which eigenvalue that penalty goes.
    init_beta, clusters
        Clusterable initialisation (`clusterable_init_`), with each network's seed for its tags; 1 leaves it out.
        ``init_beta`` may have one value for each network.
    initial_sparsity, final_sparsity : float
        Share of the weights that are pruned when pruning begins, and when it ends; in between it follows a cubic.
    prune_every : int
        Steps from one pruning to the next.
    augment : callable, optional
        Changes training inputs, as in `Population.fit`.
    slips : collection of {"l1-first-layer", "cutoff-for-mask"}
        Slips of the paper's program to repeat, for those who want its numbers. ``"l1-first-layer"``: ``l2`` is the
        weight of L1 on the first layer. ``"cutoff-for-mask"``: while networks are pruned, rescaling takes the norm of a
        unit's weights times the magnitude below which its layer was pruned last, where it means times the mask; before
        the first pruning that is 0.
    device : str or torch.device, optional
        Where to train; by default the first GPU if there is one, and the CPU with ``clusterability``.
    dtype : torch.dtype
        Type of the weights.
    progress : bool
        Show progress bars (on terminals only).

    Returns
    -------
    TrainedNetworks
        The networks before and after pruning, and their scores.

    References
    ----------
    Filan et al., "Clusterability in neural networks", 2021, appendix A.2.

    Examples
    --------
    Two networks, one of them with L1 regularisation:

    >>> import dovetail as dt
    >>> trained = train_networks(dt.load("digits"), "mlp:32-32", seeds=[0, 0], l1=[0, 1e-3], epochs=5,
    ...                          pruning_epochs=5, device="cpu", progress=False)
    >>> trained.pruned.sparsity.round(decimals=2).tolist()
    [0.9, 0.9]
    >>> trained.networks()[1]  # doctest: +ELLIPSIS
    Sequential(...)
    """
    begun = time.perf_counter()
    if not isinstance(data, Dataset):
        raise SpecError(f"data must be a Dataset, such as dovetail.load('digits'), not {type(data).__name__}")
    seeds = check_seeds(seeds)
    check_count("epochs", epochs)
    check_count("batch_size", batch_size)
    pruning_epochs = whole_number("pruning_epochs", pruning_epochs, least=0)
    build = settled_builder(net, data, dropout)
    betas = number_per_network("init_beta", init_beta, len(seeds), most=1)
    weights = {"l1": l1, "l2": l2, "clusterability": clusterability}
    own = {name: number_per_network(name, value, len(seeds)).to(dtype) for name, value in weights.items()}
    rescaled = own["clusterability"] > 0
    _check_slips(slips, own)
    if device is None and bool(rescaled.any()):
        device = "cpu"
    population = Population(build, seeds, device=device, dtype=dtype)
    train = Split(torch.cat([data.train.x, data.val.x]), torch.cat([data.train.y, data.val.y]))
    train = train.to(population.device)
    layers: list[Layer] = []
    if bool((betas != 1).any() or rescaled.any() or slips):  # other networks need not form a chain
        layers = module_chain(population.member(0), train.x[:1])
    if bool((betas != 1).any()):
        population.start_from(clusterable_weights(population.params, seeds, clusters, betas, layers))
    steps = pruning_epochs * -(-len(train) // batch_size)
    pruning = GradualPruning(steps, initial_sparsity, final_sparsity, prune_every)
    penalty, own = _penalty(own, k, layers, slips)
    if bool(rescaled.any()):
        check_rescaling(population, layers, train.x[:_CHECKED_SAMPLES])

    def rescale(context: StepContext) -> None:
        rescale_stacked_(context.params, layers, members=rescaled[context.members])

    def fit(title: str, epochs: int, stream: int, *hooks: StepHook) -> Stage:
        population.fit(
            train, epochs=epochs, batch_size=batch_size, optimizer=Adam(lr=lr, eps=_KERAS_EPSILON), penalty=penalty,
            per_member=own, augment=augment, after_step=_in_turn(hooks), stream=stream, progress=progress and title,
        )  # fmt: skip
        # A copy, because training goes on from here.
        copied = population.select(range(len(seeds)))
        return Stage(copied, copied.evaluate(train), copied.evaluate(data.test))

    title = f"{len(seeds)} networks"
    hooks: list[StepHook] = []
    if bool(rescaled.any()):
        rescale_stacked_(population.params, layers, members=rescaled)
        hooks = [rescale]
    unpruned, pruned = fit(title, epochs, 0, *hooks), None
    if pruning_epochs and "cutoff-for-mask" in slips:
        slip = _CutoffRescaling(layers, rescaled, pruning)
        slip.begin(population)
        pruned = fit(f"{title}, pruning", pruning_epochs, 1, slip)
    elif pruning_epochs:
        pruning.begin(population)
        if bool(rescaled.any()):
            rescale_stacked_(population.params, layers, members=rescaled)
        pruned = fit(f"{title}, pruning", pruning_epochs, 1, pruning, *hooks)
    return TrainedNetworks(unpruned, pruned, time.perf_counter() - begun)


def _in_turn(hooks: Sequence[StepHook]) -> StepHook | None:
    """Return one hook that calls several, in their order."""

    def call(context: StepContext) -> None:
        for hook in hooks:
            hook(context)

    return call if hooks else None


class _CutoffRescaling:
    """Rescaling and pruning with the slip of the paper's program, in its order: first rescaled, then pruned."""

    def __init__(self, layers: Sequence[Layer], rescaled: Tensor, pruning: GradualPruning) -> None:
        self._layers = layers
        self._rescaled = rescaled
        self._pruning = pruning
        self._cutoffs: dict[str, Tensor] = {}

    def begin(self, population: Population) -> None:
        """Rescale when nothing is pruned yet, with cutoffs of 0, and prune to the initial sparsity."""
        nothing = {name: weight.new_zeros(len(weight)) for name, weight in kernels(population.params).items()}
        rescale_stacked_(population.params, self._layers, members=self._rescaled, weigh=nothing)
        self._pruning.begin(population)
        self._cutoffs = cutoffs(population.params)

    def __call__(self, context: StepContext) -> None:
        here = {name: cutoff[context.members] for name, cutoff in self._cutoffs.items()}
        rescale_stacked_(context.params, self._layers, members=self._rescaled[context.members], weigh=here)
        if self._pruning.is_due(context.step):
            self._pruning(context)
            for name, cutoff in cutoffs(context.params).items():
                self._cutoffs[name][context.members] = cutoff


def _check_slips(slips: Collection[Slip], weights: Mapping[str, Tensor]) -> None:
    """Refuse slips that there are not, and those that nothing can show."""
    about = {"l1-first-layer": "l2", "cutoff-for-mask": "clusterability"}
    for slip in slips:
        if slip not in get_args(Slip):
            raise unknown_name("slip", slip, get_args(Slip))
        if not bool(weights[about[slip]].any()):
            raise SpecError(f"the slip {slip!r} is one of {about[slip]}, which is 0 here; leave it out")


def _penalty(
    weights: Mapping[str, Tensor], k: int, layers: Sequence[Layer], slips: Collection[Slip] = ()
) -> tuple[Penalty | None, dict[str, Tensor]]:
    """Return what is added to the loss, and each network's own weights of it; terms without weight are left out."""
    terms: dict[str, Callable[[Mapping[str, Tensor]], Tensor]] = {
        "l1": l1_penalty,
        "l2": partial(l2_penalty, l1_on=layers[0].weight) if "l1-first-layer" in slips else l2_penalty,
        "clusterability": partial(ClusterabilityPenalty(k).stacked, layers=layers),
    }
    own = {name: weight for name, weight in weights.items() if bool(weight.any())}

    def penalty(params: Mapping[str, Tensor], **own: Tensor) -> Tensor:
        return torch.stack([weight * terms[name](params) for name, weight in own.items()]).sum(0)

    return penalty if own else None, own


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
class TrainedNetworks(Result):
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

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each network and stage: what it scores on the test split, its sparsity."""
        import pandas as pd

        return pd.concat(
            [
                stage.test.to_frame()
                .reset_index(names="network")
                .assign(stage=name, sparsity=stage.sparsity.tolist())
                for name, stage in self.stages()
            ],
            ignore_index=True,
        )

    def to_dict(self) -> dict[str, object]:
        """Return what `to_frame` shows as plain values, ready for JSON."""
        return {"networks": plain(self.to_frame().to_dict("records")), "seconds": self.seconds}

    def __len__(self) -> int:
        """Return the number of networks."""
        return len(self.unpruned.population)

    def networks(self, pruned: bool = True) -> list[nn.Module]:
        """Return ordinary networks, in the order of their seeds: the pruned ones, or those before pruning."""
        stage = self.pruned if pruned else self.unpruned
        if stage is None:
            raise TrainingError("these networks were not pruned; ask for networks(pruned=False)")
        return [stage.population.member(place) for place in range(len(self))]

    def stages(self) -> Iterator[tuple[str, Stage]]:
        """Yield the stages there are, with their names."""
        yield "unpruned", self.unpruned
        if self.pruned is not None:
            yield "pruned", self.pruned
