"""A combination: parts of any kind that answer together, by the sum of their logits as validation weighs them.

Sums and specialists err in other places. What each counts is chosen on validation samples by their log loss, and each
alone is among the choices: where the other kind does not help, it gets nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ...data.dataset import Dataset
from ...data.split import Split
from ...errors import DataError, DovetailError, MisfitError
from ..blueprint import Interface, State
from ..class_lists import Places, WiderOutputs
from ..class_sets import ClassName, class_id
from ..composite import Composite, add_parts
from ..evaluate import check_class_ids, outputs_of
from ..manifest import Said
from ..part import Part, checked_layout
from ..specialist import Specialist
from ..threshold import Threshold
from .sums import Sums, add_sums

_ROUNDS = 200


class Combined(Part):
    """Parts that answer together; made by `combine`.

    Its class list is that of the first part, and behind it names that only others have: outputs of all are moved to
    their places in it, by name.

    Attributes
    ----------
    parts : tuple of Part
        What it is made of.
    weights : tuple of float
        What the logits of each count, 0 or more.
    losses : tuple of float
        The log loss on the validation samples: of each part alone at its best temperature, and last of all together.
    threshold : Threshold or None
        How sure it must be to answer; see `with_threshold`.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> nets = dt.train_specialists(data, "mlp:100", slots=True, epochs=5, progress=False)
    >>> both = combine([dt.compose(nets), dt.compose(dt.sums(data, features=300))], data.val)
    >>> both.losses[-1] <= min(both.losses)
    True
    """

    blueprint: Interface
    parts: tuple[Part, ...]
    weights: tuple[float, ...]
    losses: tuple[float, ...]

    def __init__(
        self,
        parts: Iterable[Part],
        weights: Sequence[float],
        losses: Sequence[float] = (),
        threshold: Threshold | None = None,
    ) -> None:
        given = tuple(parts)
        blueprint: Any = given[0].blueprint  # a dataclass, whatever the kind of part
        vars(self).update(
            blueprint=replace(blueprint, classes=_joined_list(given)),
            parts=given,
            weights=tuple(float(weight) for weight in weights),
            losses=tuple(losses),
            threshold=threshold,
        )

    def _with(self, threshold: Threshold | None) -> Self:
        return type(self)(self.parts, self.weights, self.losses, threshold)

    def _changed(self, change: Callable[[Any], Any]) -> Self:
        parts = [part._changed(change) for part in self.parts]
        return type(self)(parts, self.weights, self.losses, self.threshold)

    def without_cards(self) -> Self:
        """Return the same parts without cards."""
        threshold = self._threshold_without_cards()
        return type(self)([part.without_cards() for part in self.parts], self.weights, self.losses, threshold)

    def without(self, *classes: ClassName) -> Self:
        """Return the same parts, each without some classes, by id or name; what each counts stays.

        That was chosen when the classes were there: `combine` the parts anew to choose it without them.

        Raises
        ------
        MisfitError
            When a part cannot be without such a class.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> nets = dt.train_specialists(data, "mlp:100", slots=True, epochs=1, progress=False)
        >>> combine([*nets, *dt.sums(data, features=100)], data.val).without(3, "8").known
        ('0', '1', '2', '4', '5', '6', '7', '9')
        """
        left: list[Part] = []
        names = [self.classes[class_id(one, self.classes)] for one in classes]  # ids differ from list to list
        for part in self.parts:
            if not isinstance(part, Composite | Sums | Combined):
                raise MisfitError(f"{part!r} is a single specialist, of which nothing can be left out")
            left.append(part.without(*names))
        return type(self)(left, self.weights)

    @property
    def specialists(self) -> tuple[Specialist, ...]:
        """None that could be taken out: see ``parts``."""
        return ()

    @property
    def rewarded(self) -> tuple[int, ...]:
        """Ids of the classes it recognises: those that all its parts do."""
        known = set(self.parts[0].known)
        return tuple(number for number, name in enumerate(self.classes) if name in known)

    @property
    def digest(self) -> str:
        """Hash of the parts and their weights."""
        what = json.dumps([[part.digest for part in self.parts], self.weights])
        return hashlib.sha256(what.encode()).hexdigest()[:32]

    @property
    def manifest(self) -> Said:
        """Nothing: there are no files of combinations."""
        raise DovetailError(_NO_FILE)

    def save(self, path: str | Path, *, replace: bool = True) -> Path:
        """Refuse: save the parts, and combine them again."""
        raise DovetailError(_NO_FILE)

    def _network(self) -> nn.Module:
        networks = []
        for part in self.parts:
            places, network = Places(part.classes, part.rewarded, self.classes), part.module()
            networks.append(network if places.same else WiderOutputs(network, places))
        return CombinedNetwork(networks, self.weights)

    def state_dict(self, *, layout: Literal["dense", "sparse"] = "dense") -> State:
        """Return the tensors of its network by name."""
        checked_layout(layout)
        return dict(self._network().state_dict())

    def __repr__(self) -> str:
        shown = " + ".join(
            f"{weight:.2f} × {type(part).__name__}"
            for part, weight in zip(self.parts, self.weights, strict=True)
        )
        return f"Combined({self.knows}: {shown})"

    def __add__(self, other: object) -> Part:
        if not isinstance(other, Part):
            return NotImplemented
        raise MisfitError(
            f"{self!r} was weighed on validation samples as it is; combine its parts and {other!r} anew"
        )


_NO_FILE = (
    "a combination has no file of its own; save its parts (combined.parts), and combine them again on the same "
    "validation samples"
)


class CombinedNetwork(nn.Module):
    """Networks whose logits are weighed and added."""

    def __init__(self, networks: Iterable[nn.Module], weights: Sequence[float]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.weights = tuple(weights)
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        """Return the weighed sum of logits."""
        logits = [weight * network(x) for weight, network in zip(self.weights, self.networks, strict=True)]
        return torch.stack(logits).sum(0)


def combine(
    parts: Iterable[Part], data: Split | Dataset, *, device: torch.device | str | None = None
) -> Combined:
    """Put parts of any kind together, sums and composites, by what they say on validation samples.

    What the logits of each count is what gives the smallest log loss there; each part alone at its best temperature is
    among the choices, so on these samples all together are at least as good as the best of them. Class lists are joined
    by name; all must recognise the same classes.

    Parameters
    ----------
    parts : iterable of Part
        Of both kinds, or several combinations and composites of the same classes and inputs. Specialists among them
        are added first, and so are sums: ``combine([*team, *sums], data.val)``.
    data : Split or Dataset
        Validation samples with class ids; only those of classes that they know count. A data set gives its validation
        samples, and names what ids mean: needed where parts have their classes in different orders.
    device : str or torch.device, optional
        Where to compute; the first GPU if there is one.

    Raises
    ------
    MisfitError
        When they recognise different classes, are of different inputs, or nothing says what ids mean.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> nets = dt.train_specialists(data, "mlp:100", slots=True, epochs=5, progress=False)
    >>> combine([dt.compose(nets), dt.compose(dt.sums(data, features=300))], data.val).known[:3]
    ('0', '1', '2')
    """
    given = _by_kind(_checked_kinds(parts))
    _check(given)
    if isinstance(data, Dataset):
        split, names = data.val, data.classes
    else:
        split, names = data, _joined_list(given)
        _check_order(given, names)
    check_class_ids(given[0], split, names)
    known = given[0].known
    target = torch.tensor([known.index(name) if name in known else -1 for name in names])[split.y.cpu()]
    counted = target >= 0
    if not bool(counted.any()):
        raise DataError("the split has no samples of the classes that these parts know")
    x = split.x[counted.to(split.x.device)]
    logits = [
        outputs_of([part], x, device=device)[0]
        .cpu()[:, [part.classes.index(name) for name in known]]
        .double()
        for part in given
    ]
    weights, losses = weighed(torch.stack(logits), target[counted])
    return Combined(given, weights, losses)


def weighed(logits: Tensor, target: Tensor) -> tuple[list[float], list[float]]:
    """Return what parts count, and the log loss of each alone at its best temperature and of all together.

    Parameters
    ----------
    logits : Tensor
        ``[parts, samples, classes]``.
    target : Tensor
        Classes of the samples.
    """
    from scipy.optimize import minimize  # slow to import, and nothing else here needs it

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        chosen = torch.tensor(weights, requires_grad=True)
        value = cross_entropy(torch.einsum("p,pnc->nc", chosen, logits), target)
        (slope,) = torch.autograd.grad(value, chosen)
        return float(value.detach()), slope.numpy()

    count = len(logits)
    bounds = [(0.0, None)] * count  # the loss is convex, so a local minimum is the minimum
    best: list[tuple[float, list[float]]] = []
    for alone in range(count):
        only = [(0.0, None) if part == alone else (0.0, 0.0) for part in range(count)]
        found = minimize(loss, np.eye(count)[alone], jac=True, bounds=only, options={"maxiter": _ROUNDS})
        best.append((float(found.fun), found.x.tolist()))
    start = np.array(min(best)[1])
    found = minimize(loss, start, jac=True, bounds=bounds, options={"maxiter": _ROUNDS})
    together = min((float(found.fun), found.x.tolist()), min(best))
    return together[1], [value for value, _ in best] + [together[0]]


def _checked_kinds(parts: object) -> list[Part]:
    """Return the parts of a list, or refuse what is none."""
    if isinstance(parts, Part) or not isinstance(parts, Iterable):
        raise MisfitError(
            f"combine takes a list of parts of both kinds, not {_said(parts)}; write combine([*team, *sums], data.val)"
        )
    found: list[Part] = []
    for part in parts:
        if not isinstance(part, Part):
            raise MisfitError(
                f"combine takes specialists, sums and composites, not {_said(part)}; dovetail.open reads a part's "
                "file, and dovetail.as_part makes a network a part"
            )
        found.append(part)
    return found


def _said(one: object) -> str:
    return repr(one) if isinstance(one, Part) else f"a value of type {type(one).__name__}"


def _by_kind(parts: list[Part]) -> list[Part]:
    """Return parts with single specialists added up, and sums too."""
    kinds: tuple[list[Part], list[Part]] = ([], [])
    for part in parts:
        if isinstance(part, Specialist | Sums):
            kinds[isinstance(part, Sums)].append(part)
    specialists, sums = kinds
    others = [part for part in parts if not isinstance(part, Specialist | Sums)]
    added: list[Part] = [add_parts(specialists)] if specialists else []
    return others + added + ([add_sums(sums)] if sums else [])


def _joined_list(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return the class list of the first part, and behind it what only others have."""
    return tuple(dict.fromkeys(name for part in parts for name in part.classes))


def _check(parts: Sequence[Part]) -> None:
    if len(parts) < 2:
        raise MisfitError("combine takes parts of both kinds, specialists and sums, or several composites")
    first = parts[0]
    for other in parts[1:]:
        for what, a, b in (
            ("known classes", set(first.known), set(other.known)),
            ("input shapes", first.blueprint.input_shape, other.blueprint.input_shape),
            ("preparations of raw samples", _digest(first), _digest(other)),
        ):
            if a != b:
                raise MisfitError(
                    f"{first!r} and {other!r} have different {what}, so they cannot answer together"
                )


def _check_order(parts: Sequence[Part], names: tuple[str, ...]) -> None:
    """Refuse lists that give an id different names, where nothing but the id is said of a sample."""
    for part in parts:
        if part.classes != names[: len(part.classes)]:
            raise MisfitError(
                f"{parts[0]!r} and {part!r} have their classes in different orders, so ids of a split could mean those "
                "of either; give the data set, which names its classes: combine(parts, data)"
            )


def _digest(part: Part) -> str | None:
    return None if part.preparation is None else part.preparation.digest
