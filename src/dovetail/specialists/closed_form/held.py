"""What sums hold: the content of each class, and the moments of all of them, computed when they are first needed.

Moments are whole numbers, so they are added and subtracted where that is less work than computing them anew, and are
the same to the bit either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import torch
from torch import Tensor

from ...errors import MisfitError
from .basis import Basis
from .content import Content, Samples, joined, moments_of, moments_together, without


class Held:
    """The content of some classes, by name, in alphabetical order.

    Attributes
    ----------
    basis : Basis
        Of which basis the sums are.
    contents : dict
        What is held of each class.

    Examples
    --------
    >>> from dovetail.specialists.closed_form.content import content_of
    >>> basis = Basis(inputs=2, features=3)
    >>> cat, dog = (Held(basis, {n: content_of(basis.numbers(torch.rand(4, 2)), basis)}) for n in ("cat", "dog"))
    >>> both = Held.joined([dog, cat])
    >>> list(both.contents), bool((both.second == cat.second + dog.second).all())
    (['cat', 'dog'], True)
    """

    def __init__(
        self, basis: Basis, contents: Mapping[str, Content], moments: tuple[Tensor, Tensor] | None = None
    ) -> None:
        if not contents:
            raise MisfitError("sums of nothing; give at least one sample")
        self.basis = basis
        self.contents = dict(sorted(contents.items()))
        if moments is not None:
            self.moments = moments

    def __getstate__(self) -> dict[str, object]:
        # Moments take far more memory than what they follow from.
        return {"basis": self.basis, "contents": self.contents}

    @cached_property
    def moments(self) -> tuple[Tensor, Tensor]:
        """The sum of the features of each class, and that of the outer products of all."""
        return moments_together(list(self.contents.values()), self.basis)

    @property
    def first(self) -> Tensor:
        """The sum of the features of each class, whole numbers in float64 ``[size, classes]``."""
        return self.moments[0]

    @property
    def second(self) -> Tensor:
        """The sum of the outer products of all features, whole numbers in float64 ``[size, size]``."""
        return self.moments[1]

    @property
    def samples(self) -> list[Samples] | None:
        """All samples, by class; None where of some class only moments are held."""
        held = [content for content in self.contents.values() if isinstance(content, Samples)]
        return held if len(held) == len(self.contents) else None

    def computed_anew(self) -> Held:
        """Return the same, with nothing that is computed already."""
        return Held(self.basis, self.contents)

    def with_moments(self) -> Held:
        """Return the same sums with nothing of their samples but moments."""
        contents = {name: moments_of(content, self.basis) for name, content in self.contents.items()}
        return Held(self.basis, contents, vars(self).get("moments"))

    def renamed(self, names: Mapping[str, str]) -> Held:
        """Return the same sums under other names of classes; what is in an order by name is computed anew."""
        if all(names[name] == name for name in self.contents):
            return self
        return Held(self.basis, {names[name]: content for name, content in self.contents.items()})

    def of(self, name: str) -> Held:
        """Return what is held of one class."""
        return Held(self.basis, {name: self.contents[name]})

    def less(self, gone: Mapping[str, Content]) -> Held:
        """Return what is left without some samples of some classes.

        Raises
        ------
        MisfitError
            When they are not there, or nothing is left.
        """
        left = dict(self.contents)
        for name, content in gone.items():
            rest = without(left.pop(name), content, self.basis)
            if rest is not None:
                left[name] = rest
        if not left or "moments" not in vars(self):
            return Held(self.basis, left)
        less, second = moments_together(list(gone.values()), self.basis)
        names = list(self.contents)
        first = self.first.clone()
        first[:, [names.index(name) for name in gone]] -= less
        stay = [place for place, name in enumerate(names) if name in left]
        return Held(self.basis, left, (first[:, stay], self.second - second))

    @staticmethod
    def joined(several: Sequence[Held]) -> Held:
        """Return all samples of several together."""
        basis = several[0].basis
        by_class: dict[str, list[Content]] = {}
        for held in several:
            for name, content in held.contents.items():
                by_class.setdefault(name, []).append(content)
        contents = {name: joined(parts, basis) for name, parts in by_class.items()}
        computed = any("moments" in vars(held) for held in several)
        # A class that comes to many then costs what it holds itself.
        return Held(basis, contents, _added(several, sorted(contents)) if computed else None)


def _added(several: Sequence[Held], names: list[str]) -> tuple[Tensor, Tensor]:
    """Return the moments of several together, of which some are computed already."""
    basis = several[0].basis
    known = [(list(held.contents), *held.moments) for held in several if "moments" in vars(held)]
    others = [one for held in several if "moments" not in vars(held) for one in held.contents.items()]
    if others:
        known.append(([name for name, _ in others], *moments_together([one for _, one in others], basis)))
    first = torch.zeros(basis.size, len(names), dtype=torch.float64)
    second = torch.zeros(basis.size, basis.size, dtype=torch.float64)
    for own, its_first, its_second in known:
        first.index_add_(1, torch.tensor([names.index(name) for name in own]), its_first)
        second += its_second
    return first, second
