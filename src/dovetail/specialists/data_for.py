"""Data for parts: what a text names, prepared as the samples were that they were trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from ..data import Dataset, data_spec, load_here, open_data
from ..data.open_data import is_known
from ..data.preparation import Features, Preparation
from ..data.split import Split
from ..errors import DataError
from .blueprint import Interface
from .fitting import check_data

if TYPE_CHECKING:
    from .part import Part


def data_for(blueprint: Interface, text: str, *, download: bool = True) -> Dataset:
    """Return data to measure parts on.

    Parameters
    ----------
    blueprint : Interface
        That of the parts.
    text : str
        A data set by name, a file or folder, or a function, as `dovetail.data.open_data` takes it. Raw samples are
        prepared as those of the training were, with the class list from then.
    download : bool
        Whether files of a known set may be downloaded if they are not here.

    Raises
    ------
    DataError
        When it has other classes, samples of another shape, or samples that were prepared in another way.

    Examples
    --------
    >>> from dovetail.nets import NetSpec
    >>> from dovetail.specialists import Blueprint
    >>> ten = tuple("0123456789")
    >>> data_for(Blueprint(NetSpec.parse("mlp:8"), (1, 8, 8), ten, 5.0), "digits")
    Dataset('digits', 1149/288/360, input_shape=(1, 8, 8), outputs=10)
    """
    data = inputs_for(blueprint, text, download=download)
    if (
        data.task == "classes"
        and set(data.classes) <= set(blueprint.classes)
        and data.classes != blueprint.classes
    ):
        data = over_list(data, blueprint.classes)  # names say what ids mean
    check_data(blueprint, data)
    _check_prepared(blueprint, data)
    return data


def over_list(data: Dataset, classes: Sequence[str]) -> Dataset:
    """Return data with the ids of another class list, which has all of its names.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> (over_list(data, ["zero", *data.classes]).train.y - data.train.y).unique()
    tensor([1])
    """
    place = torch.tensor([list(classes).index(name) for name in data.classes])

    def moved(split: Split) -> Split:
        return Split(split.x, place.to(split.y.device)[split.y])

    train, val, test = (moved(split) for split in data.splits.values())
    return replace(data, train=train, val=val, test=test, classes=tuple(classes), columns=())


def inputs_for(blueprint: Interface, text: str, *, download: bool = True) -> Dataset:
    """Return data whose samples are prepared like those of parts, whatever its classes; see `data_for`."""
    preparation = blueprint.preparation
    on_trunk = isinstance(preparation, Features)
    like = _Raw(preparation.reads, blueprint.classes) if isinstance(preparation, Features) else blueprint
    if not download and is_known(text):
        spec = data_spec(text)
        data = load_here(spec.name, **spec.options)
    else:
        data = open_data(text, like=None if on_trunk and like.preparation is None else like)
    if isinstance(preparation, Features) and not isinstance(data.preparation, Features):
        data = preparation.trunk_at_hand().features(data, like=blueprint)
    return data


def data_beside(part: Part, text: str) -> Dataset:
    """Return data of classes that come to a part, prepared like what it was trained on.

    Parameters
    ----------
    part : Specialist or Composite
        What there is; where it stands on a trunk, with that at hand.
    text : str
        The data, as `dovetail.data.open_data` takes it. Its labels may be new.

    Examples
    --------
    >>> import dovetail as dt
    >>> (three,) = dt.train_specialists(dt.load("digits"), "mlp:16", [3], epochs=1, progress=False)
    >>> data_beside(three, "digits").input_shape
    (1, 8, 8)
    """
    found = open_data(text)
    if part.preparation is None:
        return found
    classes = tuple(dict.fromkeys((*part.classes, *found.classes)))
    blueprint: Any = part.blueprint  # a dataclass, whatever the kind of part
    return inputs_for(replace(blueprint, classes=classes), text)


class _Raw(NamedTuple):
    """How samples are prepared for the trunk that parts stand on."""

    preparation: Preparation | None
    classes: tuple[str, ...]


def _check_prepared(blueprint: Interface, data: Dataset) -> None:
    """Refuse samples that look the same to a network and mean something else, which no other check would notice."""
    ours, theirs = (one and one.digest for one in (blueprint.preparation, data.preparation))
    if ours == theirs:
        return
    done = "as they are" if data.preparation is None else data.preparation.describe()
    wanted = "as they are" if blueprint.preparation is None else blueprint.preparation.describe()
    raise DataError(
        f"the samples of {data.name} are prepared in another way ({done}) than those of the training ({wanted}), so "
        "numbers would mean nothing; name a file of raw samples, or a function that returns raw samples and labels"
    )
