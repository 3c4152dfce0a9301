"""Retraining: the networks that a part without a class is compared with, above all one that never saw the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ...data.dataset import Dataset
from ...errors import DataError, SpecError
from ...population import Population, recompute_batch_norm
from ..blueprint import Tempered
from ..class_sets import ClassSet, one_hot_sets
from ..closed_form.certificate import fresh_sums
from ..closed_form.combined import Combined, combine
from ..closed_form.sums import Sums
from ..composite import Composite, compose_quietly
from ..manifest import GIVEN
from ..objectives import objective
from ..optimizing import optimizer_of
from ..part import Part
from ..settings import TrainingSettings
from ..specialist import Specialist
from ..train import settled, train_specialists

Droppable = Composite | Sums | Combined
"""Parts that classes can be taken out of."""


class Compared(NamedTuple):
    """A network, and the ids of the classes that it knows; none for one that was not trained."""

    network: nn.Module
    rewarded: tuple[int, ...]


def composites_in(part: Part) -> list[Composite]:
    """Return the composites that a part is made of: itself, or those of a combination."""
    if isinstance(part, Combined):
        return [one for inner in part.parts for one in composites_in(inner)]
    return [part] if isinstance(part, Composite) else []


def check_trained_on(part: Part, data: Dataset) -> None:
    """Refuse specialists that were trained on other data, or that cannot be trained again."""
    members = [member for composite in composites_in(part) for member in composite.specialists]
    for member in members:
        if member.provenance.fingerprint != data.fingerprint:
            raise DataError(
                f"{member!r} was trained on other data than this {data.name} (fingerprints "
                f"{member.provenance.fingerprint} and {data.fingerprint}), so nothing trained here could be "
                "compared with it"
            )
    if any(member.provenance.start.startswith(GIVEN) for member in members):
        raise SpecError(
            "some of these specialists began with weights that were given (as_part), so they cannot be trained again "
            "without the class; train them again yourself, and compare scores"
        )


def without_classes(data: Dataset, ids: ClassSet) -> Dataset:
    """Return the data with no sample of some classes to train or validate on; the list of classes stays."""
    dropped = marks(data.outputs, ids).bool()
    train, val = (split.where(~dropped[split.y]) for split in (data.train, data.val))
    return replace(data, train=train, val=val)


def marks(classes: int, ids: ClassSet) -> Tensor:
    """Return 1 for each of some classes, and 0 for all others."""
    return one_hot_sets([ids], classes)[0].long()


def retrained(after: Part, data: Dataset, device: torch.device | str | None, progress: bool) -> Part:
    """Return what a part is if all of it is made again, in its own way, from other data.

    Parameters
    ----------
    after : Part
        Sums, a composite, or a combination of them.
    data : Dataset
        The samples that are left.
    device : str or torch.device, optional
        Where to train.
    progress : bool
        Show progress.
    """
    if isinstance(after, Sums):
        return fresh_sums(after, data)
    if isinstance(after, Combined):
        parts = [retrained(part, data, device, progress) for part in after.parts]
        return combine(parts, data.val, device=device)
    assert isinstance(after, Composite)
    return retrained_composite(after, data, device, progress)


def retrained_composite(
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


def generalist(
    like: Composite,
    data: Dataset,
    device: torch.device | str | None,
    progress: bool,
) -> nn.Module:
    """Train a network of the same architecture on all samples of the data in the ordinary way."""
    blueprint = like.blueprint
    settings = settled(TrainingSettings.from_provenance(like.specialists[0].provenance.training))
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


def untrained(like: Composite, inputs: Tensor) -> nn.Module:
    """Return the network before any training, with the batch-norm statistics that inputs give it."""
    blueprint = like.blueprint
    network = blueprint.builder(like.specialists[0].seed)
    return Tempered(recompute_batch_norm(network, inputs), blueprint.temperature)


def never_added(whole: Composite, after: Composite) -> Composite:
    """Put the members that are left together from the start, in another order."""
    counts = dict(zip(whole.specialists, whole.weights, strict=True))
    left: Sequence[Specialist] = after.specialists[::-1]
    weights = [counts[part] for part in left] if whole.method == "logits" and whole.coefficients else None
    return compose_quietly(
        left, whole.method, weights=weights, inputs=whole.inputs, keep=whole.keep, force=True
    )
