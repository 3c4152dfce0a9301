"""Ways to put specialists together on the bench, and how well any two will merge."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import combinations

import torch
from pydantic import BaseModel
from torch import Tensor

from ...errors import DataError, MisfitError, SpecError
from ...nets import Net
from ...specialists import Composite, Part, Specialist, compatibility
from ...specialists.composite import compose_quietly
from ...specialists.fitting import in_own_slots, needs_statistics
from ...specialists.merge import Method
from ..cache import Cache
from ..held_data import HeldData

TITLES: dict[Method, str] = {
    "sum": "Sum of weights",
    "logits": "Averaged logits",
    "ties": "TIES",
    "calibrated": "Calibrated sum",
}
"""What people read in place of the names that Python and the command line have."""

ABOUT: dict[Method, str] = {
    "sum": "adds the weights",
    "logits": "runs every specialist and averages their logits",
    "ties": "keeps, of weights that clash, the sign with more behind it",
    "calibrated": "adds weights times factors fitted on training samples",
}

FIRST_INPUTS = 128
"""Training samples to fit to."""

FIRST_SAMPLES = 500
"""Test samples to measure on, at most; never all, so that the page asks again."""

_QUICK = 10**9
"""Multiplications of one pass over all samples up to which the fit itself is quick enough."""

_MOST_KEPT = 20_000

TIMED_SAMPLES = 250
"""Test samples that a composite is timed on."""

_TRIES = 3
"""Of these the shortest counts: other work on the machine only makes it longer."""


def key_of(part: Part) -> str:
    """Return what tells a part from others, found without merging its weights, which a page has no time for."""
    return part.stored_digest if isinstance(part, Composite) else part.digest


def offered(net: Net, *, slots: bool) -> list[Method]:
    """Return the methods to choose from.

    In slots no weights meet, so those that mend clashes give the sum again. Fitting factors is quick for perceptrons
    only.

    Examples
    --------
    >>> from dovetail.nets import NetSpec
    >>> offered(NetSpec.parse("mlp:20"), slots=True), offered(NetSpec.parse("lenet"), slots=False)
    (['sum', 'logits'], ['sum', 'logits', 'ties'])
    """
    if slots:
        return ["sum", "logits"]
    return [method for method in ABOUT if method != "calibrated" or str(net).startswith("mlp")]


def put_together(members: list[Specialist], method: Method, data: HeldData | None) -> Composite:
    """Return the composite of some specialists, as `dovetail.compose` does.

    Raises
    ------
    DovetailError
        When they do not fit, or when it would take samples that are not here or more time than a page has.
    """
    net = members[0].blueprint.net
    if method == "calibrated" and not in_own_slots(members):
        if data is None:
            raise DataError(
                "factors are fitted on training samples, and the data is not on this machine; choose sum"
            )
        if net.name != "mlp":
            raise SpecError(f"fitting factors for {net} takes too long for the bench; use the command line")
    if needs_statistics(members, method):
        raise SpecError(
            f"{method} of {net} needs its batch-norm statistics recomputed over all training "
            "samples, which takes too long for the bench; use the command line, or choose logits"
        )
    inputs = None if method != "calibrated" or data is None else data.inputs
    return compose_quietly(members, method, inputs=inputs)


def first_fit(members: list[Specialist], data: HeldData) -> Composite | None:
    """Return a calibrated sum with factors from few samples, or None where the fit to all is as quick."""
    weights = sum(packed.shape.numel() for member in members for packed in member.weights.values())
    if weights * len(data.inputs) <= _QUICK:
        return None
    return put_together(members, "calibrated", replace(data, inputs=data.inputs[:FIRST_INPUTS]))


class Cost(BaseModel):
    """How many weights other than 0 a composite computes with, and the milliseconds that 1,000 samples take it."""

    weights: int
    milliseconds: float | None


def cost_of(composite: Composite, samples: Tensor | None) -> Cost:
    """Return what computing with a composite costs; without samples only its weights are counted."""
    network = composite.module()
    weights = sum(int(value.count_nonzero()) for value in network.parameters())
    if samples is None:
        return Cost(weights=weights, milliseconds=None)
    taken = []
    with torch.inference_mode():
        for _ in range(_TRIES):
            begun = time.perf_counter()
            network(samples)
            taken.append(time.perf_counter() - begun)
    return Cost(weights=weights, milliseconds=1e6 * min(taken) / len(samples))


class Fits(BaseModel):
    """How well pairs will merge, of those that are compared: places in the list, and a score or the reason why not."""

    pairs: list[tuple[int, int, float | None, str]]
    total: int


class Compatibilities:
    """The scores of pairs that were compared."""

    def __init__(self) -> None:
        self._known = Cache[tuple[float | None, str]](_MOST_KEPT)

    def table(self, specialists: list[Specialist], seconds: float) -> Fits:
        """Return what is known of all pairs, after comparing more of them for about as long as is given."""
        until = time.perf_counter() + seconds
        places = list(combinations(range(len(specialists)), 2))
        pairs: list[tuple[int, int, float | None, str]] = []
        fresh = 0
        for a, b in places:
            first, second = sorted([specialists[a], specialists[b]], key=lambda part: part.digest)
            key = (first.digest, second.digest)
            fit = self._known.find(key)
            if fit is None:
                if fresh and time.perf_counter() > until:
                    continue
                fit = self._known.keep(key, _fit(first, second))
                fresh += 1
            pairs.append((a, b, *fit))
        return Fits(pairs=pairs, total=len(places))


def _fit(first: Specialist, second: Specialist) -> tuple[float | None, str]:
    try:
        return compatibility([first, second]).score, ""
    except MisfitError as error:
        return None, str(error)
