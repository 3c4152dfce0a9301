"""What is proven of a part from which a class was taken out, and what is not, by the kind of part.

Sums are proven: without a class they are what is made without its samples. Of specialists only the output is: those
that stay may have seen samples of the class, as ones to be undecided on.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...data.dataset import Dataset
from ...errors import DataError
from ..class_sets import ClassSet
from ..closed_form.certificate import certify, not_proven_of_anything, not_proven_of_inputs
from ..closed_form.combined import Combined
from ..closed_form.sums import Sums
from ..composite import Composite
from .retraining import Droppable, never_added


@dataclass(frozen=True)
class Claims:
    """What can be said of a part without a class before anything is measured.

    Attributes
    ----------
    proven, not_proven : tuple of str
        What follows, and what does not, in words.
    same_as_never_added : bool
        Whether it is, bit for bit, one to which the class was never added; of sums, what is made without its samples.
    seen : bool
        Whether parts that are left saw samples of the class in training.
    """

    proven: tuple[str, ...]
    not_proven: tuple[str, ...]
    same_as_never_added: bool
    seen: bool


def claims_of(whole: Droppable, after: Droppable, ids: ClassSet, data: Dataset) -> Claims:
    """Return what is proven of a part without some classes, and what is not.

    Parameters
    ----------
    whole, after : Composite, Sums or Combined
        The part with the classes, and without.
    ids : tuple of int
        The classes.
    data : Dataset
        What it was made of.

    Raises
    ------
    DataError
        When sums are not of the training samples of this data.
    """
    names = [whole.classes[number] for number in ids]
    if isinstance(whole, Combined):
        assert isinstance(after, Combined)
        return _of_combination(whole, after, ids, data, ", ".join(names))
    if isinstance(whole, Sums):
        return _of_sums(whole, names, data)
    assert isinstance(after, Composite)
    return _of_specialists(whole, after, ", ".join(names))


def _of_sums(whole: Sums, names: list[str], data: Dataset) -> Claims:
    found = certify(whole, names, data)
    if not found.holds:
        raise DataError(
            f"{whole!r} without {', '.join(names)} is not what the training samples of {data.name} without it give, so "
            "it holds other samples than these; give the data that it was made of"
        )
    return Claims(found.proven, found.not_proven, same_as_never_added=True, seen=False)


def _of_specialists(whole: Composite, after: Composite, what: str) -> Claims:
    same = after == never_added(whole, after)
    # With "xe" a specialist sees the samples of its own classes alone, and those that are left have none of these.
    witnesses = sum(member.provenance.loss != "xe" for member in after.specialists)
    proven, not_proven = [], []
    if same:
        proven.append(
            f"Without {what} the composite is, bit for bit, one to which the specialist of {what} was never added: "
            "nothing of its weights is left."
        )
    else:
        not_proven.append(
            f"That nothing of the specialist of {what} is left: put together anew without it, the others give other "
            "weights."
        )
    if witnesses:
        not_proven.append(
            f"That the others know nothing of {what}: {witnesses} of {len(after)} specialists saw its samples in "
            "training, without labels, and learned to be undecided on them."
        )
    else:
        proven.append(
            f"No specialist that is left had a training sample of {what}: their loss looks at samples of their own "
            "classes alone."
        )
    if after.method == "calibrated" or after.statistics:
        not_proven.append(
            f"That coefficients and batch-norm statistics know nothing of {what}: they were computed on samples of all "
            "classes, as those were given."
        )
    not_proven += not_proven_of_inputs(whole.preparation, what)
    return Claims(
        tuple(proven),
        (*not_proven, *not_proven_of_anything(what)),
        same_as_never_added=same,
        seen=witnesses > 0,
    )


def _of_combination(whole: Combined, after: Combined, ids: ClassSet, data: Dataset, what: str) -> Claims:
    parts = [
        claims_of(part, left, ids, data)  # type: ignore[arg-type]
        for part, left in zip(whole.parts, after.parts, strict=True)
    ]
    weighed = (
        f"That what each part counts knows nothing of {what}: it was chosen on validation samples, its own among them, "
        "and stays. dovetail.combine chooses it anew."
    )
    proven = dict.fromkeys(text for part in parts for text in part.proven)
    not_proven = dict.fromkeys(text for part in parts for text in part.not_proven)
    return Claims(
        tuple(proven),
        (weighed, *not_proven),
        same_as_never_added=all(part.same_as_never_added for part in parts),
        seen=any(part.seen for part in parts),
    )
