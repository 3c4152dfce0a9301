"""Training of specialists: all classes, sets and seeds of a call as one population."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import torch
from torch import Tensor, nn

from ..data.dataset import Dataset
from ..data.given import check_dataset
from ..errors import DataError, SpecError
from ..nets import NetSpec, OwnNet, builder_of, net_of
from ..nets.own import NAME as OWN_NET
from ..nets.own import Build
from ..population import History, Population
from ..population.fit import Done
from ..population.step import Augment
from ..precision import in_float32
from .blueprint import Blueprint, hash_tensors
from .cards import class_cards, inputs_of
from .class_sets import ClassName, ClassSet, class_sets, named, one_hot_sets
from .files import find_trained, keep_trained, make_folder
from .growth import train_beside
from .layouts import Member, WholeNetworks, layouts
from .learned import warn_of_what_cannot_be_learned, warn_of_what_was_not_learned
from .manifest import Provenance
from .objectives import Loss
from .optimizing import optimizer_of, optimizer_settings
from .own_functions import function_name
from .part import Part
from .rounds import train_rounds
from .settings import (
    AdamThrough,
    Autocast,
    Keep,
    Monitor,
    OptimizerName,
    ScheduleName,
    Scope,
    TrainingSettings,
)
from .settings import Loss as LossName
from .specialist import Specialist
from .team import Team


@in_float32()
def train_specialists(
    data: Dataset,
    net: str | NetSpec | OwnNet | Callable[[], nn.Module] = "mlp:512",
    rewarded: Iterable[ClassName | Iterable[ClassName]] | None = None,
    *,
    loss: LossName | Loss = "me",
    sparsity: float | None = None,
    rounds: int = 2,
    epochs: int = 20,
    round_epochs: int | None = None,
    temperature: float = 5.0,
    slots: bool = False,
    seed: int = 0,
    seeds: Sequence[int] | None = None,
    optimizer: OptimizerName = "adam",
    lr: float | None = None,
    momentum: float | None = None,
    nesterov: bool = False,
    weight_decay: float | None = None,
    schedule: ScheduleName | None = None,
    warmup: float | int | None = None,
    label_smoothing: float = 0.0,
    clip_gradient: float | None = None,
    autocast: Autocast | None = None,
    batch_size: int = 64,
    patience: int | None = 3,
    monitor: Monitor = "loss",
    keep: Keep = "best",
    adam: AdamThrough = "fresh",
    scope: Scope = "tensor",
    output_share: float = 0.5,
    balanced: bool = False,
    sample_weights: Tensor | Sequence[float] | None = None,
    card_directions: int | None = None,
    augment: Augment | None = None,
    beside: Iterable[Part] | Part | None = None,
    device: torch.device | str | None = None,
    at_once: int | None = None,
    folder: str | Path | None = None,
    replace: bool = False,
    progress: bool = True,
) -> Team:
    """Train sparse networks that recognise some classes and are deliberately undecided on all others.

    Each is trained, pruned by magnitude and rewound to its initial weights θ0 ``rounds`` times, then trained
    once more. Every round keeps the epoch with the lowest validation loss unless told otherwise. All networks train
    together, and each learns what it would alone, up to rounding: sums may differ in the last bits, and where two
    magnitudes all but tie, pruning may then keep the other one. The same holds for what is trained later into a
    ``folder`` that has the others already. Specialists of one
    seed share θ0 and can be added.

    Parameters
    ----------
    data : Dataset
        Classes to learn. All samples are used; only those of rewarded classes need labels.
    net : str, NetSpec or callable
        The architecture: a spec as for `build_net`, or a class or function without arguments that makes a network of
        your own (``functools.partial`` for one with settings), or its name, ``"package.module:Net"``. Files name it;
        `dovetail.open` needs it again (``build=``, or ``trust=`` to allow the import).
    rewarded : iterable, optional
        For each specialist a class or several, by id or name. Default: one specialist per class.
    loss : {"me", "qme", "xe"} or callable
        ``"me"``: samples of other classes shall give the uniform distribution over all classes. ``"qme"``: over
        all classes that are not rewarded. ``"xe"``: cross-entropy on the samples of rewarded classes alone. A function
        ``loss(logits, target, rewarded) -> [samples]`` is one of your own: for one network, of logits that are divided
        by the temperature, class ids, and which classes are rewarded, 0/1.
    sparsity : float, optional
        Share of weights and biases to prune. Default: the paper's .99 for ``mlp``, .6 for convolutional
        networks and those of your own; nothing with slots.
    rounds : int
        In how many rounds to prune.
    epochs : int
        Epochs of the last training.
    round_epochs : int, optional
        Epochs of each pruning round; ``epochs // rounds`` by default, which gave the published numbers (the
        paper's Algorithm 1 says ``epochs``).
    temperature : float
        What logits are divided by, in training and afterwards.
    slots : bool
        Give every specialist its own share of each hidden layer (of channels, for convolutions), by class id.
        Specialists in slots never share a unit: their sum computes the sum of their logits, however many and
        however deep, and they fit whoever trained them, from whatever θ0. Layers need at least as many units as
        there are classes.
    seed : int
        What θ0, the order of samples and the noise are drawn from.
    seeds : sequence of int, optional
        Train the whole set of specialists once for each of these seeds.
    optimizer : {"adam", "adamw", "sgd"}
        What takes the steps, as torch's of that name.
    lr : float, optional
        Its step size: 1e-3 by default, 0.1 for ``"sgd"``.
    momentum, nesterov : float, bool
        Of ``"sgd"``, as in `torch.optim.SGD`; 0.9 and False by default.
    weight_decay : float, optional
        Weight of Σ w² / 2 in the loss, 0 by default; with ``"adamw"`` apart from the gradient, 0.01 by default.
    schedule : {"cosine", "linear", "one-cycle"}, optional
        How step sizes fall over the epochs of each training, as in `Population.fit`; a network that stops early does
        not get to the end of it.
    warmup : float or int, optional
        During which share of all steps (a float) or how many (an int) step sizes rise first.
    label_smoothing : float
        Which share of the label of rewarded classes is spread over all classes in training, as in
        `torch.nn.CrossEntropyLoss`. What samples of other classes are to give is spread out already, and stays. Losses
        on the validation split are measured without.
    clip_gradient : float, optional
        Shorten each network's gradient to this length if it is longer.
    autocast : {"bfloat16"}, optional
        Compute the layers of training steps in this type where `torch.autocast` does; weights stay in float32.
    batch_size : int
        Samples per step.
    patience : int, optional
        Stop a network after this many epochs without a better validation score.
    monitor : {"loss", "rewarded_accuracy"}
        The validation score that decides on the best epoch, and on patience: the lowest loss, or the highest
        accuracy on rewarded classes.
    keep : {"best", "last"}
        What each round ends with: the best epoch, or the last one that was trained, which with ``patience`` comes
        that many epochs after the best. The paper's pruned networks are of the last.
    adam : {"fresh", "carried"}
        A fresh Adam (or AdamW) for every round, or one whose moments are carried through pruning and rewinding, as the
        paper's were.
    scope : {"tensor", "global"}
        Prune the share in each tensor, or rank all weights together.
    output_share : float
        With ``scope="tensor"``, the output layer's pruning rate as a share of that of the others; half gives the
        published numbers.
    balanced : bool
        Weigh samples so that all classes count the same, in training and validation, however many samples they have.
    sample_weights : Tensor, optional
        How much each training sample counts in the loss; it multiplies what ``balanced`` gives.
    card_directions : int, optional
        In how many directions the card of a class keeps how its samples vary together; 0: each number by itself. By
        default 16, fewer where inputs have more than 512 numbers. Others learn from draws of it (``beside``).
    augment : callable, optional
        ``augment(x, noise) -> x`` changes training inputs ``[networks, batch, ...]``, as for `Population.fit`.
    beside : Team, Specialist, Composite or list of them, optional
        What there is already: the new specialists learn ``data`` and, in the place of samples of classes that these
        know, draws from their cards. Their class list is that of the others, and behind it what is new. They get slots
        if the others have them, as large for each class unless ``net`` says otherwise, and the same temperature:
        ``net``, ``slots`` and ``temperature`` at their defaults mean those of the others, and another temperature is
        refused. ``rewarded`` is by default every class of ``data`` that the others do not know. See `Team.introduce`.
    device : str or torch.device, optional
        Where to train; the first GPU if there is one.
    at_once : int, optional
        How many networks to train together; by default as many as the device does well with.
    folder : path, optional
        Save each specialist there as soon as it is done, while others still train. Those that it has already, trained
        in the same way on the same data, are kept and not trained again, so the same call goes on where another was
        stopped.
    replace : bool
        Train anew, and replace, what the folder has.
    progress : bool
        Show progress (on terminals only).

    Returns
    -------
    Team
        The specialists, by seed and then in the order of ``rewarded``.

    Warns
    -----
    TrainingWarning
        Of specialists that learned nothing, and of those that see no samples of other classes.

    References
    ----------
    "Composable Sparse Subnetworks via Maximum-Entropy Principle" (see CITATION.cff).

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:64", [3, 8], sparsity=0.9, epochs=30, progress=False)
    >>> score = (team[0] + team[1]).evaluate(data.test)
    >>> score.rewarded_accuracy > 0.8
    True
    """
    begun = time.perf_counter()
    check_dataset(data)
    data.check_trainable()
    if data.task != "classes":
        raise DataError(f"specialists need data with classes; {data.name} has {data.task}")
    counts = None if sample_weights is None else _weights_of_samples(sample_weights, data)
    if beside is not None:
        usual = None if net == TrainingSettings.model_fields["net"].default else net_of(net)
        grown = train_beside(data, beside, usual, rewarded, seed)
        if temperature not in (TrainingSettings.model_fields["temperature"].default, grown.temperature):
            raise SpecError(
                f"temperature={temperature!r:.40}, and those that are there have {grown.temperature:g}; what stands "
                "beside them has theirs: leave temperature out"
            )
        data, net, rewarded, temperature = grown.data, grown.net, grown.rewarded, grown.temperature
        slots = slots or grown.slots
        counts = grown.weights(counts)
    names = {
        "loss": loss if isinstance(loss, str) else function_name(loss, "loss"),
        "augment": None if augment is None else function_name(augment, "augment"),
        "sample_weights": None if counts is None else hash_tensors({"weights": counts})[:16],
    }
    architecture = net_of(net)
    if isinstance(architecture, OwnNet):
        builder_of(architecture, data.input_shape, data.outputs).check()  # type: ignore[union-attr]
    settings = settled(TrainingSettings.from_arguments(locals() | names | {"net": str(architecture)}))
    sets = class_sets(rewarded, data.classes)
    check_samples(data, sets)
    if seeds is not None and not isinstance(seeds, Iterable):
        raise SpecError(f"seeds is a list of seeds; write seeds=[{seeds!r:.40}]")
    chosen = [seed] if seeds is None else [int(number) for number in seeds]
    if not chosen:
        raise SpecError("seeds is empty; leave it out for seed 0")
    if len(set(chosen)) < len(chosen):
        raise SpecError(
            f"seeds names one twice, which would train the same networks twice; give each once, got {chosen!r:.80}"
        )
    members = [(number, ids) for number in chosen for ids in sets]
    blueprint = Blueprint(
        architecture, data.input_shape, data.classes, settings.temperature, data.preparation
    )
    starts = {number: start_hash(blueprint, number) for number in dict.fromkeys(chosen)}
    made: dict[Member, Specialist] = {}
    if folder is not None:
        folder = make_folder(folder)
        made = find_trained(folder, members, data, blueprint, settings, replace=replace)
    weighing = _Weighing.of(data, balanced, counts)
    histories: list[History] = []
    losses: dict[Member, float] = {}
    missing = [member for member in dict.fromkeys(members) if member not in made]
    warn_of_what_cannot_be_learned([ids for ids in sets if any(ids == own for _, own in missing)], data)
    wanted = {one for _, ids in missing for one in ids}
    cards = class_cards(
        data.train, wanted, directions=settings.card_directions, inputs=inputs_of(data.preparation)
    )

    def take_in(layout: WholeNetworks, together: Sequence[Member], done: Done) -> None:
        for place, row in enumerate(done.members.tolist()):
            if done.history.diverged[row]:
                continue
            number, ids = together[row]
            metrics = last_metrics(done.history, row)
            losses[number, ids] = metrics.get("loss", math.nan)
            provenance = Provenance(
                number, starts[number], settings.loss, slots, data.name, data.fingerprint,
                settings.model_dump(), metrics,
            )  # fmt: skip
            own = [cards[one] for one in ids] if cards else []
            part = made[number, ids] = Specialist(
                blueprint, ids, layout.packed(done, place, ids), provenance, cards=own
            )
            if folder is not None:
                keep_trained(part, Path(folder), data, settings, replace=replace)

    for layout, group in layouts(blueprint, missing, slots=slots):
        build = builder_of(layout.net, data.input_shape, data.outputs)
        # No more in a population than train together, so that some are done and saved before others begin.
        size = at_once or _trained_at_once(build, data, settings, device)
        rounds_of: list[list[History]] = []
        for start in range(0, len(group), size):
            together = group[start : start + size]
            population = Population(build, [number for number, _ in together], device=device)
            layout.prepare(population, together)
            rows = one_hot_sets([ids for _, ids in together], data.outputs)
            rounds_of.append(
                train_rounds(
                    population, data, rows, settings, loss=loss, augment=augment, weights=weighing.train,
                    val_weights=weighing.val_of(rows, settings.loss), when_done=partial(take_in, layout, together),
                    at_once=at_once, progress=progress and _title(start, together, group),
                )
            )  # fmt: skip
        histories += [History.joined(parts) for parts in zip(*rounds_of, strict=True)]
    warn_of_what_was_not_learned(losses, data, loss, weighing.val_of, settings)
    return Team([made[member] for member in members], histories, time.perf_counter() - begun)


def _title(start: int, together: Sequence[Member], group: Sequence[Member]) -> bool | str:
    """Return what to write in front of a progress bar: which networks these are, where they are not all."""
    return f"{start + 1}-{start + len(together)} of {len(group)}" if len(together) < len(group) else True


def _trained_at_once(
    build: Callable[[], nn.Module],
    data: Dataset,
    settings: TrainingSettings,
    device: torch.device | str | None,
) -> int:
    one = Population(build, [0], device=device)
    optimizer = optimizer_of(settings)
    return one.trained_at_once(data.train.x, batch_size=settings.batch_size, optimizer=optimizer)


def _weights_of_samples(weights: Tensor | Sequence[float], data: Dataset) -> Tensor:
    """Return what each training sample counts as a vector; what is in it is checked where it is used."""
    try:
        counts = torch.as_tensor(weights, dtype=torch.float32)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"sample_weights are numbers, one for each training sample ({error})") from None
    if counts.shape != (len(data.train),):
        raise DataError(
            f"sample_weights have shape {tuple(counts.shape)}; {data.name} has {len(data.train):,} training samples, "
            "and each needs one"
        )
    return counts


@dataclass(frozen=True)
class _Weighing:
    """How much samples count in losses; None where all count the same."""

    train: Tensor | None
    val: Tensor | None
    target: Tensor

    @classmethod
    def of(cls, data: Dataset, balanced: bool, counts: Tensor | None) -> _Weighing:
        """Return the weights of all samples of data."""
        target = data.val.y
        if not balanced:
            return cls(counts, None, target)
        # As often as classes are in training; a class without samples has no weight.
        each = data.train.y.bincount(minlength=data.outputs).double()
        by_class = torch.where(each > 0, len(data.train) / (each.count_nonzero() * each), 0).float()
        own = by_class[data.train.y]
        return cls(own if counts is None else own * counts.to(own), by_class[target], target)

    def val_of(self, rows: Tensor, loss: str) -> Tensor | None:
        """Return what validation samples count for each member ``[members, samples]``, by its rewarded classes."""
        if loss != "xe":
            return None if self.val is None else self.val.expand(len(rows), -1)
        # Samples of other classes are not looked at.
        seen = rows.to(self.target.device)[:, self.target].float()
        return seen if self.val is None else seen * self.val


def settled(settings: TrainingSettings) -> TrainingSettings:
    """Return the settings with the paper's values for what was left open.

    Examples
    --------
    >>> found = settled(TrainingSettings(net="mlp:512"))
    >>> found.sparsity, found.round_epochs
    (0.99, 10)
    """
    own = OWN_NET.fullmatch(settings.net)
    net = None if own else NetSpec.parse(settings.net)
    sparsity, rounds = settings.sparsity, settings.rounds
    if sparsity is None:
        sparsity = 0.0 if settings.slots else 0.99 if net is not None and net.name == "mlp" else 0.6
    if not sparsity or not rounds:
        sparsity, rounds = 0.0, 0
    return settings.model_copy(
        update={
            "net": settings.net if net is None else str(net),
            "sparsity": sparsity,
            "rounds": rounds,
            "round_epochs": settings.round_epochs or max(1, settings.epochs // max(1, rounds)),
            **optimizer_settings(settings),
        }
    )


def start_hash(blueprint: Blueprint, seed: int) -> str:
    """Return the hash of θ0: the initial weights of the full network with this seed."""
    return _start_hash(blueprint, seed, blueprint.code)


@lru_cache(maxsize=64)
def _start_hash(blueprint: Blueprint, seed: int, code: Build | None) -> str:
    network = blueprint.builder(seed)
    return hash_tensors(dict(network.named_parameters()))


def last_metrics(history: History, row: int) -> dict[str, float]:
    """Return what a member scored on the validation split in the epoch that it kept."""
    epoch = int(history.kept_epoch[row])
    scores = {name: float(values[epoch, row]) for name, values in history.values.items()}
    return {name: value for name, value in scores.items() if math.isfinite(value)}


def check_samples(data: Dataset, sets: Sequence[ClassSet]) -> None:
    """Refuse classes that cannot be learnt or measured because there are no samples of them."""
    wanted = sorted({number for ids in sets for number in ids})
    for name, split in (("training", data.train), ("validation", data.val)):
        counts = split.y.bincount(minlength=len(data.classes))
        empty = [number for number in wanted if not counts[number]]
        if empty:
            raise DataError(
                f"{data.name} has no {name} samples of class {named(empty, data.classes)}; give it some, or leave "
                "the class out of rewarded= (-r on the command line, once for each other class)"
            )
