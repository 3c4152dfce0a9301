"""What dropping a class really does: the composite before and after, beside networks that never had the class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ..data.dataset import Dataset, Split
from ..errors import DataError, MisfitError
from ..nets import build_net
from ..population import Adam, Population
from .class_sets import ClassName, class_id
from .composite import Composite, compose_quietly
from .networks import Tempered
from .objectives import rewarded_cross_entropy
from .part import Part
from .probe import hidden_activations, probe_accuracy
from .score import Score, score_logits
from .specialist import Specialist
from .train import train_specialists

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class DropAudit:
    """What is left of a class after its specialist was taken out.

    Attributes
    ----------
    dropped : str
        Name of the class.
    scores : dict of str to Score
        By network, on the test split: the composite before and after, specialists that never saw a sample of the
        class, and generalists with and without it.
    probes : dict of str to float
        By network, balanced accuracy with which a linear probe on the last hidden layer tells the class from the
        others (chance .5); also for an untrained network and the raw inputs, which know nothing of any class.
    same_as_never_added : bool
        Whether the composite without the class is, bit for bit, one to which it was never added.
    """

    dropped: str
    scores: dict[str, Score]
    probes: dict[str, float]
    same_as_never_added: bool

    def to_frame(self) -> pd.DataFrame:
        """Return a row per network: accuracy and entropy on the dropped class, accuracy on the others, probe."""
        import pandas as pd

        number = next(iter(self.scores.values())).classes.index(self.dropped)
        rows = []
        for name, probe in self.probes.items():
            score = self.scores.get(name)
            rows.append(
                {
                    "network": name,
                    "accuracy on it": None if score is None else float(score.class_accuracy[number]),
                    "entropy on it": None if score is None else float(score.class_entropy[number]),
                    "accuracy on the others": None if score is None else _accuracy_without(score, number),
                    "probe": probe,
                }
            )
        return pd.DataFrame(rows)

    @property
    def finding(self) -> str:
        """What the audit shows, in words."""
        after, never = self.probes["composite without it"], self.probes["composite that never saw it"]
        plain, raw = self.probes["untrained network"], self.probes["raw inputs"]
        number = next(iter(self.scores.values())).classes.index(self.dropped)
        left = float(self.scores["composite without it"].class_accuracy[number])
        same = (
            "bit for bit the composite to which it was never added"
            if self.same_as_never_added
            else "not the same"
        )
        return (
            f"Without its specialist the composite names {self.dropped} for {100 * left:.1f} % of its samples, and is "
            f"{same}. That is about the output. From the hidden layer a linear probe still tells {self.dropped} from "
            f"the others with {100 * after:.1f} % balanced accuracy; from specialists that never saw a sample of it, "
            f"with {100 * never:.1f} %; from an untrained network, with {100 * plain:.1f} %; from the raw inputs, with "
            f"{100 * raw:.1f} %. The other specialists saw its samples, unlabelled, in training: leaving one out is no "
            "proof that nothing of the class is left."
        )

    def __repr__(self) -> str:
        return f"DropAudit({self.dropped})\n{self.to_frame().round(4).to_string(index=False)}"

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, ready for JSON."""
        table = self.to_frame()
        return {
            "dropped": self.dropped,
            "networks": table.astype(object).where(table.notna(), None).to_dict("records"),
            "same_as_never_added": self.same_as_never_added,
            "finding": self.finding,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what the probe reads from each network."""
        from .plots import plot_probes

        return plot_probes(self, ax)


def audit_drop(
    composite: Composite,
    dropped: ClassName,
    data: Dataset,
    *,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> DropAudit:
    """Take a class out of a composite and measure what is left of it.

    Trains, with the settings that the specialists were trained with: specialists for the other classes and a
    generalist on data without any sample of the class, and a generalist on everything.

    Parameters
    ----------
    composite : Composite
        With a specialist for the class alone.
    dropped : int or str
        The class.
    data : Dataset
        What the specialists were trained on.
    device : str or torch.device, optional
        Where to train; the first GPU if there is one.
    progress : bool
        Show progress (on terminals only).
    """
    number = class_id(dropped, composite.classes)
    after = composite.without(number)
    for part in composite.specialists:
        if part.record.fingerprint != data.fingerprint:
            raise DataError(
                f"{part!r} was trained on other data than this {data.name} (fingerprints {part.record.fingerprint} and "
                f"{data.fingerprint}), so nothing trained here could be compared with it"
            )
    unseen = _without_class(data, number)
    never = _retrained(after, unseen, device, progress)
    fresh = compose_quietly([p for p in composite.specialists if number not in p.rewarded], composite.method,
                            inputs=composite.inputs, keep=composite.keep, force=True)  # fmt: skip
    networks: dict[str, tuple[nn.Module, tuple[int, ...] | None]] = {
        "composite with it": (composite.module(), composite.rewarded),
        "composite without it": (after.module(), after.rewarded),
        "composite that never saw it": (never.module(), never.rewarded),
        "generalist": (_generalist(composite, data, device, progress), composite.rewarded),
        "generalist retrained without it": (_generalist(after, unseen, device, progress), after.rewarded),
        "untrained network": (_untrained(composite), None),
    }
    scores, probes = {}, {}
    for name, (network, rewarded) in networks.items():
        train, test = (
            Split(hidden_activations(network, split.x), split.y) for split in (data.train, data.test)
        )
        probes[name] = probe_accuracy(train, test, number)
        if rewarded is not None:
            with torch.no_grad():
                (scores[name],) = score_logits(
                    network(data.test.x)[None], data.test.y, [rewarded], data.classes
                )
    probes["raw inputs"] = probe_accuracy(data.train, data.test, number)
    return DropAudit(data.classes[number], scores, probes, after.digest == fresh.digest)


def _without_class(data: Dataset, number: int) -> Dataset:
    """Return the data with no sample of a class to train or validate on; the list of classes stays."""
    train, val = (split.where(split.y != number) for split in (data.train, data.val))
    return Dataset(data.name, train, val, data.test, data.classes, data.task, data.options)


def _retrained(
    after: Composite, data: Dataset, device: torch.device | str | None, progress: bool
) -> Composite:
    """Train the specialists of a composite again, with their own settings, on other data."""
    groups: dict[str, list[Specialist]] = {}
    for part in after.specialists:
        groups.setdefault(repr((part.seed, sorted(part.record.training.items()))), []).append(part)
    parts: list[Part] = []
    for group in groups.values():
        settings: Mapping[str, object] = group[0].record.training
        parts += train_specialists(
            data, rewarded=[part.rewarded for part in group], seed=group[0].seed, device=device, progress=progress,
            **settings,  # type: ignore[arg-type]
        )  # fmt: skip
    return after.of([specialist for part in parts for specialist in part.specialists], force=True)


def _generalist(
    like: Composite, data: Dataset, device: torch.device | str | None, progress: bool
) -> nn.Module:
    """Train a network of the same architecture on all samples of the data in the ordinary way."""
    settings, basis = like.specialists[0].record.training, like.basis
    population = Population(basis.builder, [like.specialists[0].seed], device=device)
    try:
        optimiser, epochs = Adam(lr=float(str(settings["lr"]))), int(str(settings["epochs"]))
    except (KeyError, ValueError):
        raise MisfitError(f"{like.specialists[0]!r} does not say how it was trained") from None
    everything: Tensor = torch.ones(1, len(basis.classes), dtype=torch.bool)
    population.fit(
        data, epochs=epochs, optimiser=optimiser, own={"rewarded": everything},
        objective=partial(rewarded_cross_entropy, temperature=basis.temperature), metrics={},
        progress=progress and "generalist",
    )  # fmt: skip
    return Tempered(population.member(0).cpu(), basis.temperature)


def _untrained(like: Composite) -> nn.Module:
    basis = like.basis
    network = build_net(basis.net, basis.input_shape, len(basis.classes), seed=like.specialists[0].seed)
    return Tempered(network, basis.temperature)


def _accuracy_without(score: Score, number: int) -> float:
    """Return the accuracy on the samples of all classes but one."""
    others = [row for row in score.rewarded if row != number]
    counts = score.confusion[others]
    return float(counts[range(len(others)), others].sum() / counts.sum())
