"""The drop audit: what dropping a class really does, beside networks that never had the class.

The composite is measured before and after, at its outputs and by a linear probe on its hidden layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from ..data.dataset import Dataset
from ..data.split import Split
from ..errors import DataError, SpecError
from ..markup import excerpt_html, text_html
from ..nets.output import output_layer
from ..population import Population
from ..result import Result, plain
from ..threads import one_blas_thread
from .blueprint import Tempered
from .class_sets import ClassName, ClassSet, class_sets, named, one_hot_sets
from .composite import Composite, compose_quietly
from .evaluate import Score, run_network, score_logits
from .manifest import GIVEN
from .merge import LogitAverage
from .objectives import objective
from .optimizing import optimizer_of
from .plots import plot_probes
from .settings import TrainingSettings
from .specialist import Specialist
from .train import settled, train_specialists

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


WITH, WITHOUT, UNSEEN = "composite with it", "composite without it", "composite that never saw it"
GENERALIST, LESS = "generalist", "generalist retrained without it"
UNTRAINED, RAW = "untrained network", "raw inputs"


@dataclass(frozen=True, eq=False)
class DropAudit(Result):
    """What is left of a class, or several, after their specialists were taken out.

    Attributes
    ----------
    dropped : tuple of str
        Names of the classes.
    scores : dict of str to Score
        By network, on the test split: the composite before and after, specialists that never saw a sample of the
        classes, and generalists with and without them.
    probes : dict of str to float
        By network, balanced accuracy with which a linear probe on the last hidden layer tells the classes from the
        others (chance .5); also for an untrained network and the raw inputs, which know nothing of any class.
    same_as_never_added : bool
        Whether the composite without the classes is, bit for bit, one to which they were never added.
    seen : bool
        Whether the specialists that are left saw samples of the classes in training, unlabelled.
    """

    without: ClassVar[str] = WITHOUT
    """What the composite without the classes is called in `scores` and `probes`."""

    dropped: tuple[str, ...]
    scores: dict[str, Score]
    probes: dict[str, float]
    same_as_never_added: bool
    seen: bool

    @property
    def names(self) -> str:
        """Names of the classes, for messages."""
        return named(range(len(self.dropped)), self.dropped)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per network: accuracy and entropy on what was dropped, accuracy on the others, probe."""
        import pandas as pd

        rows = []
        for name, probe in self.probes.items():
            score = self.scores.get(name)
            gone = [] if score is None else [score.classes.index(dropped) for dropped in self.dropped]
            kept = [] if score is None else [number for number in score.rewarded if number not in gone]
            rows.append(
                {
                    "network": name,
                    "accuracy on it": None if score is None else _accuracy(score, gone),
                    "entropy on it": None if score is None else _entropy(score, gone),
                    "accuracy on the others": None if score is None else _accuracy(score, kept),
                    "probe": probe,
                }
            )
        return pd.DataFrame(rows)

    @property
    def finding(self) -> str:
        """What the audit shows, in words."""
        score, probes = self.scores[WITHOUT], self.probes
        left = _accuracy(score, [score.classes.index(dropped) for dropped in self.dropped])
        same = "is, bit for bit, the composite to which it was never added" if self.same_as_never_added else (
            "is not the same as one to which it was never added"
        )  # fmt: skip
        seen = (
            "The specialists that are left saw its samples in training, unlabelled: leaving one out is no proof that "
            "nothing of it is left."
            if self.seen
            else "The specialists that are left never saw a sample of it."
        )
        return (
            f"Without its specialist the composite is right on {100 * left:.1f} % of the samples of {self.names}, and "
            f"{same}. That is about the output. From the hidden layer a linear probe still tells {self.names} from the "
            f"others with {100 * probes[WITHOUT]:.1f} % balanced accuracy; from specialists that never saw a sample of "
            f"it, with {100 * probes[UNSEEN]:.1f} %; from an untrained network, with {100 * probes[UNTRAINED]:.1f} %; "
            f"from the raw inputs, with {100 * probes[RAW]:.1f} %. {seen}"
        )

    def __repr__(self) -> str:
        return f"DropAudit({self.names})\n{self.to_frame().round(4).to_string(index=False)}"

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, ready for JSON."""
        return {
            "dropped": list(self.dropped),
            "networks": plain(self.to_frame().to_dict("records")),
            "same_as_never_added": self.same_as_never_added,
            "finding": self.finding,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what the probe reads from each network."""
        return plot_probes(self, ax)

    def _html_pieces(self) -> Iterable[str]:
        yield text_html(f"What is left of class {self.names}")
        yield excerpt_html(self.to_frame())
        yield text_html(self.finding)


