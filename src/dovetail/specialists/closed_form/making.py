"""Making sums: one part for each class of some data, without a step of training."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Literal

import torch

from ...data.dataset import Dataset
from ...data.preparation import Numbers, Table
from ...errors import DataError, DovetailWarning, SpecError
from ..class_sets import ClassName, class_sets, named
from .basis import Basis
from .blueprint import SumsBlueprint
from .content import content_of
from .settings import SumsSettings
from .sums import Sums


def sums(
    data: Dataset,
    rewarded: Iterable[ClassName | Iterable[ClassName]] | None = None,
    *,
    features: int | None = 2000,
    seed: int = 0,
    length: float | None = None,
    keep: Literal["smaller", "samples", "moments"] = "smaller",
) -> list[Sums]:
    """Make a part for each class that is only sums over that class's own samples.

    Adding parts gives ridge regression on random ReLU features, solved when it is first asked. Nothing is trained, and
    no part knows anything of the samples of other classes; whoever makes parts with the same settings can add them.

    Parameters
    ----------
    data : Dataset
        Classes with training samples, most often features of a trunk. Let the trunk leave them as they are,
        ``trunk.features(data, scale=False)``: features that are scaled to the mean and variance of all training samples
        carry a little of every class into every part.
    rewarded : iterable, optional
        For each part a class or several, by id or name. Default: one part per class that has training samples; classes
        without any are named in a warning.
    features : int or None
        Random features: more are more accurate, and a solution takes time with their third power. None, or 0, for the
        inputs themselves.
    seed : int
        What they are drawn from. Only sums of the same seed can be added.
    length : float, optional
        What inputs are measured against. By default each by its own length, so that only its direction counts; for
        tables and other numbers that were scaled to variance 1, the root of how many there are, so that it counts how
        large they are.
    keep : {"smaller", "samples", "moments"}
        What a part and its file hold: the samples as whole numbers, or only their moments, which say nothing of a
        single sample unless there are few. By default what is smaller.

    Returns
    -------
    list of Sums
        In the order of ``rewarded``.

    Raises
    ------
    DataError
        When there are no training samples of a class that was asked for, or of any.
    SpecError
        When ``rewarded`` has the same part twice: added, its samples would count twice.

    Warns
    -----
    DovetailWarning
        When classes get no part because they have no training samples.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.sums(data, features=300)
    >>> team[3]
    Sums(3: 117 samples, 300 random features, seed 0)
    >>> dt.compose(team).evaluate(data.test).rewarded_accuracy > 0.9
    True
    """
    if not isinstance(data, Dataset):
        raise DataError(
            f"give a Dataset, such as dovetail.load('digits') or dovetail.read('wine.csv'), not {type(data).__name__}"
        )
    data.check_trainable()
    if data.task != "classes":
        raise DataError(f"sums need data with classes; {data.name} has {data.task}")
    settings = SumsSettings(features=features, seed=seed, length=length, keep=keep)
    blueprint = blueprint_for(data, settings)
    counts = data.train.y.bincount(minlength=len(data.classes))
    sets = class_sets(rewarded, data.classes)
    twice = next((one for place, one in enumerate(sets) if one in sets[:place]), None)
    if twice is not None:
        raise SpecError(
            f"rewarded has a part of {named(twice, data.classes)} twice, and added up the same samples would count "
            "twice; name it once"
        )
    if rewarded is None and (
        lacking := [number for number, count in enumerate(counts.tolist()) if not count]
    ):
        warnings.warn(
            f"{data.name} has no training samples of class {named(lacking, data.classes, most=5)}, so there is no part "
            "of it",
            DovetailWarning,
            stacklevel=2,
        )
        sets = [ids for ids in sets if counts[ids[0]]]
    empty = [number for ids in sets for number in ids if not counts[number]]
    if empty:
        raise DataError(
            f"{data.name} has no training samples of class {named(empty, data.classes)}; give it some, or leave the "
            "class out of rewarded= (-r on the command line, once for each other class)"
        )
    ids = data.train.y.cpu()
    wanted = sorted({number for one in sets for number in one})
    contents = {
        number: content_of(
            blueprint.basis.numbers(data.train.x[torch.nonzero(ids == number).squeeze(1)]),
            blueprint.basis,
            settings.keep,
        )
        for number in wanted
    }
    return [Sums(blueprint, {data.classes[number]: contents[number] for number in one}) for one in sets]


def blueprint_for(data: Dataset, settings: SumsSettings) -> SumsBlueprint:
    """Return what sums of data are made with, which depends on the kind of its inputs and on no sample."""
    inputs = math.prod(data.input_shape)
    length = settings.length
    preparation = data.preparation
    scaled = isinstance(preparation, Table) or (
        isinstance(preparation, Numbers) and len(data.input_shape) == 1 and preparation.scale != (1.0,)
    )
    if length is None and scaled:
        length = math.sqrt(inputs)
    basis = Basis(inputs=inputs, features=settings.features or None, seed=settings.seed, length=length)
    return SumsBlueprint(basis, data.input_shape, data.classes, preparation)
