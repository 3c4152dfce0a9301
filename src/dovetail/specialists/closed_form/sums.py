"""Sums: a part that is only sums over the samples of its own classes. Adding all gives ridge regression.

Nothing in it comes from samples of other classes, and sums of whole numbers are exact, so a class, a contributor or a
sample that is taken out leaves, bit for bit, what there would be had it never been there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

import torch
from pydantic import ValidationError
from torch import Tensor, nn

from ...data.split import Split
from ...errors import DataError, MisfitError, SpecError
from ...io.header import KEY
from ...io.write import write_tensors
from ...settings import explained
from ..blueprint import State, hash_tensors
from ..class_sets import ClassName, class_id
from ..evaluate import check_class_ids
from ..part import Part, checked_layout
from ..specialist import Specialist
from ..threshold import Threshold
from .blueprint import SumsBlueprint, joined_classes
from .content import Content, Keep, Samples, content_of
from .held import Held
from .manifest import SumsManifest
from .network import SumsNetwork
from .ridge import solution
from .tuning import USUAL, Tuning, tuned_by_leaving_out, tuned_on


class Sums(Part):
    """Sums of the random features of some classes' samples; made by `sums`, or opened from a file.

    Of one class or of many, it is the same kind of thing: ``+`` adds samples, ``-`` takes them out again, of other
    classes or of the same. In whatever order that is done, what holds the same samples has the same sums and the same
    solution, to the bit. Its class list only grows, where lists that differ were joined: names of classes that were
    taken out stay in it, as outputs of 0, and ``==`` compares it as well. ``sums_digest`` and ``solution_digest`` are
    of what is held, whatever the list.

    Attributes
    ----------
    blueprint : SumsBlueprint
        The basis of the features, the class list, and how samples are prepared.
    tuning : Tuning
        Regularisation and temperature.
    threshold : Threshold or None
        How sure it must be to answer; see `with_threshold`.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.sums(data, features=300)
    >>> whole = sum(team)
    >>> whole
    Sums(0, 1, 2, 3, 4, 5, 6, 7, 8, 9: 1,149 samples, 300 random features, seed 0)
    >>> whole.evaluate(data.test).rewarded_accuracy > 0.9
    True
    >>> whole - team[3] == sum(team[:3]) + sum(team[4:])
    True
    """

    blueprint: SumsBlueprint
    tuning: Tuning
    _held: Held
    _given_tuning: Tuning | None

    def __init__(
        self,
        blueprint: SumsBlueprint,
        contents: Mapping[str, Content] | Held,
        *,
        tuning: Tuning | None = None,
        threshold: Threshold | None = None,
    ) -> None:
        held = contents if isinstance(contents, Held) else Held(blueprint.basis, contents)
        if not set(held.contents) <= set(blueprint.classes):
            raise MisfitError("sums of a class that is not in their class list")
        vars(self).update(
            blueprint=blueprint,
            tuning=tuning or USUAL,
            _held=held,
            _given_tuning=tuning,
            threshold=threshold,
        )

    def _with(self, threshold: Threshold | None) -> Self:
        return type(self)(self.blueprint, self._held, tuning=self._given_tuning, threshold=threshold)

    def _changed(self, change: Callable[[Any], Any]) -> Self:
        blueprint = change(self.blueprint)
        names = dict(zip(self.classes, blueprint.classes, strict=True))
        return type(self)(
            blueprint, self._held.renamed(names), tuning=self._given_tuning, threshold=self.threshold
        )

    def _holding(self, held: Held) -> Self:
        return type(self)(self.blueprint, held, tuning=self._given_tuning)

    def without_cards(self) -> Self:
        """Return the same part: it has no cards."""
        return self

    @property
    def contents(self) -> Mapping[str, Content]:
        """What it holds of each class that it knows, by name: its samples, or their moments."""
        return MappingProxyType({name: self._held.contents[name] for name in self.known})

    @property
    def specialists(self) -> tuple[Specialist, ...]:
        """None: it is made of sums."""
        return ()

    @property
    def rewarded(self) -> tuple[int, ...]:
        """Ids of the classes it recognises."""
        held = self._held.contents
        return tuple(number for number, name in enumerate(self.classes) if name in held)

    @property
    def counts(self) -> dict[str, int]:
        """How many samples it holds the sums of, by class."""
        return {name: content.count for name, content in self.contents.items()}

    @property
    def samples(self) -> int:
        """How many samples it holds the sums of."""
        return sum(self.counts.values())

    @property
    def temperature(self) -> float:
        """What scores are divided by."""
        return self.tuning.temperature

    def __len__(self) -> int:
        return len(self._held.contents)

    def __iter__(self) -> Iterator[Sums]:
        """Yield a part for each class."""
        for name in self.known:
            yield self._holding(self._held.of(name))

    def __repr__(self) -> str:
        return f"Sums({self.knows}: {self.samples:,} samples, {self.blueprint.basis})"

    @cached_property
    def digest(self) -> str:
        """Hash of everything that it holds."""
        held = {name: content.digest for name, content in self.contents.items()}
        what = [self.blueprint.text, self.classes, held, self.tuning.model_dump()]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]

    @property
    def manifest(self) -> SumsManifest:
        """What its file says about it."""
        return SumsManifest(
            self.blueprint,
            {
                name: ("samples" if isinstance(content, Samples) else "moments", content.count)
                for name, content in self.contents.items()
            },
            self._given_tuning,
            self.digest,
            self.threshold,
        )

    @property
    def second_moment(self) -> Tensor:
        """The sum of the outer products of all features, whole numbers in float64 ``[size, size]``."""
        return self._held.second.clone()

    @property
    def first_moments(self) -> Tensor:
        """The sum of the features of each class that it knows, whole numbers in float64 ``[size, known]``."""
        return self._in_own_order(self._held.first)

    @cached_property
    def sums_digest(self) -> str:
        """Hash of the sums alone: of the names of classes, how many samples they have, and both moments."""
        counts = json.dumps(self.counts, sort_keys=True)
        moments = {"first": self._held.first, "second": self._held.second}
        return hashlib.sha256((counts + hash_tensors(moments)).encode()).hexdigest()[:32]

    @property
    def solution_digest(self) -> str:
        """Hash of the solution, and of what scores are divided by."""
        named = {f"over {self.temperature!r}": self._solution}
        return hash_tensors(named)

    @cached_property
    def _solution(self) -> Tensor:
        """The solution for classes in alphabetical order, whatever the class list."""
        return solution(self._held.second, self._held.first, self.tuning.ridge)

    @property
    def weights(self) -> Tensor:
        """The solution: what features count for each class that it knows, float64 ``[size, known]``."""
        return self._in_own_order(self._solution)

    def _in_own_order(self, columns: Tensor) -> Tensor:
        """Return columns for classes in alphabetical order in that of the class list."""
        names = list(self._held.contents)
        return columns[:, [names.index(name) for name in self.known]]

    def _network(self) -> nn.Module:
        # Classes that it does not know have columns of zeros.
        weights = torch.zeros(self.blueprint.basis.size, len(self.classes), dtype=torch.float64)
        weights[:, list(self.rewarded)] = self.weights
        return SumsNetwork(
            self.blueprint.basis.layer(),
            weights.T.float().contiguous(),
            self.temperature,
        )

    def state_dict(self, *, layout: Literal["dense", "sparse"] = "dense") -> State:
        """Return the tensors of its network by name."""
        checked_layout(layout)
        return dict(self._network().state_dict())

    def with_tuning(self, *, ridge: float | None = None, temperature: float | None = None) -> Self:
        """Return the same sums, solved with another regularisation or temperature.

        Parameters
        ----------
        ridge : float, optional
            What is added to the diagonal of the second moment, for features in units of 1; 3 unless it was chosen.
        temperature : float, optional
            What scores are divided by; .07 unless it was chosen.

        Raises
        ------
        SpecError
            When one of them is out of its bounds.
        """
        wanted = {"ridge": ridge, "temperature": temperature}
        given = {name: value for name, value in wanted.items() if value is not None}
        try:
            tuning = Tuning(**{**self.tuning.model_dump(exclude={"chosen_on"}), **given})
        except ValidationError as error:
            raise explained(Tuning, error.errors()[0]) from None
        return type(self)(self.blueprint, self._held, tuning=tuning)

    def tuned(self, split: Split | None = None) -> Self:
        """Return the same sums with the regularisation of the fewest errors, and a temperature that fits.

        A function of the samples: what a class was taken out of, tuned anew, is what never had the class, tuned. Left
        as it is after that, the tuning is two numbers that the class had a say in.

        Parameters
        ----------
        split : Split, optional
            Validation samples with class ids. Without them every sample is judged by what there would be without it
            (leave one out), in closed form; that needs the samples, so sums that hold only moments need a split.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> whole = sum(dt.sums(data, features=300)).tuned()
        >>> whole.tuning.chosen_on
        'leave one out of 1,149'
        """
        held = self._held
        if split is not None:
            tuning = tuned_on(held, self._of_known(split))
        elif held.samples is None:
            raise DataError(
                f"{self!r} holds the moments of classes, not their samples, so none can be left out; give validation "
                "samples: tuned(data.val)"
            )
        else:
            tuning = tuned_by_leaving_out(held, held.samples)
        return type(self)(self.blueprint, held, tuning=tuning)

    def _of_known(self, split: Split) -> Split:
        """Return the samples of a split that are of classes that it holds, with their places among these as ids."""
        check_class_ids(self, split)
        names = list(self._held.contents)
        place = torch.tensor([names.index(name) if name in names else -1 for name in self.classes])
        ids = place[split.y.cpu()]
        known = ids >= 0
        if not bool(known.any()):
            raise DataError(f"the split has no samples of the classes that {self!r} knows")
        return Split(self.blueprint.check_inputs(split.x).cpu()[known], ids[known])

    def __add__(self, other: object) -> Part:
        return add_sums([self, other]) if isinstance(other, Part) else NotImplemented

    def __sub__(self, other: object) -> Sums:
        if not isinstance(other, Part):
            return NotImplemented
        if not isinstance(other, Sums):
            raise MisfitError(f"{other!r} is not in {self!r}, which is made of sums alone")
        check_same_basis([self, other])
        for name in other.known:
            self._check_known(name)
        return self._holding(self._held.less(other._held.contents))

    def _check_known(self, name: str) -> None:
        if name not in self._held.contents:
            raise MisfitError(f"{self!r} holds no class {name}, so it cannot be taken out")

    def without(self, *classes: ClassName) -> Self:
        """Return the sums without some classes, given by id or name: what there would be had they never been there.

        Raises
        ------
        MisfitError
            When it does not know such a class, or nothing would be left.
        """
        names = dict.fromkeys(self.classes[class_id(one, self.classes)] for one in classes)
        for name in names:
            self._check_known(name)
        return self._holding(self._held.less({name: self._held.contents[name] for name in names}))

    def minus(self, samples: Split) -> Sums:
        """Return the sums without some samples, which are proven to be in them where it holds samples.

        Parameters
        ----------
        samples : Split
            Samples with class ids, as they were when they were added.

        Raises
        ------
        MisfitError
            When they are not in the sums. Of moments only what is impossible can be told: nobody can tell whether a
            sample is in them, so take out what was added.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> three = dt.sums(data, [3], features=300)[0]
        >>> some = data.train.where(data.train.y == 3)
        >>> three.minus(some.where(torch.arange(5))).counts
        {'3': 112}
        """
        return self - sums_of_split(self.blueprint, samples, keep="samples")

    def with_moments(self) -> Self:
        """Return the same sums with nothing of its samples but their moments, so that its file holds no sample."""
        held = self._held.with_moments()
        return type(self)(self.blueprint, held, tuning=self._given_tuning, threshold=self.threshold)

    def save(self, path: str | Path, *, replace: bool = True) -> Path:
        """Write it to one ``.safetensors`` file; an existing file is replaced only when all is written, if at all."""
        tensors: State = {}
        for number, content in enumerate(self.contents.values()):
            if isinstance(content, Samples):
                tensors[f"{number}/samples"] = content.numbers
            else:
                tensors |= {f"{number}/first": content.first, f"{number}/second": content.second}
        return write_tensors(path, tensors, {KEY: self.manifest.to_text()}, replace=replace)

    # A solution takes far more memory than what it follows from.
    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in super().__getstate__().items() if name != "_solution"}


def sums_of_split(blueprint: SumsBlueprint, split: Split, *, keep: Keep = "smaller") -> Sums:
    """Return the sums of all samples of a split."""
    if split.y.is_floating_point() or split.y.dim() != 1 or len(split.y) != len(split.x):
        raise DataError("sums are of samples with class ids, one per sample; this split has other targets")
    numbers = blueprint.basis.numbers(blueprint.check_inputs(split.x))
    ids = split.y.cpu()
    low, high = (int(extreme) for extreme in ids.aminmax())
    if low < 0 or high >= len(blueprint.classes):
        raise DataError(f"class ids {low} to {high}, and there are {len(blueprint.classes)} classes")
    contents = {
        blueprint.classes[number]: content_of(numbers[ids == number], blueprint.basis, keep)
        for number in ids.unique().tolist()
    }
    return Sums(blueprint, contents)


def add_sums(parts: Iterable[Part]) -> Sums:
    """Return the sums of all samples of several parts; their class lists are joined by name, and stay so.

    Raises
    ------
    MisfitError
        When some are no sums, or are of another basis or other inputs, or were tuned differently; or when two hold the
        very same samples of a class, which would count twice.
    """
    given = list(parts)
    for part in given:
        if not isinstance(part, Sums):
            raise MisfitError(
                f"{part!r} is not made of sums, and cannot be added to such; dovetail.combine([...], data.val) puts "
                "both kinds together"
            )
    found: list[Sums] = [part for part in given if isinstance(part, Sums)]
    check_same_basis(found)
    _check_no_class_twice(found)
    tunings = list(dict.fromkeys(part._given_tuning for part in found if part._given_tuning is not None))
    if len(tunings) > 1:
        raise MisfitError(
            f"these sums were tuned differently (ridge {tunings[0].ridge:g}, temperature {tunings[0].temperature:.3g}; "
            f"ridge {tunings[1].ridge:g}, temperature {tunings[1].temperature:.3g}); give them the same with "
            "with_tuning(ridge=..., temperature=...), and tune their sum"
        )
    first = found[0].blueprint
    classes = joined_classes([part.classes for part in found])
    blueprint = SumsBlueprint(first.basis, first.input_shape, classes, first.preparation)
    return Sums(
        blueprint, Held.joined([part._held for part in found]), tuning=tunings[0] if tunings else None
    )


def _check_no_class_twice(parts: Sequence[Sums]) -> None:
    """Refuse parts of which two hold just the same of a class; what is added to other samples cannot be told."""
    holding: dict[str, list[tuple[Sums, Content]]] = {}
    for part in parts:
        for name, content in part._held.contents.items():
            others = holding.setdefault(name, [])
            # Most classes are in one part alone, and then no hash is needed.
            for other, its in others:
                if content.count == its.count and content.digest == its.digest:
                    raise MisfitError(
                        f"{other!r} and {part!r} hold the same samples of class {name}, which would count twice; leave "
                        f"one out, or what both have: part.without({name!r}). Samples that are there twice for good "
                        "reason belong in the data of one part"
                    )
            others.append((part, content))


def add_if_sums(parts: Iterable[Part] | Part, *, plain: bool) -> Sums | None:
    """Return the sum of parts if they are sums; None if they are specialists.

    Parameters
    ----------
    parts : iterable of Part, or a part
        What to add.
    plain : bool
        Whether they are to be added, rather than put together in a way that is for specialists.
    """
    given = [parts] if isinstance(parts, Part) else parts
    if not isinstance(given, Sequence) or not any(isinstance(part, Sums) for part in given):
        return None
    if not plain:
        raise SpecError("sums are added; other methods, and weights, are for specialists")
    return add_sums(given)


def check_same_basis(parts: list[Sums]) -> None:
    """Refuse sums that cannot be added, naming two that clash."""
    first = parts[0]
    for other in parts[1:]:
        a, b = first.blueprint, other.blueprint
        if a.text == b.text:
            continue
        for what, mine, theirs in (
            ("features", str(a.basis), str(b.basis)),
            ("input shapes", a.input_shape, b.input_shape),
            ("preparations of raw samples", _prepared(a), _prepared(b)),
        ):
            if mine != theirs:
                raise MisfitError(
                    f"{first!r} and {other!r} have different {what}, {mine} and {theirs}, so they cannot be added; "
                    "make them with the same"
                )
        raise MisfitError(f"{first!r} and {other!r} are of different inputs, so they cannot be added")


def _prepared(blueprint: SumsBlueprint) -> str:
    preparation = blueprint.preparation
    return "none" if preparation is None else f"{preparation.digest} ({preparation.describe()})"