def audit_drop(
    composite: Composite,
    dropped: ClassName | Sequence[ClassName],
    data: Dataset,
    *,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> DropAudit:
    """Take a class, or several, out of a composite and measure what is left of it.

    Trains, with the settings that the specialists were trained with: specialists for the other classes and a
    generalist on data without any sample of what is dropped, and a generalist on everything.

    Parameters
    ----------
    composite : Composite
        With specialists that have no other classes than these, or none of them.
    dropped : int, str or sequence
        The class or classes, by id or name.
    data : Dataset
        What the specialists were trained on.
    device : str or torch.device, optional
        Where to train; the first GPU if there is one.
    progress : bool
        Show progress (on terminals only).

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:20", [0, 1, 2], slots=True, epochs=2, progress=False)
    >>> found = audit_drop(dt.compose(team), 2, data, progress=False)
    >>> found.same_as_never_added, list(found.probes)[:2]
    (True, ['composite with it', 'composite without it'])
    """
    names = [dropped] if isinstance(dropped, int | str) else list(dropped)
    (ids,) = class_sets([names], composite.classes)
    after = composite.without(*ids)
    for part in composite.specialists:
        if part.provenance.fingerprint != data.fingerprint:
            raise DataError(
                f"{part!r} was trained on other data than this {data.name} (fingerprints "
                f"{part.provenance.fingerprint} and {data.fingerprint}), so nothing trained here could be "
                "compared with it"
            )
    if any(part.provenance.start.startswith(GIVEN) for part in composite.specialists):
        raise SpecError(
            "some of these specialists began with weights that were given (as_part), so they cannot be trained again "
            "without the class; train them again yourself, and compare scores"
        )
    settings = settled(TrainingSettings.from_provenance(composite.specialists[0].provenance.training))
    unseen = _without_classes(data, ids)
    networks: dict[str, tuple[nn.Module, tuple[int, ...]]] = {
        WITH: (composite.module(), composite.rewarded),
        WITHOUT: (after.module(), after.rewarded),
        UNSEEN: (_retrained(after, unseen, device, progress).module(), after.rewarded),
        GENERALIST: (_generalist(composite, settings, data, device, progress), composite.rewarded),
        LESS: (_generalist(after, settings, unseen, device, progress), after.rewarded),
        UNTRAINED: (_untrained(composite), ()),
    }
    some, is_dropped = sample(data.train), _marks(data.outputs, ids)
    train, test = (Split(split.x, is_dropped[split.y]) for split in (some, data.test))
    scores, probes = {}, {}
    for name, (network, rewarded) in networks.items():
        seen, tested = (Split(hidden_activations(network, split.x), split.y) for split in (train, test))
        probes[name] = probe_accuracy(seen, tested, 1)
        if rewarded:
            logits = run_network(network, data.test.x)
            (scores[name],) = score_logits(logits[None], data.test.y, [rewarded], data.classes)
    probes[RAW] = probe_accuracy(train, test, 1)
    return DropAudit(
        tuple(data.classes[number] for number in ids),
        scores,
        probes,
        same_as_never_added=after == _never_added(composite, after),
        # With "xe" a specialist sees the samples of its own classes alone, and those that are left have none of these.
        seen=any(member.provenance.loss != "xe" for member in after.specialists),
    )


def _never_added(composite: Composite, after: Composite) -> Composite:
    """Put the members that are left together from the start, in another order."""
    counts = dict(zip(composite.specialists, composite.weights, strict=True))
    left = after.specialists[::-1]
    weights = (
        [counts[part] for part in left] if composite.method == "logits" and composite.coefficients else None
    )
    return compose_quietly(
        left, composite.method, weights=weights, inputs=composite.inputs, keep=composite.keep, force=True
    )


def _without_classes(data: Dataset, ids: ClassSet) -> Dataset:
    """Return the data with no sample of some classes to train or validate on; the list of classes stays."""
    dropped = _marks(data.outputs, ids).bool()
    train, val = (split.where(~dropped[split.y]) for split in (data.train, data.val))
    return replace(data, train=train, val=val)


def _marks(classes: int, ids: ClassSet) -> Tensor:
    return one_hot_sets([ids], classes)[0].long()


def _retrained(
    after: Composite, data: Dataset, device: torch.device | str | None, progress: bool
) -> Composite:
    """Train the specialists of a composite again, with their own settings, on other data."""
    groups: dict[tuple[int, TrainingSettings], list[ClassSet]] = {}
    for part in after.specialists:
        groups.setdefault((part.seed, TrainingSettings.from_provenance(part.provenance.training)), []).append(
            part.rewarded
        )
    again: dict[tuple[int, TrainingSettings, ClassSet], Specialist] = {}
    for (seed, settings), sets in groups.items():
        if settings.only_named:
            names = ", ".join(settings.only_named)
            raise SpecError(
                f"specialists cannot be trained again without the class, because their {names} was given as "
                "a function or as numbers, which files do not hold; train them again yourself, and compare scores"
            )
        options: Any = settings.model_dump()
        team = train_specialists(data, rewarded=sets, seed=seed, device=device, progress=progress, **options)
        again |= {(seed, settings, part.rewarded): part for part in team}
    ordered = [
        again[part.seed, TrainingSettings.from_provenance(part.provenance.training), part.rewarded]
        for part in after.specialists
    ]
    return after.of(ordered, weights=after.coefficients if after.method == "logits" else None, force=True)


def _generalist(
    like: Composite,
    settings: TrainingSettings,
    data: Dataset,
    device: torch.device | str | None,
    progress: bool,
) -> nn.Module:
    """Train a network of the same architecture on all samples of the data in the ordinary way."""
    blueprint = like.blueprint
    population = Population(blueprint.builder, [like.specialists[0].seed], device=device)
    population.fit(
        data,
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        optimizer=optimizer_of(settings),
        schedule=settings.schedule,
        warmup=settings.warmup,
        clip_gradient=settings.clip_gradient,
        autocast=settings.autocast,
        objective=objective("xe", blueprint.temperature),
        training_objective=objective("xe", blueprint.temperature, settings.label_smoothing),
        per_member={"rewarded": torch.ones(1, len(blueprint.classes), dtype=torch.bool)},
        metrics={},
        patience=settings.patience,
        progress=progress and "generalist",
    )
    return Tempered(population.member(0).cpu(), blueprint.temperature)


def _untrained(like: Composite) -> nn.Module:
    blueprint = like.blueprint
    network = blueprint.builder(like.specialists[0].seed)
    return Tempered(network, blueprint.temperature)


def _accuracy(score: Score, ids: Sequence[int]) -> float:
    """Return the accuracy on the samples of some classes."""
    rows = list(ids)
    counts = score.confusion[rows]
    return float(counts[range(len(rows)), rows].sum() / counts.sum().clamp(min=1))


def _entropy(score: Score, ids: Sequence[int]) -> float:
    """Return the mean entropy on the samples of some classes."""
    rows = list(ids)
    counts = score.confusion[rows].sum(1)
    return float((score.class_entropy[rows].nan_to_num() * counts).sum() / counts.sum().clamp(min=1))


MOST_SAMPLES = 6000


def hidden_activations(network: nn.Module, x: Tensor, *, batch_size: int = 1024) -> Tensor:
    """Return what a network's output layer reads, ``[samples, units]``; of several networks, side by side.

    Examples
    --------
    >>> import dovetail as dt
    >>> hidden_activations(dt.build_net("mlp:7", (3,), 2, seed=0), torch.zeros(5, 3)).shape
    torch.Size([5, 7])
    """
    networks = list(network.networks) if isinstance(network, LogitAverage) else [network]
    outputs = [each.get_submodule(output_layer(each, x[:1])) for each in networks]
    seen: list[list[Tensor]] = [[] for _ in outputs]
    hooks = [
        layer.register_forward_pre_hook(lambda _, inputs, kept=kept: kept.append(inputs[0].detach()))
        for layer, kept in zip(outputs, seen, strict=True)
    ]
    try:
        network.eval()
        with torch.no_grad():
            for batch in x.split(batch_size):
                network(batch)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.cat([torch.cat(kept) for kept in seen], 1)


def sample(split: Split) -> Split:
    """Return at most `MOST_SAMPLES` samples of a split, always the same, from all over it."""
    order = torch.randperm(len(split), generator=torch.Generator().manual_seed(0))
    return split if len(split) <= MOST_SAMPLES else split.where(order[:MOST_SAMPLES])


def probe_accuracy(train: Split, test: Split, target: int) -> float:
    """Return how well a linear probe tells one class from all others, as balanced accuracy (chance is .5).

    A logistic regression on standardised features, fitted on at most `MOST_SAMPLES` training samples, with both
    sides weighing the same.

    Parameters
    ----------
    train, test : Split
        Activations and class ids.
    target : int
        The class to tell from the others.

    Examples
    --------
    >>> split = Split(torch.tensor([[0.0], [0.1], [5.0], [5.1]]), torch.tensor([0, 2, 1, 1]))
    >>> probe_accuracy(split, split, target=1)
    1.0
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    some = sample(train)
    for name, split in (("training", some), ("test", test)):
        if len((split.y == target).unique()) < 2:
            raise DataError(
                f"a probe needs samples of the class and of others; the {name} samples have one side only"
            )
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000, C=0.1, class_weight="balanced"))
    # Small products, thousands of times: more threads only wait for each other, for minutes when cores are busy.
    with one_blas_thread():
        probe.fit(some.x.flatten(1).numpy(), (some.y == target).numpy())
        found = probe.predict(test.x.flatten(1).numpy())
    return float(balanced_accuracy_score((test.y == target).numpy(), found))
